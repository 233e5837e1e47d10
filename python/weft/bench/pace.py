"""How fast the machine passes a cache line between its CPUs at the moment, and which measurements to compare by that.

A virtual machine may be moved, every few seconds, between cores that share a cache and cores that do not. Threads that
meet cost two to five times as much on the latter, so that medians of a few rounds compare where each runtime happened
to run. Each process is therefore measured between two looks at the pace; where a run has seen two of them, the tables
are of the one at which most was measured.
"""

import math
import subprocess
from collections import Counter
from collections.abc import Sequence

from . import places

DIFFERENT = 1.6  # the slowest over the quickest look: less is noise


def line_ns() -> float:
    """There and back, in ns; 0 if that cannot be told."""
    try:
        told = subprocess.run(
            [places.programs_dir() / "line"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
        return float(told)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0.0


class Paces:
    """Two paces that were seen in a run, or one."""

    def __init__(self, looks: Sequence[Sequence[float]]) -> None:
        """`looks`: the pace before and after each measurement, where it could be told."""
        seen = [ns for both in looks for ns in both if ns > 0]
        self.quickest, self.slowest = (min(seen), max(seen)) if seen else (0.0, 0.0)
        self.differ = bool(seen) and self.slowest >= DIFFERENT * self.quickest
        self._boundary = math.sqrt(self.quickest * self.slowest)
        counts = Counter(self._is_slow(both) for both in looks)
        self.slow_counts = counts[True] >= counts[False]
        self.counted = counts[self.slow_counts]
        self.all = len(looks)

    def _is_slow(self, both: Sequence[float]) -> bool | None:
        """None: the pace has changed meanwhile, or is not known."""
        slow = {ns >= self._boundary for ns in both if ns > 0}
        return slow.pop() if len(slow) == 1 else None

    def counts(self, both: Sequence[float]) -> bool:
        return not self.differ or self._is_slow(both) == self.slow_counts

    def text(self) -> str:
        """What to say of it; empty: nothing."""
        if self.all and not self.slowest:
            return "How fast this machine passes cache lines between its CPUs could not be told: everything counts."
        if not self.differ:
            return ""
        which = "slow" if self.slow_counts else "quick"
        return (
            f"This machine passed a cache line between its CPUs in {self.quickest:.0f} to {self.slowest:.0f} ns, "
            f"there and back, by turns. The tables are of the {self.counted} of {self.all} measurements while it was "
            f"{which}; a cell with ~ has none of these: it is of what there is, "
            "and no aim is judged by it."
        )
