// How much of the machine's CPUs the process's cgroup lets it use.
#pragma once

namespace weft::os {

/// CPUs' worth of time that the quota of this process's group and of those above it allows, rounded up; 0 if there is
/// none. cgroup v2: `cpu.max`; v1: `cpu.cfs_quota_us` and `cpu.cfs_period_us`; where both are mounted, the less. Reads
/// a dozen small files (some 15 us), allocates nothing, and leaves errno alone.
int cpus_in_cgroup_quota();

/// So many CPUs, or as many as the quota allows.
constexpr int cut_by_quota(int cpus, int quota) { return quota > 0 && quota < cpus ? quota : cpus; }

}  // namespace weft::os
