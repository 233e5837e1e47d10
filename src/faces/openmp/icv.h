// Internal control variables (OpenMP 5.2, section 2), the part that each data environment has.
#pragma once

#include <cstdint>

#include "faces/openmp/dialect.h"

namespace weft::openmp {

/// As omp_sched_t numbers them. unsaid: of a run-sched-var that nobody has set.
enum class Schedule : std::uint8_t { unsaid = 0, static_ = 1, dynamic = 2, guided = 3, auto_ = 4 };

/// As omp_proc_bind_t numbers them. unset: of OMP_PROC_BIND alone, for a level whose members have no place although
/// there are places; the program sees it as false_.
enum class ProcBind : std::uint8_t { false_ = 0, true_ = 1, primary = 2, close = 3, spread = 4, unset = 5 };

inline constexpr int supported_active_levels = 255;  // as libgomp
inline constexpr int no_thread_limit = INT32_MAX;

/// Inherited by value: a task starts with what its creator had.
struct Icv {
  std::uintptr_t default_allocator = 1;  // def-allocator-var: omp_default_mem_alloc
  int nthreads = 1;                      // nthreads-var: for the next region
  int chunk = 0;                         // run-sched-var's chunk; 0: none given
  int thread_limit = no_thread_limit;
  int default_device = 0;
  Schedule schedule = Schedule::unsaid;  // run-sched-var
  bool monotonic = false;                // run-sched-var's modifier, if given
  bool static_is_monotonic = false;      // OMP_SCHEDULE says static without a modifier
  bool dynamic = false;                  // dyn-var
  ProcBind bind = ProcBind::false_;      // bind-var
  std::uint8_t max_active_levels = 1;    // max-active-levels-var
  std::uint16_t unused = 0;              // no padding at the end: so that a copy moves words that do not overlap
};

/// run-sched-var for a program that was built for one of the runtimes. Their defaults are dynamic,1 and static; and
/// libgomp gives a static schedule of the environment the modifier that it has by definition.
struct RunSchedule {
  Schedule kind;
  int chunk;
  bool monotonic;
};
inline RunSchedule run_schedule(const Icv& icv, Dialect dialect) {
  const bool gnu = dialect == Dialect::gnu;
  if (icv.schedule == Schedule::unsaid)
    return gnu ? RunSchedule{Schedule::dynamic, 1, false} : RunSchedule{Schedule::static_, 0, false};
  return {icv.schedule, icv.chunk, icv.monotonic || (gnu && icv.static_is_monotonic)};
}

}  // namespace weft::openmp
