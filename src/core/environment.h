// The variables of the environment that are weft's own and belong to no face.
#pragma once

#include <cstddef>

#include "core/runtime.h"

namespace weft::core {

inline constexpr std::size_t least_stack_size = std::size_t{16} << 10U;
inline constexpr std::size_t most_stack_size = std::size_t{1} << 40U;
inline constexpr const char* a_stack_size = "a size from 16K to 1T, such as 4096K or 8M";

/// WEFT_NUM_WORKERS and WEFT_STACKSIZE, into those members that they are for. A value that makes no sense is named in
/// one line, and changes nothing; so is a variable of weft's that there is not.
void read_environment(Config& config);

/// The same of preemption and the watchdog: WEFT_PREEMPT..., WEFT_KLT_..., WEFT_MAX_KLTS, WEFT_WATCHDOG_..., into
/// preemption_settings (preempt.h) and the slices (slices.h).
void read_preemption_environment();

}  // namespace weft::core
