// The OpenMP API routines, as C++ functions: what abi/omp_api.cpp and abi/omp_fortran.cpp give their
// names to. Values outside their range are treated as libgomp treats them.
#pragma once

#include <cstdint>
#include <ctime>

#include "core/cpus.h"
#include "core/scheduler.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/device_memory.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/icv.h"
#include "faces/openmp/league.h"
#include "faces/openmp/member.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/pause.h"
#include "faces/openmp/places.h"
#include "faces/openmp/region.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/target.h"
#include "faces/openmp/team.h"
#include "os/cpu_quota.h"
#include "os/cpus.h"

namespace weft::openmp::routines {

inline int at_least(int least, int value) { return value < least ? least : value; }

// Thread team routines (OpenMP 5.2, section 18.2).

inline int get_num_threads() { return static_cast<int>(team_size(this_member())); }
inline int get_thread_num() { return static_cast<int>(this_member().number); }
inline int get_max_threads() { return first_of_nthreads(icv_of(this_member()).nthreads); }
inline void set_num_threads(int threads) {
  int& nthreads = icv_of(this_member()).nthreads;
  nthreads = with_first(nthreads, at_least(1, threads));
}
inline int in_parallel() { return active_level_of(this_member()) > 0; }
inline int get_dynamic() { return icv_of(this_member()).dynamic; }
inline void set_dynamic(int dynamic) { icv_of(this_member()).dynamic = dynamic != 0; }
inline int get_cancellation() { return settings.cancellation; }
inline int get_thread_limit() { return icv_of(this_member()).thread_limit; }
inline int get_supported_active_levels() { return supported_active_levels; }
inline int get_max_active_levels() { return icv_of(this_member()).max_active_levels; }
inline void set_max_active_levels(int levels) {
  if (levels < 0) return;
  if (levels > supported_active_levels) levels = supported_active_levels;
  icv_of(this_member()).max_active_levels = static_cast<std::uint8_t>(levels);
}
inline int get_nested() {
  Member& member = this_member();
  const unsigned levels = icv_of(member).max_active_levels;
  return levels > 1 && levels > active_level_of(member);
}
inline void set_nested(int nested) {
  std::uint8_t& levels = icv_of(this_member()).max_active_levels;
  if (nested != 0)
    levels = supported_active_levels;
  else if (levels > 1)
    levels = 1;
}
inline int get_level() { return static_cast<int>(level_of(this_member())); }
inline int get_active_level() { return static_cast<int>(active_level_of(this_member())); }
inline int get_ancestor_thread_num(int level) { return ancestor_number(this_member(), level); }
inline int get_team_size(int level) { return ancestor_team_size(this_member(), level); }

inline constexpr unsigned monotonic_bit = 0x80000000U;  // omp_sched_monotonic

inline void set_schedule(unsigned kind, int chunk) {
  const unsigned plain = kind & ~monotonic_bit;
  if (plain < 1 || plain > 4) return;
  Icv& icv = icv_of(this_member());
  icv.schedule = static_cast<Schedule>(plain);
  icv.monotonic = (kind & monotonic_bit) != 0;
  icv.static_is_monotonic = false;
  if (icv.schedule != Schedule::auto_) icv.chunk = at_least(icv.schedule == Schedule::static_ ? 0 : 1, chunk);
}
/// For C and Fortran, whose integers differ in size.
template <class Integer>
void get_schedule(Dialect dialect, unsigned* kind, Integer* chunk) {
  const RunSchedule schedule = run_schedule(icv_of(this_member()), dialect);
  *kind = static_cast<unsigned>(schedule.kind) | (schedule.monotonic ? monotonic_bit : 0);
  *chunk = schedule.chunk;
}

// Affinity (section 18.3). Where nothing is bound there are no places.

inline int get_proc_bind() {
  const ProcBind bind = icv_of(this_member()).bind;
  return static_cast<int>(bind == ProcBind::unset ? ProcBind::false_ : bind);
}
inline int get_num_places() { return static_cast<int>(places.count); }
inline int get_place_num() { return places.in_use() ? static_cast<int>(place_of(this_member()).place) : -1; }
inline bool is_place(int place) { return place >= 0 && place < get_num_places(); }
inline int get_place_num_procs(int place) { return is_place(place) ? places.sets[place].count() : 0; }
inline int get_partition_num_places() { return places.in_use() ? static_cast<int>(place_of(this_member()).count) : 0; }
/// For C and Fortran, whose integers differ in size.
template <class Integer>
void get_place_proc_ids(int place, Integer* ids) {
  if (!is_place(place)) return;
  const os::CpuSet& cpus = places.sets[place];
  for (int cpu = cpus.next(0); cpu < os::CpuSet::most; cpu = cpus.next(cpu + 1)) *ids++ = cpu;
}
template <class Integer>
void get_partition_place_nums(Integer* numbers) {
  if (!places.in_use()) return;
  const MemberPlace at = place_of(this_member());
  for (unsigned place = at.first; place != at.first + at.count; ++place) *numbers++ = static_cast<Integer>(place);
}

// Teams regions (section 18.4).

/// Threads and teams are numbered along one dimension (OpenMP 6.1): along any other there is one, whose number is 0.
inline constexpr int supported_dims = 1;
inline int along(int dimension, int first, int others) { return dimension == 0 ? first : others; }

inline int get_num_teams() { return league_size(); }
inline int get_team_num() { return league_number(); }
inline int get_max_teams() { return global_icv.max_teams.load(std::memory_order_relaxed); }
inline void set_num_teams(int teams) {
  if (teams >= 0) global_icv.max_teams = teams;
}
inline int get_teams_thread_limit() { return global_icv.teams_thread_limit.load(std::memory_order_relaxed); }
inline void set_teams_thread_limit(int threads) {
  if (threads >= 0) global_icv.teams_thread_limit = threads;
}

inline int get_num_threads_dim(int dimension) { return along(dimension, get_num_threads(), 1); }
inline int get_thread_num_dim(int dimension) { return along(dimension, get_thread_num(), 0); }
inline int get_thread_limit_dim(int dimension) { return along(dimension, get_thread_limit(), 1); }
inline int get_num_teams_dim(int dimension) { return along(dimension, get_num_teams(), 1); }
inline int get_team_num_dim(int dimension) { return along(dimension, get_team_num(), 0); }

// Tasks (section 18.5).

inline int get_max_task_priority() { return settings.max_task_priority; }
inline int in_final() { return openmp::in_final(this_member()); }
inline int in_explicit_task() { return this_member().task->explicit_; }

// Resources and devices (sections 18.6 and 18.7).

inline int pause_resource_all(int kind) { return pause_host(kind) ? 0 : -1; }
inline int pause_resource(int kind, int device) { return is_host_device(device) ? pause_resource_all(kind) : -1; }
/// CPUs of the mask as it is now, cut by the quota as it was half a second ago at most: with more threads than that,
/// some would wait.
inline int get_num_procs() {
  const int cpus = places.in_use() ? places.usable_cpus : os::cpus_in_affinity_mask();
  return os::cut_by_quota(cpus, core::recent_cpu_quota());
}
inline int get_num_devices() { return device_count; }
inline int get_device_num() { return host_device; }
inline int get_initial_device() { return host_device; }
inline int is_initial_device() { return 1; }
inline int get_default_device() { return icv_of(this_member()).default_device; }
/// The specification's negative numbers too: omp_initial_device, omp_invalid_device.
inline void set_default_device(int device) { icv_of(this_member()).default_device = device; }

// Memory (section 18.13). Each implicit task has a def-allocator-var, whichever explicit task asks; what that one hands
// on to its own is a copy.

inline AllocatorHandle get_default_allocator() { return this_member().implicit.icv.default_allocator; }
inline void set_default_allocator(AllocatorHandle handle) {
  if (handle == null_allocator) handle = default_allocator;
  Member& member = this_member();
  member.implicit.icv.default_allocator = icv_of(member).default_allocator = handle;
}

// Timing (section 18.10).

inline double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}
inline double get_wtime() {
  core::give_way_if_wanted();  // a member that polls and looks for how long
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}
inline double get_wtick() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}

}  // namespace weft::openmp::routines
