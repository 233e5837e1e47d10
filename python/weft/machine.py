"""What of this machine matters to weft: CPUs, limits, and what its kernel offers."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import platform
import resource
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")

MEMBARRIER_SYSCALL = {"x86_64": 324, "aarch64": 283, "ppc64le": 365}
MEMBARRIER_QUERY, MEMBARRIER_PRIVATE_EXPEDITED = 0, 1 << 3
AT_HWCAP2, HWCAP2_FSGSBASE = 26, 1 << 1
MADV_GUARD_INSTALL = 102

libc = ctypes.CDLL(None, use_errno=True)


def cgroup_folders(controller: str = "") -> list[Path]:
    """The cgroup of this process and those above it, of version 2 or of a controller of version 1; empty where there
    is none. In a container some may be missing."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    groups = (line.split(":", 2) for line in lines)
    own = next((group[2].lstrip("/") for group in groups if controller in group[1].split(",")), None)
    if own is None:
        return []
    unified = CGROUPS if (CGROUPS / "cgroup.controllers").exists() else CGROUPS / "unified"
    root = CGROUPS / controller if controller else unified
    folder = root / own
    return [parent for parent in (folder, *folder.parents) if parent.is_relative_to(root)]


def words_of(file: Path) -> list[str]:
    """Empty where it cannot be read."""
    try:
        return file.read_text().split()
    except OSError:
        return []


def cgroup_values(name: str, controller: str = "") -> list[list[str]]:
    return [words for folder in cgroup_folders(controller) if (words := words_of(folder / name))]


def cpu_quota() -> float | None:
    """CPUs' worth of time that the tightest cgroup allows; None for no limit."""
    limits = [(int(value[0]), int(value[1])) for value in cgroup_values("cpu.max") if value[0] != "max"]
    for folder in cgroup_folders("cpu"):
        quota, period = (words_of(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        if quota and period:
            limits.append((int(quota[0]), int(period[0])))
    return min((quota / period for quota, period in limits if quota > 0 and period > 0), default=None)


def may_make_cgroup() -> bool:
    """Whether this process may make a cgroup with a CPU quota, below its own."""
    own = [*cgroup_folders("cpu")[:1], *cgroup_folders()[:1]]
    return any(os.access(folder, os.W_OK) for folder in own)


def default_workers() -> int:
    """As the runtime reckons: the CPUs of the affinity mask, cut by the quota, rounded up."""
    quota = cpu_quota()
    cpus = len(affinity())
    return cpus if quota is None else min(cpus, math.ceil(quota))


def pids_limit() -> int | None:
    values = cgroup_values("pids.max") + cgroup_values("pids.max", "pids")
    limits = [int(value[0]) for value in values if value[0] != "max"]
    return min(limits, default=None)


def soft_limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def has_membarrier() -> bool:
    number = MEMBARRIER_SYSCALL.get(platform.machine())
    if number is None:
        return False
    offered = libc.syscall(number, MEMBARRIER_QUERY, 0, 0)
    return offered >= 0 and bool(offered & MEMBARRIER_PRIVATE_EXPEDITED)


def has_fsgsbase() -> bool | None:
    """Whether a program may write the thread pointer itself; None where that is not a question of the kernel."""
    if platform.machine() != "x86_64":
        return None
    libc.getauxval.restype = ctypes.c_ulong
    return bool(libc.getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE)


def has_guard_pages() -> bool:
    """Tries madvise(MADV_GUARD_INSTALL) on a page of its own."""
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        try:
            page.madvise(MADV_GUARD_INSTALL)
        except OSError:
            return False
        return True
