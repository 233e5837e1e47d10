"""`weft bench steps`: what each optimisation of regions is worth, after Fig. 4.7 of the dissertation.

Nested regions whose members do nothing, on weft with its optimisations (WEFT_EXPERIMENT, docs/design/steps.md) switched
on one after the other in the dissertation's order, and with each switched off alone; libgomp and libomp beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from . import machine
from .campaign import QUICK_SCALE, Plan
from .catalog import Benchmark, Case
from .files import save_figure, write_json
from .progress import run_behind_bar, tell_reservations
from .report import cell_text, failure_lines, number, ratio
from .results import Results
from .runtimes import Runtime, Setting, available

NAME = "steps"
TITLE = "Fig. 4.7: nested regions without work, each optimisation switched on in turn, and each off alone"

# As WEFT_EXPERIMENT names them, in the order in which they are switched on, and what the dissertation calls them.
SWITCHES = {
    "kept-teams": "team-aware management",
    "own-lists": "scalable data management",
    "borrowed-stacks": "weft's own",
    "range": "scalable thread startup",
    "runs": "weft's own",
    "master-helps": "weft's own",
}
_PASSIVE = {"OMP_WAIT_POLICY": "passive"}
_SPREAD = {"OMP_PLACES": "threads", "OMP_PROC_BIND": "spread,spread"}
_UNSET = {"OMP_PLACES": "threads", "OMP_PROC_BIND": "spread,unset"}

CASES = (
    Case("outer=8,inner=8", "8 x 8", quick=True),
    Case("outer=8,inner=56", "8 x 56"),
    Case("outer=56,inner=56", "56 x 56", quick=True),
)
BENCHMARK = Benchmark(NAME, TITLE, "regions", CASES, timeout_s=60, in_main=False)


@dataclass(frozen=True)
class Variant:
    """weft with some settings."""

    name: str
    paper: str  # what the dissertation's figure has there
    env: Mapping[str, str]


def _without(names: Sequence[str]) -> dict[str, str]:
    return {"WEFT_EXPERIMENT": ",".join(names)} if names else {}


def in_turn() -> list[Variant]:
    """From all of them off to weft as it is, but for what is bound."""
    names = list(SWITCHES)
    steps = [Variant("baseline", "baseline", _without(names) | _PASSIVE)]
    for done, name in enumerate(names, 1):
        steps.append(Variant(f"+ {name}", SWITCHES[name], _without(names[done:]) | _PASSIVE))
    steps.append(Variant("+ bind spread", "Bind=spread", _PASSIVE | _SPREAD))
    steps.append(Variant("+ bind spread,unset", "Bind=spread,unset", _PASSIVE | _UNSET))
    steps.append(Variant("+ hybrid waiting", "Hybrid policy", _UNSET))
    return steps


def one_off() -> list[Variant]:
    """weft as it is, and without one of them."""
    variants = [Variant("weft", "", {})]
    variants += [Variant(f"- {name}", SWITCHES[name], _without([name])) for name in SWITCHES]
    variants.append(Variant("- hybrid waiting", "Hybrid policy", _PASSIVE))
    variants.append(Variant("bind spread", "Bind=spread", _SPREAD))
    variants.append(Variant("bind spread, - place-pools", "", _SPREAD | _without(["place-pools"])))
    variants.append(Variant("bind spread,unset", "Bind=spread,unset", _UNSET))
    return variants


def as_runtime(weft: Runtime, variant: Variant) -> Runtime:
    return replace(weft, name=variant.name, about=variant.paper, settings=(Setting("default", variant.env),))


def _row(results: Results, runtime: Runtime, before: Runtime | None, wide: bool) -> list[str]:
    cells = [results.of(NAME, case.config, runtime.name) for case in CASES]
    texts = []
    for case, cell in zip(CASES, cells, strict=True):
        text = cell_text(cell, show_spread=wide)
        base = results.of(NAME, case.config, before.name).median if before else None
        texts += [text, ratio(cell.median / base) if base and cell.median else ""]
    return texts


def _table(first: str, over: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    table.add_column("in the dissertation", no_wrap=True)
    for case in CASES:
        table.add_column(f"{case.label}\nus", justify="right", no_wrap=True)
        table.add_column(over, justify="right", no_wrap=True)
    return table


def tables(results: Results, others: Sequence[Runtime], weft: Runtime, wide: bool) -> list[Table]:
    turned_on = _table("switched on in turn", "/ step\nbefore")
    for runtime in others:
        turned_on.add_row(runtime.name, "", *_row(results, runtime, None, wide))
    before = None
    for variant in in_turn():
        runtime = as_runtime(weft, variant)
        turned_on.add_row(variant.name, variant.paper, *_row(results, runtime, before, wide))
        before = runtime
    turned_off = _table("switched off alone", "/ weft")
    usual, *changed = [as_runtime(weft, variant) for variant in one_off()]
    turned_off.add_row(usual.name, usual.about, *_row(results, usual, None, wide))
    for runtime in changed:
        turned_off.add_row(runtime.name, runtime.about, *_row(results, runtime, usual, wide))
    return [turned_on, turned_off]


def _bars(axes, names: Sequence[str], results: Results, title: str) -> None:
    height = 0.8 / len(CASES)
    for index, case in enumerate(CASES):
        medians = [results.of(NAME, case.config, name).median for name in names]
        at = [row + (index - (len(CASES) - 1) / 2) * height for row in range(len(names))]
        bars = axes.barh(at, [median or 0 for median in medians], height * 0.9, label=case.label)
        axes.bar_label(bars, ["-" if median is None else number(median) for median in medians], fontsize=6, padding=2)
    axes.set_yticks(range(len(names)), list(names), fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("us", fontsize=8)
    axes.set_title(title, fontsize=9, loc="left")
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def write_plot(path: Path, results: Results, others: Sequence[Runtime], caption: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 7))
    _bars(left, [*(r.name for r in others), *(v.name for v in in_turn())], results, "Fig. 4.7: switched on in turn")
    _bars(right, [v.name for v in one_off()], results, "weft, and each switched off alone")
    right.legend(fontsize=8, frameon=False)
    figure.suptitle(caption, fontsize=9, x=0.01, ha="left")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    save_figure(figure, path)
    pyplot.close(figure)


def run(console: Console, rounds: int, quick: bool, json_path: Path, png_path: Path) -> int:
    """Measures, prints and writes; returns the exit status."""
    if reason := BENCHMARK.why_not():
        console.print(reason, markup=False)
        return 1
    found, missing = available()
    weft = next((runtime for runtime in found if runtime.name == "weft"), None)
    for line in missing:
        console.print(line, markup=False)
    if weft is None:
        return 1
    others = [runtime for runtime in found if runtime is not weft]
    variants = [as_runtime(weft, variant) for variant in (*in_turn(), *one_off())]
    cases = [case for case in CASES if case.quick or not quick]
    plan = Plan([(BENCHMARK, cases)], [*others, *variants], rounds, QUICK_SCALE if quick else 1.0)
    results = Results()
    clock = machine.CpuClock()
    about = machine.describe([*others, weft])
    complete = run_behind_bar(console, plan, results)
    about["cpu_time_of_others"] = clock.share_of_others()
    for table in tables(results, others, weft, console.width >= 140):
        console.print(table)
    for line in failure_lines(results):
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    console.print("[dim]Medians of the rounds' medians. libomp: nested hot teams, the better wait policy.[/dim]")
    tell_reservations(console, about, complete)
    write_json(json_path, about, rounds, results)
    caption = machine.caption(about, rounds)
    write_plot(png_path, results, others, caption)
    console.print(f"JSON: {json_path}", soft_wrap=True, markup=False, highlight=False)
    console.print(f"plot: {png_path}", soft_wrap=True, markup=False, highlight=False)
    if not complete:
        return 130
    return 1 if any(m.runtime not in [r.name for r in others] for m in _failed(results)) else 0


def _failed(results: Results):
    return [m for m in results.measurements if m.outcome.value != "ok"]
