#include "core/environment.h"

#include <csignal>
#include <cstdlib>
#include <iterator>

#include "base/environment.h"
#include "base/panic.h"
#include "core/preempt.h"
#include "core/slices.h"

namespace weft::core {
namespace {

// All that any part of weft reads, the command too; docs/environment.md describes each (tests/python/test_documents.py
// compares).
constexpr const char* known_variables[] = {
    "WEFT_NUM_WORKERS",    "WEFT_STACKSIZE",
    "WEFT_REPORT",         "WEFT_IDENTITY",
    "WEFT_EXPERIMENT",     "WEFT_CTL",
    "WEFT_WATCHDOG_SLICE", "WEFT_WATCHDOG_SHORTEST",
    "WEFT_PREEMPT",        "WEFT_PREEMPT_INTERVAL",
    "WEFT_PREEMPT_TIMER",  "WEFT_PREEMPT_SIGNAL",
    "WEFT_MAX_KLTS",       "WEFT_KLT_SLEEP",
    "WEFT_KLT_POOLS",      "WEFT_IO",
    "WEFT_BENCH_MKL",      "WEFT_BUILD_DIR",
};

}  // namespace

void read_environment(Config& config) {
  base::name_unknown_variables("WEFT_", known_variables, std::size(known_variables));
  static_assert(most_workers == 1024);
  base::read_variable("WEFT_NUM_WORKERS", "an integer from 1 to 1024", "(the usable CPUs)",
                      [&config](base::ValueReader& value) {
                        long number = 0;
                        if (!base::read_number(value, number, 1, most_workers)) return false;
                        config.workers = static_cast<unsigned>(number);
                        return true;
                      });
  base::read_variable("WEFT_STACKSIZE", a_stack_size, "stack size, unless another variable sets it",
                      [&config](base::ValueReader& value) {
                        return base::read_size(value, config.stack_size, least_stack_size, most_stack_size);
                      });
}

namespace {

// One of the words; `set` is told which.
template <int count>
void read_word(const char* name, const char* expected, const char* instead, const char* const (&words)[count],
               void (*set)(int index)) {
  base::read_variable(name, expected, instead, [&words, set](base::ValueReader& value) {
    int index = 0;
    if (!base::read_one_of(value, words, index)) return false;
    set(index);
    return true;
  });
}

template <class Set>
void read_microseconds(const char* name, const char* expected, const char* instead, std::uint64_t least_ns,
                       std::uint64_t most_ns, Set set) {
  base::read_variable(name, expected, instead, [least_ns, most_ns, &set](base::ValueReader& value) {
    constexpr long us = 1000;
    long number = 0;
    if (!base::read_number(value, number, static_cast<long>(least_ns) / us, static_cast<long>(most_ns) / us))
      return false;
    set(static_cast<std::uint64_t>(number * us));
    return true;
  });
}

void read_slice(const char* name, const char* instead, std::uint64_t& slice_ns) {
  read_microseconds(name, "microseconds, from 50 to 10000000", instead, shortest_slice_ns, longest_slice_ns,
                    [&slice_ns](std::uint64_t ns) { slice_ns = ns; });
}

void read_watchdog_environment() {
  base::read_variable("WEFT_PREEMPT_SIGNAL", "the number of a real-time signal", "(a free one)",
                      [](base::ValueReader& value) {
                        long number = 0;
                        if (!base::read_number(value, number, SIGRTMIN, SIGRTMAX)) return false;
                        preemption_settings.signal = static_cast<int>(number);
                        return true;
                      });
  SliceSettings slices;
  read_slice("WEFT_WATCHDOG_SLICE", "(10000)", slices.longest_ns);
  read_slice("WEFT_WATCHDOG_SHORTEST", "(100)", slices.shortest_ns);
  if (slices.shortest_ns > slices.longest_ns) {
    if (const char* shortest = std::getenv("WEFT_WATCHDOG_SHORTEST"); shortest != nullptr)
      base::warn("WEFT_WATCHDOG_SHORTEST=%s: longer than WEFT_WATCHDOG_SLICE; using the same", shortest);
    slices.shortest_ns = slices.longest_ns;
  }
  set_slices(slices);
}

}  // namespace

void read_preemption_environment() {
  base::read_variable("WEFT_PREEMPT", "none, signal-yield or klt-switch", "(none)", [](base::ValueReader& value) {
    static const char* const words[] = {"signal", "klt", "none"};
    const int index = base::take_one_of(value, words, 3);
    const bool whole = index == 2 || (index == 0 && value.take('-') && value.take_word("yield")) ||
                       (index == 1 && value.take('-') && value.take_word("switch"));
    if (!whole || !value.at_end()) return false;
    preemption_settings.kind = static_cast<Preemption>(index + 1);
    return true;
  });
  read_word("WEFT_PREEMPT_TIMER", "creation, aligned, one-to-all or chain", "(aligned)",
            {"creation", "aligned", "one-to-all", "chain"},
            [](int index) { preemption_settings.mode = static_cast<TickMode>(index); });
  read_microseconds("WEFT_PREEMPT_INTERVAL", "microseconds, from 100 to 10000000", "(1000)", shortest_interval_ns,
                    longest_interval_ns, [](std::uint64_t ns) { preemption_settings.interval_ns = ns; });
  base::read_variable("WEFT_MAX_KLTS", "a number from 1 to 32768", "(4096)", [](base::ValueReader& value) {
    constexpr long most = 32768;
    long number = 0;
    if (!base::read_number(value, number, 1, most)) return false;
    preemption_settings.most_klts = static_cast<unsigned>(number);
    return true;
  });
  read_word("WEFT_KLT_SLEEP", "futex or sigsuspend", "(futex)", {"futex", "sigsuspend"},
            [](int index) { preemption_settings.sleep = static_cast<KltSleep>(index); });
  read_word("WEFT_KLT_POOLS", "local or global", "(local)", {"local", "global"},
            [](int index) { preemption_settings.pools = static_cast<KltPools>(index); });
  read_watchdog_environment();
}

}  // namespace weft::core
