"""The pictures: the techniques as lines over D and N, other patterns as bars."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from statistics import median
from typing import Any

from ..files import save_figure
from ..results import Results
from .campaign import value
from .catalog import CHILD_FIRST, PARENT_FIRST, Case, Pattern, Section, Variant
from .goals import number

PEERS = {
    "Argobots tasklet": "#c78a1d",
    "Argobots ULT, LIFO": "#b4433a",
    "Argobots ULT": "#d98880",
    "Argobots ULT, child-first": "#b4433a",
    "MassiveThreads": "#4d7c3a",
    "oneTBB task": "#888888",
    "Go": "#6a4c93",
}
LINES = ("techniques", "grid")
CUT = 4  # bars this many times the median are cut
OURS = ("#0b3c5d", "#1f6f8b", "#2a9db5", "#56c1ca", "#3b5bdb", "#748ffc", "#a5b4fc")
ROWS = (
    (
        "parent-first",
        ("Argobots tasklet", "Argobots ULT", "Argobots ULT, LIFO", "oneTBB task", "Go"),
        ("weft stackless", *(f"weft {name}" for name in PARENT_FIRST.values()), "weft auto"),
    ),
    (
        "child-first",
        ("Argobots ULT, child-first", "MassiveThreads", "Go"),
        tuple(f"weft {name}" for name in CHILD_FIRST.values()),
    ),
)


def _values(pattern: Pattern, variant: Variant, cases: Sequence[Case], results: Results) -> list[float]:
    found = (value(results.of(pattern.name, case.config, variant.name)) for case in cases)
    return [float("nan") if amount is None else amount for amount in found]


def _style(name: str, ours: int) -> dict[str, Any]:
    if name in PEERS:
        return {"color": PEERS[name], "linestyle": "--", "marker": "s", "markersize": 3.5, "linewidth": 1.2}
    special = {"weft stackless": "#999999", "weft auto": "#000000"}
    colour = special.get(name, OURS[ours % len(OURS)])
    return {"color": colour, "marker": "o", "markersize": 3.5, "linewidth": 1.4}


def _tidy(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=8.5, loc="left")
    axes.tick_params(labelsize=7)
    axes.grid(True, axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _line_panel(
    axes: Any, pattern: Pattern, section: Section, cases: Sequence[Case], names: Sequence[str], results: Results
) -> None:
    shown = [case for case in section.cases if case in cases]
    key = "d" if section.title.startswith("over D") else "n"
    places = [case.number(key, 0) for case in shown]
    variants = {variant.name: variant for variant in pattern.present()}
    ours = 0
    for name in names:
        if name in variants:
            amounts = _values(pattern, variants[name], shown, results)
            if key == "d" and not variants[name].deviates:
                amounts = amounts[:1] * len(amounts)  # as in the dissertation: units that cannot yield, as a line
            axes.plot(places, amounts, label=name, **_style(name, ours))
            ours += name.startswith("weft ") and name not in ("weft stackless", "weft auto")
    if key == "n":
        axes.set_xscale("log", base=4)
    axes.set_xticks(places, [str(place) for place in places])
    axes.set_xlabel("D (%)" if key == "d" else "N", fontsize=8)
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def _write_lines(
    pyplot: Any, path: Path, pattern: Pattern, cases: Sequence[Case], results: Results, caption: str
) -> None:
    sections = [section for section in pattern.sections if set(section.cases) & set(cases)]
    columns = len(sections)
    figure, grid = pyplot.subplots(len(ROWS), columns, figsize=(4.6 * columns, 3.4 * len(ROWS) + 0.4), squeeze=False)
    for row, (title, peers, ours) in zip(grid, ROWS, strict=True):
        for axes, section in zip(row, sections, strict=True):
            _line_panel(axes, pattern, section, cases, (*peers, *ours), results)
            _tidy(axes, f"{title}, {section.title}")
        row[0].set_ylabel("ns per unit", fontsize=8)
        if row[-1].get_legend_handles_labels()[0]:
            row[-1].legend(fontsize=6.5, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _save(figure, path, caption)
    pyplot.close(figure)


def _draw_bars(axes: Any, amounts: Sequence[float], colours: Sequence[str]) -> None:
    """Bars far beyond the others are cut; their numbers stand at the edge."""
    known = [amount for amount in amounts if not isnan(amount)]
    edge = min(max(known), CUT * median(known)) if known else 1
    axes.barh(range(len(amounts)), [min(amount, edge) for amount in amounts], color=colours)
    axes.set_xlim(0, edge * 1.15)
    for place, amount in enumerate(amounts):
        text = "failed" if isnan(amount) else number(amount)
        axes.text(0 if isnan(amount) else min(amount, edge), place, f" {text}", va="center", fontsize=6.5)


def _write_bars(
    pyplot: Any, path: Path, patterns: Sequence[tuple[Pattern, Sequence[Case]]], results: Results, caption: str
) -> None:
    panels = [(pattern, case) for pattern, cases in patterns for case in cases]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(5 * columns, 2.8 * rows + 0.4), squeeze=False)
    for axes, (pattern, case) in zip(grid.flat, panels, strict=False):
        variants = [variant for variant in pattern.present() if variant.takes(case)]
        amounts = [_values(pattern, variant, [case], results)[0] for variant in variants]
        colours = ["#1f6f8b" if variant.library == "weft" else "#c9b8a0" for variant in variants]
        _draw_bars(axes, amounts, colours)
        axes.set_yticks(range(len(variants)), [variant.name for variant in variants])
        axes.invert_yaxis()
        _tidy(axes, f"{pattern.name}: {' '.join(case.label.split())}, {pattern.unit}")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    _save(figure, path, caption)
    pyplot.close(figure)


def _save(figure: Any, path: Path, caption: str) -> None:
    figure.suptitle(caption, fontsize=9, x=0.01, ha="left")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    save_figure(figure, path)


def write_plots(
    path: Path, patterns: Sequence[tuple[Pattern, Sequence[Case]]], results: Results, caption: str
) -> list[Path]:
    """What has lines goes to `path` if it is alone, else beside it; returns what was written."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    written = []
    others = [(pattern, cases) for pattern, cases in patterns if pattern.name not in LINES]
    for pattern, cases in patterns:
        if pattern.name in LINES:
            target = path if len(patterns) == 1 else path.with_stem(f"{path.stem}-{pattern.name}")
            _write_lines(pyplot, target, pattern, cases, results, caption)
            written.append(target)
    if others:
        _write_bars(pyplot, path, others, results, caption)
        written.append(path)
    return written
