// How many CPUs the process has, looked at again while it runs: its affinity mask and the quota of its cgroup may
// change. The number of active workers follows (core/active.h), unless the user has said how many there are to be.
//
// Who looks. The watchdog, twice a second while units run: no construct and no unit pays for it, and what sleeps sleeps
// on. The mask is that of the watchdog's own KLT: that of the thread that came to need it, as all KLTs of weft's have,
// and nobody binds it. A mask belongs to a thread, and one that the program binds later, or a member, says nothing of
// the others; what changes the masks of all of them (`taskset -a -p`, a cpuset of the cgroup's) changes this one. Where
// there are places, units are bound to the CPUs that there were at the start, and only the quota is followed.
//
// Rejected: to read the mask of the main thread, as `taskset -p` without -a changes it: a program that binds its
// threads one to each CPU, the main thread among them, would come down to one worker.
#pragma once

#include <cstdint>

#include "os/cpu_set.h"

namespace weft::core {

/// Those that the process may use now: of the calling thread's mask, cut by the quota.
unsigned count_cpus();
/// By the thread that starts the runtime.
void remember_cpus();

/// By the watchdog, now and then.
void follow_cpus(std::uint64_t now);
/// In a forked child, whose thread may have a mask of its own.
void look_at_cpus_anew();

/// Where the process may run now: what the watchdog's KLT may run on. None: that has not been started. From anywhere.
os::CpuSet cpus_of_process();

/// The cgroup's quota in CPUs, half a second old at most; 0: none. From any thread.
int recent_cpu_quota();

}  // namespace weft::core
