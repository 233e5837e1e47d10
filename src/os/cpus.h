// How many CPUs this process may use.
#pragma once

#include "os/cpu_set.h"

namespace weft::os {

/// CPUs in the affinity mask of the calling thread (at least 1).
int cpus_in_affinity_mask();

/// Those of the calling thread's affinity mask.
CpuSet own_cpus();

/// Lets the KLT that calls run on these only. False: it may use none of them.
bool bind_this_klt(const CpuSet& cpus);

/// Notes which CPUs the process has; before anything is bound.
void remember_cpus();

/// Those that were remembered.
CpuSet cpus_at_start();

/// Lets a KLT of the process run on this CPU only; -1: on those that were remembered. False: there is no such CPU, or
/// none such KLT.
bool bind_klt(int klt, int cpu);

/// Where a KLT of the process may run; no CPU: there is no such KLT. From anywhere.
CpuSet cpus_of_klt(int klt);

/// Lets a KLT of the process run on these only. From anywhere, as what follows. False: it may use none of them.
bool bind_klt(int klt, const CpuSet& cpus);

/// The CPU that the caller runs on.
int this_cpu();

/// Lets a KLT of the process, which sleeps, wake up on this CPU; `before`: where it could run. False: it may not, and
/// nothing has changed.
bool move_sleeping_klt(int klt, int cpu, CpuSet& before);

}  // namespace weft::os
