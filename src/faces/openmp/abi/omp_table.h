// The routines that differ in name only between C (omp_x), Fortran (omp_x_) and Fortran with 8-byte
// integers (omp_x_8_). X is called with the routine's name in namespace `routines`.
#pragma once

/// int omp_x(void), int omp_x_(void)
#define WEFT_OMP_GETTERS(X)      \
  X(get_num_threads)             \
  X(get_thread_num)              \
  X(get_max_threads)             \
  X(in_parallel)                 \
  X(get_dynamic)                 \
  X(get_nested)                  \
  X(get_cancellation)            \
  X(get_thread_limit)            \
  X(get_supported_active_levels) \
  X(get_max_active_levels)       \
  X(get_level)                   \
  X(get_active_level)            \
  X(get_proc_bind)               \
  X(get_num_places)              \
  X(get_place_num)               \
  X(get_partition_num_places)    \
  X(get_num_teams)               \
  X(get_team_num)                \
  X(get_max_teams)               \
  X(get_teams_thread_limit)      \
  X(get_max_task_priority)       \
  X(in_final)                    \
  X(in_explicit_task)            \
  X(get_num_procs)               \
  X(get_num_devices)             \
  X(get_device_num)              \
  X(get_initial_device)          \
  X(is_initial_device)           \
  X(get_default_device)

/// double omp_x(void), double omp_x_(void)
#define WEFT_OMP_CLOCKS(X) \
  X(get_wtime)             \
  X(get_wtick)

/// void omp_x(int), void omp_x_(int32*), void omp_x_8_(int64*)
#define WEFT_OMP_SETTERS(X) \
  X(set_num_threads)        \
  X(set_dynamic)            \
  X(set_nested)             \
  X(set_max_active_levels)  \
  X(set_num_teams)          \
  X(set_teams_thread_limit) \
  X(set_default_device)

/// int omp_x(int), int omp_x_(int32*), int omp_x_8_(int64*)
#define WEFT_OMP_QUERIES(X)  \
  X(get_ancestor_thread_num) \
  X(get_team_size)           \
  X(get_place_num_procs)
