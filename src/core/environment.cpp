#include "core/environment.h"

#include <iterator>

#include "base/environment.h"

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

}  // namespace weft::core
