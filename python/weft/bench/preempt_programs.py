"""The programs of `weft bench preempt`: Figs. 7 to 9 of Shiina et al. (PPoPP 2021), written anew and small."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from . import machine, places, runtimes, shell
from .files import save_figure
from .results import Outcome
from .runner import run_cases

NAMES = ("cholesky", "multigrid", "lennard_jones")
TIMEOUT_S = 60
HANGS_AFTER_S = 20  # a Cholesky that does not hang takes less than one
SLOW_AFTER_MS = 1000.0  # what takes longer is measured once: noise is small beside it, and rounds would take hours
THREADS = 8  # that are packed onto fewer workers
LEVEL = 11
SIMULATED_LEVEL = 12  # one more: a slice has to be short beside a sweep
SIMULATED_GOAL = 0.05

# By what the threads of the multigrid solver are made to give way.
SLICES = {
    "not preempted": ("weft-none", "1000"),
    "KLT-switching, 10 ms": ("weft-klt-switch", "10000"),
    "KLT-switching, 1 ms": ("weft-klt-switch", "1000"),
    "KLT-switching, 0.2 ms": ("weft-klt-switch", "200"),
}
SIMULATED_SLICES = {
    "not preempted": ("weft-none", "1000"),
    "signal-yield, 0.2 ms": ("weft-signal-yield", "200"),
    "KLT-switching, 0.2 ms": ("weft-klt-switch", "200"),
}
ANALYSES = {
    "pthreads": "pthread",
    "pthreads, niced": "pthread-nice",
    "weft": "weft",
    "weft, by priority": "weft-priority",
}

Rows = dict[str, dict[str, float]]  # of a figure: a row's name, a column's name, a value; nan: it failed


class ProgramFailed(Exception):
    """One line: what went wrong with a program."""


@dataclass
class Figures:
    """What was measured, with the notes to be printed under it."""

    cholesky_ms: Rows = field(default_factory=dict)
    packed_overhead: Rows = field(default_factory=dict)
    simulated_overhead: Rows = field(default_factory=dict)
    analysis_overhead: Rows = field(default_factory=dict)  # until all is analysed
    simulation_overhead: Rows = field(default_factory=dict)  # until the last step is done
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # of weft, and of programs that ended a figure early

    def record(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """For the JSON file; what failed is null."""
        parts = {
            "fig7_cholesky_ms": self.cholesky_ms,
            "fig8_packed_overhead": self.packed_overhead,
            "fig8_simulated_overhead": self.simulated_overhead,
            "fig9_analysis_overhead": self.analysis_overhead,
            "fig9_simulation_overhead": self.simulation_overhead,
        }
        return {
            name: {
                row: {column: None if isnan(value) else value for column, value in values.items()}
                for row, values in rows.items()
            }
            for name, rows in parts.items()
        }


def missing() -> list[str]:
    return [name for name in NAMES if not (places.programs_dir() / name).exists()]


def ask(program: str, arguments: Sequence[str], settings: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
    """What a program answers; ProgramFailed says what went wrong."""
    what = " ".join((program, *arguments))
    command = [str(places.programs_dir() / program), *arguments]
    env = shell.environment() | dict(settings)
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"{what}: not done within {timeout_s:g} s") from None
    if done.returncode != 0:
        words = done.stderr.strip().splitlines()
        raise ProgramFailed(f"{what}: status {done.returncode}" + (f": {words[-1]}" if words else ""))
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise ProgramFailed(f"{what}: no answer: {done.stdout[:200]!r}") from None


def _run(program: str, *arguments: str, **settings: str) -> dict[str, Any]:
    """The answer of a program whose results were right."""
    answer = ask(program, arguments, settings, TIMEOUT_S)
    if not answer["ok"]:
        raise ProgramFailed(f"{' '.join((program, *arguments))}: the result is wrong: {answer}")
    return answer


# ---------------------------------------------------------------- Fig. 7


def _cholesky_cases(quick: bool) -> Iterator[tuple[str, str, str]]:
    """The names of matrix and teams, and the case. The smaller matrices come first."""
    for size in (512,) if quick else (512, 1024, 1536):
        for teams, outer, inner in (("flat", machine.cpus(), 1), ("4 x 4", 4, 4), ("8 x 8", 8, 8)):
            if not (quick and teams == "8 x 8"):
                matrix = f"{size // 128} x {size // 128} tiles"
                yield matrix, teams, f"n={size},tile=128,outer={outer},inner={inner}"


def _measure_cholesky(rounds: int, quick: bool, figures: Figures) -> None:
    found, _ = runtimes.available()
    command = [str(places.programs_dir() / "cholesky"), "--time", "1", "--warm", "0", "--min", "1"]
    failed: set[tuple[str, str, str]] = set()  # larger matrices are not tried: each may be a hang
    for matrix, teams, config in _cholesky_cases(quick):
        row = figures.cholesky_ms[f"{matrix}, {teams}"] = {}
        for runtime in found:
            best = nan
            for setting in runtime.settings:
                key = (teams, runtime.name, setting.name)
                times: list[float] = []
                while key not in failed and len(times) < rounds and max(times, default=0) < SLOW_AFTER_MS:
                    environment = runtime.environment(setting)
                    [measured] = run_cases("cholesky", command, [config], environment, HANGS_AFTER_S)
                    if measured.outcome is Outcome.OK:
                        times.append(median(measured.samples) / 1000)
                        continue
                    failed.add(key)
                    what = f"cholesky, {matrix}, {teams}, {runtime.name} ({setting.name})"
                    told = figures.failures if runtime.name in runtimes.WEFT else figures.notes
                    told.append(f"{what}: {measured.detail}; larger ones were not tried")
                if key not in failed:
                    best = min(time for time in (best, median(times)) if not isnan(time))
            row[runtime.name] = best


# ---------------------------------------------------------------- Fig. 8


def _multigrid_ns(kind: str, threads: int, active: int, **settings: str) -> float:
    return float(_run("multigrid", kind, str(threads), str(active), "1", str(LEVEL), **settings)["ns"])


def _stock_settings() -> dict[str, dict[str, str]]:
    """As in the paper: with more threads than CPUs, libomp's do not spin (KMP_BLOCKTIME=0)."""
    names = {"libgomp": {}, "libomp": {"KMP_BLOCKTIME": "0"}}
    found, _ = runtimes.available()
    return {
        runtime.name: runtime.environment(runtime.settings[0], {}) | names[runtime.name]
        for runtime in found
        if runtime.name in names
    }


def _measure_packing(rounds: int, quick: bool, figures: Figures) -> None:
    active = min(2, machine.cpus())
    stock = _stock_settings()
    for threads in (3,) if quick else (3, 5, 7, THREADS):
        times: dict[str, list[float]] = {}
        for _ in range(rounds):
            times.setdefault("baseline", []).append(_multigrid_ns("weft-none", active, active))
            for name, (kind, interval) in SLICES.items():
                measured = _multigrid_ns(kind, threads, active, WEFT_PREEMPT_INTERVAL=interval)
                times.setdefault(name, []).append(measured)
            for name, settings in stock.items():
                times.setdefault(f"{name}, taskset", []).append(_multigrid_ns("openmp", threads, active, **settings))
        baseline = median(times.pop("baseline"))
        row = f"{threads} threads on {active} CPUs"
        figures.packed_overhead[row] = {name: median(values) / baseline - 1 for name, values in times.items()}


def _measure_simulated(rounds: int, quick: bool, figures: Figures) -> None:
    def overhead(kind: str, interval: str, active: int) -> float:
        arguments = (kind, str(THREADS), str(active), "1", str(SIMULATED_LEVEL))
        answer = _run("multigrid", *arguments, WEFT_PREEMPT_INTERVAL=interval, MULTIGRID_COUNT="1")
        return answer["simulated_ns"] * active / answer["work_ns"] - 1

    for active in (3,) if quick else range(1, THREADS):
        figures.simulated_overhead[f"{THREADS} threads on {active}"] = {
            name: median(overhead(kind, interval, active) for _ in range(rounds))
            for name, (kind, interval) in SIMULATED_SLICES.items()
        }
    worst = max(
        value for row in figures.simulated_overhead.values() for name, value in row.items() if name != "not preempted"
    )
    reached = "reached" if worst <= SIMULATED_GOAL else "missed"
    figures.notes.append(
        f"Packed {THREADS} threads, simulated: {worst:.1%} over a perfect balance at most with slices of 0.2 ms "
        f"(goal: {SIMULATED_GOAL:.0%}, {reached})"
    )


# ---------------------------------------------------------------- Fig. 9


def _measure_analysis(rounds: int, quick: bool, figures: Figures) -> None:
    workers = str(machine.cpus())
    steps = "20" if quick else "100"
    exchange_us = "2000"
    for atoms in (1728,) if quick else (1728, 4096, 8000):
        for every in (1, 2):
            times: dict[str, list[float]] = {}
            simulated: dict[str, list[float]] = {}
            states: set[str] = set()
            for _ in range(rounds):
                for name, kind in {"simulation only": "none", **ANALYSES}.items():
                    answer = _run("lennard_jones", kind, str(atoms), steps, str(every), workers, exchange_us)
                    times.setdefault(name, []).append(float(answer["ns"]))
                    simulated.setdefault(name, []).append(float(answer["simulation_ns"]))
                    states.add(str(answer["state"]))
            if len(states) != 1:
                raise ProgramFailed(f"lennard_jones, {atoms} atoms: the simulations have come to different states")
            row = f"{atoms} atoms, every {'step' if every == 1 else '2nd step'}"
            for overhead, measured in (
                (figures.analysis_overhead, times),
                (figures.simulation_overhead, simulated),
            ):
                alone = median(measured.pop("simulation only"))
                overhead[row] = {name: median(values) / alone - 1 for name, values in measured.items()}


# ---------------------------------------------------------------- what is shown


def _table(title: str, first: str, rows: Rows, form: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column(first)
    for column in next(iter(rows.values())):
        table.add_column(column, justify="right")
    for name, values in rows.items():
        table.add_row(name, *("failed" if isnan(value) else form.format(value) for value in values.values()))
    return table


def measure(console: Console, rounds: int, quick: bool, figures: Figures) -> None:
    """Measures and prints, one figure after the other."""
    cpus = machine.cpus()
    for measured, rows, form, first, title in (
        (
            _measure_cholesky,
            figures.cholesky_ms,
            "{:.1f}",
            "matrix, teams",
            "Fig. 7: Cholesky, ms; tasks x members of a BLAS call with a spinning barrier "
            "(better setting of each runtime)",
        ),
        (
            _measure_packing,
            figures.packed_overhead,
            "{:.1%}",
            "packed",
            "Fig. 8: multigrid, threads packed onto fewer CPUs: overhead against as many threads as CPUs",
        ),
        (
            _measure_simulated,
            figures.simulated_overhead,
            "{:.1%}",
            "packed",
            f"Fig. 8, simulated: CPU time of the busiest worker, over that of a perfect balance ({cpus} CPUs)",
        ),
        (
            _measure_analysis,
            figures.analysis_overhead,
            "{:.1%}",
            "analysed",
            "Fig. 9: Lennard-Jones with analysis: overhead against the simulation alone",
        ),
    ):
        try:
            measured(rounds, quick, figures)
        except (ProgramFailed, subprocess.SubprocessError, OSError) as error:
            figures.failures.append(f"{title.partition(':')[0]} is not complete: {error}")
        if rows:
            console.print(_table(title, first, rows, form))
    if figures.simulation_overhead:
        title = "Fig. 9, the same until the simulation's last step is done"
        console.print(_table(title, "analysed", figures.simulation_overhead, "{:.1%}"))
    for note in figures.notes:
        console.print(note, style="yellow", markup=False)
    for failure in figures.failures:
        console.print(failure, style="red", markup=False)


def _bars(axes: Any, rows: Rows, title: str, unit: str, scale: float) -> None:
    columns = list(dict.fromkeys(column for values in rows.values() for column in values))
    if not columns:
        axes.set_axis_off()
        return
    width = 0.8 / len(columns)
    for index, column in enumerate(columns):
        at = [row + (index - (len(columns) - 1) / 2) * width for row in range(len(rows))]
        axes.bar(at, [values.get(column, nan) * scale for values in rows.values()], width * 0.9, label=column)
    axes.set_title(title)
    axes.set_ylabel(unit)
    axes.set_xticks(range(len(rows)), list(rows), rotation=30, ha="right", fontsize=7)
    axes.grid(alpha=0.3, axis="y")
    axes.legend(fontsize=7)


def plot(path: Path, figures: Figures) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(13, 9))
    _bars(panels[0][0], figures.cholesky_ms, "Cholesky, spinning BLAS", "ms", 1)
    panels[0][0].set_yscale("log")
    _bars(panels[0][1], figures.packed_overhead, "Multigrid, packed", "overhead, %", 100)
    _bars(panels[1][0], figures.simulated_overhead, "Multigrid, packed, simulated", "overhead, %", 100)
    _bars(panels[1][1], figures.analysis_overhead, "Lennard-Jones with analysis", "overhead, %", 100)
    figure.tight_layout()
    save_figure(figure, path)
    pyplot.close(figure)
