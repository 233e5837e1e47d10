"""What was measured: one `Measurement` per case, runtime, setting and round, and one `Cell` for all rounds of them."""

import statistics
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from .pace import Paces


class Outcome(StrEnum):
    OK = "ok"
    WRONG = "wrong"  # a check of the program failed, or another runtime was loaded
    CRASH = "crash"
    HANG = "hang"


@dataclass
class Measurement:
    benchmark: str
    config: str
    outcome: Outcome
    samples: list[float] = field(default_factory=list)  # in `unit`
    ideal: float | None = None  # us
    checks: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    loaded: str = ""  # the file of the runtime that was really used
    detail: str = ""  # why the outcome is not ok
    runtime: str = ""
    setting: str = ""
    round: int = 0
    unit: str = "us"
    line_ns: list[float] = field(default_factory=list)  # before and after its process (pace.py)

    @property
    def median(self) -> float | None:
        return statistics.median(self.samples) if self.outcome is Outcome.OK and self.samples else None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """All rounds of one case on one runtime. The median is that of the rounds' medians."""

    measurements: tuple[Measurement, ...]
    at_other_pace: bool = False  # than the cells beside it: it is not to be compared with them (pace.py)

    @property
    def medians(self) -> list[float]:
        return [m.median for m in self.measurements if m.median is not None]

    @property
    def median(self) -> float | None:
        return statistics.median(self.medians) if self.medians else None

    @property
    def is_unclear(self) -> bool:
        """A cost that is a difference came out as nothing or less: the machine's noise was larger."""
        return self.median is not None and self.median <= 0

    @property
    def spread(self) -> float | None:
        """Half the interquartile range of the rounds' medians over the amount of their median."""
        if len(self.medians) < 2 or not self.median:
            return None
        low, _, high = statistics.quantiles(self.medians, n=4, method="inclusive")
        return (high - low) / 2 / abs(self.median)

    @property
    def failures(self) -> list[Measurement]:
        return [m for m in self.measurements if m.outcome is not Outcome.OK]

    @property
    def ideal(self) -> float | None:
        return next((m.ideal for m in self.measurements if m.ideal), None)

    @property
    def setting(self) -> str:
        return self.measurements[-1].setting if self.measurements else ""

    @property
    def checks(self) -> dict[str, Any]:
        return next((m.checks for m in reversed(self.measurements) if m.checks), {})


class Results:
    """Every measurement of a run, and which setting of a runtime counts for which case."""

    def __init__(self) -> None:
        self.measurements: list[Measurement] = []
        self.chosen: dict[tuple[str, str, str], str] = {}  # (benchmark, config, runtime) -> setting
        self.paces: Paces | None = None  # None: whatever the pace was, it counts

    def add(self, measurements: list[Measurement]) -> None:
        self.measurements += measurements

    def of(self, benchmark: str, config: str, runtime: str, setting: str | None = None) -> Cell:
        """Without a setting: the one that was chosen, if the runtime has several."""
        wanted = setting or self.chosen.get((benchmark, config, runtime))
        found = [
            m
            for m in self.measurements
            if (m.benchmark, m.config, m.runtime) == (benchmark, config, runtime)
            and (wanted is None or m.setting == wanted)
        ]
        return self._at_the_pace_that_counts(Cell(tuple(found)))

    def _at_the_pace_that_counts(self, cell: Cell) -> Cell:
        """Failures count at any; all, where there is nothing at that pace."""
        paces = self.paces
        if paces is None or cell.median is None:
            return cell
        counted = Cell(tuple(m for m in cell.measurements if m.median is None or paces.counts(m.line_ns)))
        return counted if counted.medians else Cell(cell.measurements, at_other_pace=True)

    def settle_paces(self) -> Paces:
        """Everything has been measured: from now on cells are of what was measured at one pace."""
        self.paces = Paces([m.line_ns for m in self.measurements if m.median is not None])
        return self.paces

    def choose_setting(self, benchmark: str, config: str, runtime: str, settings: list[str]) -> str:
        """Keeps the setting with the lowest median so far; an unclear one loses, and one that failed does more so."""

        def rank(setting: str) -> tuple[int, float]:
            cell = self.of(benchmark, config, runtime, setting)
            if cell.median is None:
                return 2, 0.0
            return (1, 0.0) if cell.is_unclear else (0, cell.median)

        best = min(settings, key=rank)
        self.chosen[benchmark, config, runtime] = best
        return best
