#include "core/environment.h"

#include "base/environment.h"

namespace weft::core {

void read_environment(Config& config) {
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
