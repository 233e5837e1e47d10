"""`weft info`: this weft, and what of this machine matters to it."""

from __future__ import annotations

import os
import platform
import resource

from weft import __version__, machine
from weft.console import make_console, make_table
from weft.paths import DROPIN


def ranges(numbers: list[int]) -> str:
    """[0, 1, 2, 5] as 0-2,5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def kilobytes(limit: int | None) -> str:
    return "unlimited" if limit is None else f"{limit // 1024} KiB"


def count(limit: int | None) -> str:
    return "unlimited" if limit is None else str(limit)


def yes_no(answer: bool | None, instead: str) -> str:
    return "not needed here" if answer is None else "yes" if answer else f"no: {instead}"


def facts() -> list[tuple[str, str]]:
    cpus = machine.affinity()
    quota = machine.cpu_quota()
    return [
        ("weft", __version__),
        ("drop-in", str(DROPIN)),
        ("drop-in built", "yes" if DROPIN.exists() else "no: run `make build`"),
        ("machine", f"{platform.machine()}, Linux {platform.release()}, {' '.join(platform.libc_ver())}"),
        ("CPUs", f"{os.cpu_count()}, of which this process may use {len(cpus)} ({ranges(cpus)})"),
        ("cgroup CPU quota", "none" if quota is None else f"{quota:g} CPUs"),
        ("workers by default", str(machine.default_workers())),
        ("membarrier (private expedited)", yes_no(machine.has_membarrier(), "a fence each time work is published")),
        ("FSGSBASE", yes_no(machine.has_fsgsbase(), "a system call at each change of thread-local storage")),
        ("MADV_GUARD_INSTALL", yes_no(machine.has_guard_pages(), "a mapping for the guard of each stack")),
        ("stack limit", kilobytes(machine.soft_limit(resource.RLIMIT_STACK))),
        ("cgroup limit of threads", count(machine.pids_limit())),
        ("user's limit of threads", count(machine.soft_limit(resource.RLIMIT_NPROC))),
    ]


def show_info() -> None:
    table = make_table("weft on this machine", "what", "value")
    for name, value in facts():
        table.add_row(name, value)
    make_console().print(table)
