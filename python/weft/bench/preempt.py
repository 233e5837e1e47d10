"""`weft bench preempt`: what preemption costs, after Figs. 4 and 6 and Table 1 of Shiina et al. (PPoPP 2021).

Programs that need it, after Figs. 7 to 9: preempt_programs.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from . import machine, places, preempt_programs
from .files import save_figure, write_record
from .progress import tell_reservations

NAME = "preempt"
TITLE = (
    "preemption: its cost by kind, timer and interval, and programs that need it (Cholesky, multigrid, Lennard-Jones)"
)
TIMERS = ("creation", "aligned", "one-to-all", "chain")
INTERVALS_US = (100, 200, 500, 1000, 2000, 5000, 10000)
STEPS = 40_000_000  # of each unit, some 40 ms
COST_GOALS = {"signal-yield": 1.3, "klt-switch": 3.0}
TIMEOUT_S = 120


@dataclass(frozen=True)
class Variant:
    """A line of Fig. 6."""

    name: str
    kind: str
    settings: dict[str, str] = field(default_factory=dict)


VARIANTS = (
    Variant("timer interruption only", "timer"),
    Variant("signal-yield", "signal-yield"),
    Variant("KLT-switching (naive)", "klt-switch", {"WEFT_KLT_SLEEP": "sigsuspend", "WEFT_KLT_POOLS": "global"}),
    Variant("KLT-switching (futex)", "klt-switch", {"WEFT_KLT_POOLS": "global"}),
    Variant("KLT-switching (futex, local pool)", "klt-switch"),
)


def _run(*arguments: str, **settings: str) -> dict[str, Any]:
    return preempt_programs.ask(NAME, arguments, settings, TIMEOUT_S)


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


@dataclass
class Measured:
    """What there is so far."""

    costs: dict[str, float] = field(default_factory=dict)
    interruptions: dict[str, dict[int, float]] = field(default_factory=dict)
    overheads: dict[str, dict[int, float]] = field(default_factory=dict)
    figures: preempt_programs.Figures = field(default_factory=preempt_programs.Figures)

    def record(self) -> dict[str, Any]:
        parts = {"cost_ns": self.costs, "interruption_ns": self.interruptions, "overhead": self.overheads}
        return {**parts, **self.figures.record()}


def _costs(rounds: int) -> dict[str, float]:
    kinds = ("pthread", *COST_GOALS)
    measured: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            measured[kind].append(_run("cost", kind, WEFT_PREEMPT_INTERVAL="10000")["median_ns"])
    return {kind: median(values) for kind, values in measured.items()}


def _cost_table(costs: dict[str, float]) -> Table:
    table = _table("Table 1: one preemption, two threads on one CPU", "thread", "us", "of a 1:1 thread's", "goal")
    for kind, cost in costs.items():
        goal = f"<= {COST_GOALS[kind]:g}" if kind in COST_GOALS else ""
        table.add_row(kind, f"{cost / 1000:.2f}", f"{cost / costs['pthread']:.2f}", goal)
    return table


def _interruptions(workers: tuple[int, ...]) -> dict[str, dict[int, float]]:
    def one(timer: str, count: int) -> float:
        return _run("interruption", str(count), WEFT_PREEMPT_TIMER=timer, WEFT_PREEMPT_INTERVAL="1000")["median_ns"]

    return {timer: {count: one(timer, count) for count in workers} for timer in TIMERS}


def _interruption_table(measured: dict[str, dict[int, float]], workers: tuple[int, ...]) -> Table:
    title = f"Fig. 4: a tick of 1 ms takes, in us (median; more than {machine.cpus()} workers share the CPUs)"
    table = _table(title, "timer", *(f"{count} workers" for count in workers))
    for timer, values in measured.items():
        table.add_row(timer, *(f"{values[count] / 1000:.2f}" for count in workers))
    return table


def _overheads(rounds: int, intervals: tuple[int, ...]) -> Iterator[tuple[str, int, float]]:
    workers = str(machine.cpus())
    for interval in intervals:
        ratios: dict[str, list[float]] = {variant.name: [] for variant in VARIANTS}
        for _ in range(rounds):
            for variant in VARIANTS:
                settings = {"WEFT_PREEMPT_INTERVAL": str(interval)} | variant.settings
                bare = _run("overhead", "none", workers, str(STEPS))["ns"]
                ratios[variant.name].append(
                    _run("overhead", variant.kind, workers, str(STEPS), **settings)["ns"] / bare - 1
                )
        for name, values in ratios.items():
            yield name, interval, median(values)


def _overhead_table(measured: dict[str, dict[int, float]], intervals: tuple[int, ...]) -> Table:
    table = _table("Fig. 6: relative overhead of compute-bound units, ten per worker", "interval, us", *measured)
    for interval in intervals:
        table.add_row(str(interval), *(f"{values[interval]:.2%}" for values in measured.values()))
    return table


def _plot(path: Path, interruptions: dict[str, dict[int, float]], overheads: dict[str, dict[int, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    for timer, values in interruptions.items():
        left.plot(list(values), [value / 1000 for value in values.values()], marker="o", label=timer)
    left.set(title="Time of an interruption, 1 ms interval", xlabel="workers", ylabel="us", xscale="log")
    for name, values in overheads.items():
        right.plot(list(values), [100 * value for value in values.values()], marker="o", label=name)
    right.set(title="Overhead of preemption", xlabel="interval, us", ylabel="%", xscale="log")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.tight_layout()
    save_figure(figure, path)
    pyplot.close(figure)


def _measure(console: Console, rounds: int, quick: bool, measured: Measured) -> None:
    """Measures and prints, one table after the other."""
    workers = (1, 2, 8) if quick else (1, 2, 4, 8, 16, 32, 64)
    intervals = (1000, 10000) if quick else INTERVALS_US
    measured.costs = _costs(rounds)
    console.print(_cost_table(measured.costs))
    measured.interruptions = _interruptions(workers)
    console.print(_interruption_table(measured.interruptions, workers))
    measured.overheads = {variant.name: {} for variant in VARIANTS}
    for name, interval, overhead in _overheads(rounds, intervals):
        measured.overheads[name][interval] = overhead
    console.print(_overhead_table(measured.overheads, intervals))
    if absent := preempt_programs.missing():
        console.print(f"not built, and left out: {', '.join(absent)}", markup=False)
    else:
        preempt_programs.measure(console, rounds, quick, measured.figures)


def run(console: Console, rounds: int, quick: bool, json_path: Path, png_path: Path) -> int:
    """Measures, prints and writes what was measured, whatever failed; returns the exit status."""
    if not (places.programs_dir() / NAME).exists():
        console.print("nothing to measure: build/bench/bin/preempt is not built (make build)")
        return 1
    measured = Measured()
    clock = machine.CpuClock()
    complete, status = True, 0
    try:
        _measure(console, rounds, quick, measured)
    except KeyboardInterrupt:
        complete, status = False, 130
    except (preempt_programs.ProgramFailed, subprocess.SubprocessError, OSError) as error:
        console.print(f"a measurement failed: {error}", style="red", markup=False)
        status = 1
    console.print("[dim]Medians. Overhead: against units that are not preempted, run just before.[/dim]")
    about = machine.describe([])
    about["cpu_time_of_others"] = clock.share_of_others()
    tell_reservations(console, about, complete)
    write_record(json_path, about, rounds, measured.record())
    console.print(f"JSON: {json_path}", soft_wrap=True, markup=False, highlight=False)
    for path in _plots(png_path, measured):
        console.print(f"plot: {path}", soft_wrap=True, markup=False, highlight=False)
    return status or (1 if measured.figures.failures else 0)


def _plots(path: Path, measured: Measured) -> Iterator[Path]:
    """Of what there is."""
    if any(measured.overheads.values()):
        _plot(path, measured.interruptions, measured.overheads)
        yield path
    figures = measured.figures
    if figures.cholesky_ms or figures.packed_overhead:
        programs_png = path.with_name(f"{path.stem}-programs{path.suffix}")
        preempt_programs.plot(programs_png, figures)
        yield programs_png
