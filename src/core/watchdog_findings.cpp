#include "core/watchdog_findings.h"

#include <atomic>

#include "os/code_name.h"

namespace weft::core {
namespace {

std::atomic<std::uint64_t> stood_in{0};
std::atomic<std::uint64_t> moved{0};

// Where it has interrupted the program last, in turn.
constexpr unsigned most_remembered = 64;
std::atomic<std::uint64_t> left{0};
std::atomic<std::uint64_t> seen_to_spin{0};
std::atomic<std::uintptr_t> left_at[most_remembered];

}  // namespace

void note_left_at(std::uintptr_t instruction, bool spins) {
  if (spins) seen_to_spin.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t index = left.fetch_add(1, std::memory_order_relaxed);
  left_at[index % most_remembered].store(instruction, std::memory_order_relaxed);
}

void note_moved() { moved.fetch_add(1, std::memory_order_relaxed); }

void note_stood_in() { stood_in.fetch_add(1, std::memory_order_relaxed); }

WatchdogFindings watchdog_findings() {
  WatchdogFindings findings;
  findings.stood_in = stood_in.load(std::memory_order_relaxed);
  findings.moved = moved.load(std::memory_order_relaxed);
  findings.spinning = seen_to_spin.load(std::memory_order_relaxed);
  findings.interrupted = left.load(std::memory_order_relaxed);
  findings.of = findings.interrupted < most_remembered ? static_cast<unsigned>(findings.interrupted) : most_remembered;
  std::uintptr_t begins[most_remembered];
  os::CodeName names[most_remembered];
  for (unsigned index = 0; index < findings.of; ++index) {
    names[index] = os::name_of_code(left_at[index].load(std::memory_order_relaxed));
    begins[index] = names[index].begin;
    unsigned same = 0;
    for (unsigned before = 0; before <= index; ++before) same += begins[before] == begins[index] ? 1 : 0;
    if (same <= findings.times) continue;
    findings.times = same;
    findings.function = names[index].function;
    findings.library = names[index].library;
  }
  return findings;
}

}  // namespace weft::core
