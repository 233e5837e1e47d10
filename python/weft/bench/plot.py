"""The picture of a run: one panel per benchmark, one line per runtime."""

from collections.abc import Sequence
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any

from .catalog import Benchmark, Case
from .files import save_figure
from .report import number
from .results import Cell, Results
from .runtimes import Runtime

COLOURS = {
    "libgomp": "#b4433a",
    "libomp": "#c78a1d",
    "libomp clang": "#e3bd6c",
    "weft clang": "#7fb3c4",
    "weft": "#1f6f8b",
}
SPARE = ("#6a4c93", "#4d7c3a", "#555555")
COLUMNS = 3
MOST_LETTERS_BELOW = 90  # that fit side by side below a panel


def _colour(runtime: Runtime, index: int) -> str:
    return COLOURS.get(runtime.name, SPARE[index % len(SPARE)])


def _value(cell: Cell, over_ideal: bool) -> float:
    if cell.median is None or (over_ideal and not cell.ideal):
        return float("nan")
    return cell.median / cell.ideal if over_ideal and cell.ideal else cell.median


def _spans(cells: dict[str, list[Cell]]) -> bool:
    """Whether the values lie too far apart for a linear axis."""
    medians = [cell.median for row in cells.values() for cell in row if cell.median and cell.median > 0]
    return bool(medians) and max(medians) > 20 * min(medians)


def _groups(cases: Sequence[Case]) -> list[tuple[str, list[int]]]:
    """Which cases stand side by side under one name."""
    return [(name, [i for i, _ in run]) for name, run in groupby(enumerate(cases), lambda item: item[1].group)]


def _draw_bars(axes: Any, values: list[float], index: int, runtimes: Sequence[Runtime], colour: str) -> None:
    width = 0.8 / len(runtimes)
    places = [i + (index - (len(runtimes) - 1) / 2) * width for i in range(len(values))]
    bars = axes.bar(places, values, width * 0.9, label=runtimes[index].name, color=colour)
    texts = ["failed" if isnan(v) else number(v) for v in values]
    axes.bar_label(bars, texts, fontsize=7, padding=1)


def _draw_lines(axes: Any, values: list[float], cases: Sequence[Case], name: str, colour: str) -> None:
    for part, (_, places) in enumerate(_groups(cases)):
        label = name if part == 0 else None
        axes.plot(places, [values[i] for i in places], "o-", label=label, color=colour, markersize=4, linewidth=1.5)


def _label_cases(axes: Any, cases: Sequence[Case]) -> None:
    groups = _groups(cases)
    labels = [case.short for case in cases]
    axes.set_xticks(range(len(cases)), [label.removeprefix("inner ") for label in labels], fontsize=7)
    if len(groups) == 1 and sum(len(label) + 3 for label in labels) > MOST_LETTERS_BELOW:
        axes.tick_params(axis="x", labelrotation=35)
        for tick in axes.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    transform = axes.get_xaxis_transform()
    of_inner, crowded = labels[0].startswith("inner "), len(groups) > 3
    if of_inner and crowded:
        axes.set_xlabel("inner threads", fontsize=6.5, labelpad=20)
    for name, places in groups:
        if name:
            word = f"{name}, inner threads" if of_inner and not crowded else name
            middle = (places[0] + places[-1]) / 2
            axes.text(middle, -0.12, word, transform=transform, ha="center", va="top", fontsize=6.5)


def _panel(
    axes: Any, benchmark: Benchmark, cases: Sequence[Case], runtimes: Sequence[Runtime], results: Results
) -> None:
    runtimes = [runtime for runtime in runtimes if benchmark.runs_on(runtime)]
    cells = {r.name: [results.of(benchmark.name, c.config, r.name) for c in cases] for r in runtimes}
    over_ideal = all(cell.ideal for row in cells.values() for cell in row if cell.median is not None)
    few = len(cases) <= 2
    for index, runtime in enumerate(runtimes):
        values = [_value(cell, over_ideal) for cell in cells[runtime.name]]
        colour = _colour(runtime, index)
        if few:
            _draw_bars(axes, values, index, runtimes, colour)
        else:
            _draw_lines(axes, values, cases, runtime.name, colour)
    _label_cases(axes, cases)
    if not few or _spans(cells):
        axes.set_yscale("log")
    if over_ideal:
        axes.axhline(1, color="#888888", linewidth=0.8, linestyle="--")
    axes.set_ylabel("time over the ideal" if over_ideal else "us", fontsize=8)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(benchmark.title, fontsize=8.5, loc="left")
    axes.grid(True, axis="y", which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def write_plot(
    path: Path,
    benchmarks: Sequence[tuple[Benchmark, Sequence[Case]]],
    runtimes: Sequence[Runtime],
    results: Results,
    caption: str,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(COLUMNS, len(benchmarks))
    rows = -(-len(benchmarks) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(5.2 * columns, 3.4 * rows + 0.5), squeeze=False)
    panels = list(grid.flat)
    for axes, (benchmark, cases) in zip(panels, benchmarks, strict=False):
        _panel(axes, benchmark, cases, runtimes, results)
    for axes in panels[len(benchmarks) :]:
        axes.set_visible(False)
    panels[0].legend(fontsize=8, frameon=False)
    figure.suptitle(caption, fontsize=9, x=0.01, ha="left")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    save_figure(figure, path)
    pyplot.close(figure)
