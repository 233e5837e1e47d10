// Which code is not to be left, for a signal's handler to look up while another thread writes down what has changed.
//
// Two tables in turn. `version_` counts how often the code has changed, and its lowest bit says which of the two is in
// force. Who replaces what is known fills the other one, and raises `version_` then. Who looks something up reads
// `version_`, a table, and `version_` again: if that is another now, the table may have been filled anew meanwhile, and
// what was read may be of two versions. So a reader leaves nothing behind, takes nothing, and waits for nobody: in a
// forked child everything is as it was, also where the parent's other threads were in here.
//
// Why the second look is enough: the table of version V is written to only after version V + 1 is in force, by whoever
// makes version V + 2. Each entry of it is stored by release; a reader that finds one of V + 2 (its load is an acquire)
// finds `version_` at V + 1 at least, and looks again. The release of `version_` itself is for those who begin later:
// they find the whole table.
//
// Rejected: a count of readers, which each tick on each CPU would write to, and which a handler that sleeps (its CPU is
// taken away) or a forked child could hold up for ever. (Bug: two tables without any of this. A handler that was held
// up in the midst of one found it empty, as it was filled for the next but one, and left code inside malloc().)
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::os {

struct CodeRange {
  std::uintptr_t low, high;
  bool of_weft;

  bool operator==(const CodeRange&) const = default;
};

class CodeTable {
 public:
  static constexpr unsigned most_ranges = 32;
  enum class Found : std::uint8_t { not_known, nothing, runtime, weft };

  /// One caller at a time. Does nothing where it is as it was. Of more ranges than most_ranges the rest is not kept.
  void replace(const CodeRange* ranges, unsigned count);

  /// Also from a handler. not_known: nothing has been written down yet; or it changes so fast that it cannot be read.
  Found find(std::uintptr_t instruction) const;

 private:
  struct Entry {
    std::atomic<std::uintptr_t> low{0}, high{0};
    std::atomic<bool> of_weft{false};
  };
  struct Table {
    std::atomic<unsigned> used{0};
    Entry entries[most_ranges];
  };

  static Found find_in(const Table& table, std::uintptr_t instruction);
  static bool holds(const Table& table, const CodeRange* ranges, unsigned count);

  std::atomic<std::uint64_t> version_{0};
  Table tables_[2];
};

inline CodeTable::Found CodeTable::find_in(const Table& table, std::uintptr_t instruction) {
  const unsigned used = table.used.load(std::memory_order_acquire);
  for (unsigned index = 0; index < used; ++index) {
    const Entry& entry = table.entries[index];
    if (instruction < entry.low.load(std::memory_order_acquire)) continue;
    if (instruction >= entry.high.load(std::memory_order_acquire)) continue;
    return entry.of_weft.load(std::memory_order_acquire) ? Found::weft : Found::runtime;
  }
  return Found::nothing;
}

inline CodeTable::Found CodeTable::find(std::uintptr_t instruction) const {
  constexpr int most_tries = 8;  // each one in vain: a library has come or gone meanwhile
  std::uint64_t version = version_.load(std::memory_order_acquire);
  for (int tries = 0; tries < most_tries && version != 0; ++tries) {
    const Found found = find_in(tables_[version % 2], instruction);
    const std::uint64_t now = version_.load(std::memory_order_acquire);
    if (now == version) return found;
    version = now;
  }
  return Found::not_known;
}

inline bool CodeTable::holds(const Table& table, const CodeRange* ranges, unsigned count) {
  if (table.used.load(std::memory_order_relaxed) != count) return false;
  for (unsigned index = 0; index < count; ++index) {
    const Entry& entry = table.entries[index];
    const CodeRange range{entry.low.load(std::memory_order_relaxed), entry.high.load(std::memory_order_relaxed),
                          entry.of_weft.load(std::memory_order_relaxed)};
    if (range != ranges[index]) return false;
  }
  return true;
}

inline void CodeTable::replace(const CodeRange* ranges, unsigned count) {
  if (count > most_ranges) count = most_ranges;
  const std::uint64_t version = version_.load(std::memory_order_relaxed);
  if (version != 0 && holds(tables_[version % 2], ranges, count)) return;
  Table& next = tables_[(version + 1) % 2];
  for (unsigned index = 0; index < count; ++index) {
    next.entries[index].low.store(ranges[index].low, std::memory_order_release);
    next.entries[index].high.store(ranges[index].high, std::memory_order_release);
    next.entries[index].of_weft.store(ranges[index].of_weft, std::memory_order_release);
  }
  next.used.store(count, std::memory_order_release);
  version_.store(version + 1, std::memory_order_release);
}

}  // namespace weft::os
