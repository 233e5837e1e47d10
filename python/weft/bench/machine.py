"""What a number depends on: the machine, its load, and the versions of what was measured."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import places
from .runtimes import Runtime


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _first_match(pattern: str, path: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def _package_version(file: Path) -> str:
    owner = _output("dpkg-query", "-S", str(file)).split(":")[0]
    return f"{owner} {_output('dpkg-query', '-W', '-f=${Version}', owner)}" if owner else ""


def _stock_libgomp() -> Path | None:
    found = re.search(r"libgomp\.so\.1 .*=> (\S+)", _output("ldconfig", "-p") or _output("/sbin/ldconfig", "-p"))
    return Path(found.group(1)).resolve() if found else None


def runtime_version(runtime: Runtime) -> str:
    if runtime.name == "weft":
        commit = _output("git", "-C", str(places.ROOT), "describe", "--always", "--dirty")
        return f"commit {commit}" if commit else "not in a git checkout"
    file = runtime.library.resolve() if runtime.library else _stock_libgomp()
    return (_package_version(file) if file else "") or "unknown"


def cpus() -> int:
    return len(os.sched_getaffinity(0))


class CpuClock:
    """Counts the CPU time that is not ours from its creation on."""

    def __init__(self) -> None:
        self._start = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        """CPU seconds: of the whole machine, of those that were busy, and of this process and its children."""
        fields = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]
        user, nice, system, idle, iowait, irq, softirq, steal = (int(field) for field in fields)
        busy = user + nice + system + irq + softirq + steal
        ticks = os.sysconf("SC_CLK_TCK")
        own = os.times()
        ours = own.user + own.system + own.children_user + own.children_system
        return (busy + idle + iowait) / ticks, busy / ticks, ours

    def share_of_others(self) -> float:
        total, busy, ours = (now - start for now, start in zip(self._now(), self._start, strict=True))
        return max(0.0, busy - ours) / total if total > 0 else 0.0


def noise(share_of_others: float) -> str:
    """What to say of a run beside other programs; empty: nothing."""
    if share_of_others <= 0.03:
        return ""
    return f"Other programs took {share_of_others:.0%} of this machine's CPU time meanwhile: the numbers are noisy."


def caption(about: dict[str, Any], rounds: int) -> str:
    """Of a plot."""
    return f"{about['cpu']}, {about['cpus']} CPUs, {about['system']}, medians of {rounds} interleaved rounds"


def describe(runtimes: list[Runtime]) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _first_match(r"^model name\s*:\s*(.*)$", "/proc/cpuinfo") or platform.machine(),
        "cpus": cpus(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": _first_match(r'^PRETTY_NAME="?([^"\n]*)', "/etc/os-release"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "runtimes": {
            runtime.name: {
                "version": runtime_version(runtime),
                "library": str(runtime.library.resolve() if runtime.library else _stock_libgomp()),
                "settings": {s.name: dict(s.env) for s in runtime.settings},
            }
            for runtime in runtimes
        },
    }
