#include "core/spinners.h"

#include <atomic>

#include "arch/interrupted.h"
#include "base/hash.h"

namespace weft::core {
namespace {

constexpr unsigned most_changed = 1;  // of the general registers, where one spins for certain

struct Entry {
  std::atomic<const Unit*> unit{nullptr};
  std::atomic<std::uint64_t> general[arch::Footprint::general_registers] = {};
  std::atomic<std::uint64_t> vectors{0};
};
constexpr unsigned bits = 8;
Entry table[1U << bits];

template <class Value>
Value replace(std::atomic<Value>& place, Value value) {
  const Value before = place.load(std::memory_order_relaxed);
  place.store(value, std::memory_order_relaxed);
  return before;
}

}  // namespace

Doing what_it_does(const Unit& unit, const os::Interruption& interruption) {
  const arch::Footprint now = arch::footprint(*static_cast<const ucontext_t*>(interruption.context));
  Entry& entry = table[base::place_of_address(&unit, bits)];
  const bool is_known = replace(entry.unit, &unit) == &unit;
  unsigned changed = 0;
  for (unsigned index = 0; index < arch::Footprint::general_registers; ++index)
    changed += replace(entry.general[index], now.general[index]) != now.general[index] ? 1 : 0;
  const bool same_vectors = replace(entry.vectors, now.vectors) == now.vectors;
  if (!is_known) return Doing::not_known;
  if (!same_vectors) return Doing::computes;
  return changed <= most_changed ? Doing::spins : Doing::may_spin;
}

}  // namespace weft::core
