"""`weft bench` for the patterns of the threading core."""

from pathlib import Path

from rich.console import Console

from .. import machine
from ..files import write_json
from ..progress import bar, tell_reservations
from ..report import WIDE
from ..results import Results
from . import instructions
from .campaign import Plan, run_plan
from .catalog import ALL_PATTERNS, PATTERNS, chosen_cases, find
from .goals import goals_table
from .plot import write_plots
from .report import failure_lines, section_table

NAMES = tuple(pattern.name for pattern in ALL_PATTERNS)
GROUP = "core"  # all of them


def make_plan(names: list[str], rounds: int, quick: bool, scale: float) -> Plan:
    of_group = PATTERNS if GROUP in names else ()
    chosen = [*of_group, *(pattern for pattern in ALL_PATTERNS if pattern.name in names and pattern not in of_group)]
    return Plan([(pattern, chosen_cases(pattern, quick=quick)) for pattern in chosen], rounds, scale)


def _measure(console: Console, plan: Plan, results: Results) -> bool:
    """False: it was interrupted."""
    with bar(console) as progress:
        task = progress.add_task("", total=plan.steps())

        def on_step(text: str) -> None:
            progress.update(task, description=text, advance=1)

        try:
            run_plan(plan, results, on_step)
        except KeyboardInterrupt:
            return False
    return True


def _print_results(console: Console, plan: Plan, results: Results) -> None:
    for pattern, cases in plan.patterns:
        console.print()
        console.print(f"{pattern.name}: {pattern.title}", style="bold", markup=False, highlight=False)
        for section in pattern.sections:
            if any(case in cases for case in section.cases):
                console.print(section_table(pattern, section, cases, results, show_spread=console.width >= WIDE))
    if any(pattern.missing() for pattern, _ in plan.patterns):
        console.print("[dim]Not built: not found when weft was. cmake -DWEFT_PEERS=PREFIX names where they are.[/dim]")
    console.print("[dim]Median of the rounds' medians, ± half the interquartile range.[/dim]")
    for line in failure_lines(results):
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    table = goals_table(results, (pattern.name for pattern, _ in plan.patterns))
    if table:
        console.print()
        console.print(table)


def _count_instructions(console: Console) -> None:
    reason = instructions.why_not()
    if reason:
        console.print(reason, markup=False)
        return
    pattern = find("techniques")
    assert pattern is not None
    counts = []
    wanted = instructions.countable(pattern)
    with bar(console) as progress:
        task = progress.add_task("", total=len(wanted))
        for variant, case in wanted:
            progress.update(task, description=f"instructions: {variant.name}", advance=1)
            counts.append(instructions.count(pattern, variant, case))
    console.print()
    console.print(instructions.counts_table(counts))


def run(console: Console, plan: Plan, json_path: Path, png_path: Path, count: bool) -> int:
    """Measures, prints and writes; returns the exit status."""
    if not any(pattern.present() for pattern, _ in plan.patterns):
        console.print("nothing to measure: no program of these patterns is built (make build)")
        return 1
    about = machine.describe([])
    results = Results()
    clock = machine.CpuClock()
    complete = _measure(console, plan, results)
    about["cpu_time_of_others"] = clock.share_of_others()
    _print_results(console, plan, results)
    tell_reservations(console, about, complete)
    write_json(json_path, about, plan.rounds, results)
    caption = machine.caption(about, plan.rounds)
    console.print(f"JSON: {json_path}", soft_wrap=True, markup=False, highlight=False)
    for path in write_plots(png_path, plan.patterns, results, caption):
        console.print(f"plot: {path}", soft_wrap=True, markup=False, highlight=False)
    if not complete:
        return 130
    if count:
        _count_instructions(console)
    left_out = [pattern.name for pattern, _ in plan.patterns if not pattern.present()]
    if left_out:
        console.print(f"not measured: {', '.join(left_out)}: no program of it is built (make build)", markup=False)
    failed = any(m.outcome.value != "ok" and m.runtime.startswith("weft") for m in results.measurements)
    return 1 if failed or left_out else 0
