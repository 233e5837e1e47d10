"""The tables: one per benchmark, a row per case, a column per runtime, and ratios to the last runtime (weft)."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table

from .aims import aim_of, verdicts
from .catalog import Benchmark, Case
from .results import Cell, Outcome, Results
from .runtimes import WEFT, Runtime, initials

WIDTH = 118  # of a table that is not written to a terminal
WIDE = 108  # from here on there is room for the spread


def number(us: float) -> str:
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def ratio(value: float) -> str:
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def _failures(cell: Cell) -> str:
    names = [m.outcome.value for m in cell.failures]
    return ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names)))


def cell_text(cell: Cell, *, show_setting: bool = False, show_spread: bool = True) -> str:
    """`median ±spread`, or what went wrong instead; a failure in one round of several is named behind the number."""
    if not cell.measurements:
        return "-"
    if cell.median is None:
        return f"[red]{cell.failures[0].outcome.value}[/red]"
    text = ("~" if cell.at_other_pace else "") + number(cell.median)
    if cell.ideal:
        text += f" [dim]({ratio(cell.median / cell.ideal)})[/dim]"
    if show_spread and cell.spread is not None:
        text += f" [dim]±{cell.spread:.0%}[/dim]"
    if show_setting:
        text += f" [dim]{initials(cell.setting)}[/dim]"
    return f"{text} [red]({_failures(cell)})[/red]" if cell.failures else text


def ratio_text(baseline: Cell, subject: Cell) -> str:
    if baseline.median is None or not subject.median or min(baseline.median, subject.median) <= 0:
        return "-"
    value = baseline.median / subject.median
    colour = "green" if value >= 1.03 else "yellow" if value >= 0.97 else "red"
    return f"[{colour}]{ratio(value)}[/{colour}]"


def inner_text(cells: Sequence[Cell]) -> str:
    """What of the inner level was seen: `REGIONS of TEAM`; one entry if all runtimes agree."""
    seen = []
    for cell in cells:
        if "inner_regions" in cell.checks:
            regions, team = cell.checks["inner_regions"], cell.checks["inner_team"]
            seen.append(f"{regions} of {team}" if team > 1 else "none")
    return " | ".join(dict.fromkeys(seen))


def benchmark_table(
    benchmark: Benchmark,
    cases: Sequence[Case],
    runtimes: Sequence[Runtime],
    results: Results,
    *,
    show_spread: bool = True,
) -> Table:
    rows = {case: [results.of(benchmark.name, case.config, r.name) for r in runtimes] for case in cases}
    has_ideal = any(cell.ideal for cells in rows.values() for cell in cells)
    has_inner = any("inner_regions" in cell.checks for cells in rows.values() for cell in cells)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("us (time /\nideal)" if has_ideal else "us", no_wrap=True)
    for runtime in runtimes:
        table.add_column(runtime.name, justify="right", no_wrap=True)
    subject = runtimes[-1]
    for runtime in runtimes[:-1]:
        table.add_column(f"{runtime.name}\n/ {subject.name}", justify="right", no_wrap=True)
    if has_inner:
        table.add_column("inner\nregions", justify="right", no_wrap=True)
    for case, cells in rows.items():
        texts = [
            cell_text(cell, show_setting=len(runtime.settings) > 1, show_spread=show_spread)
            for cell, runtime in zip(cells, runtimes, strict=True)
        ]
        texts += [ratio_text(cell, cells[-1]) for cell in cells[:-1]]
        table.add_row(case.label, *texts, *([inner_text(cells)] if has_inner else []))
    return table


def _verdict_text(found: dict[str, bool | None]) -> str:
    words = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "-"}
    return " / ".join(words[verdict] for verdict in found.values()) or "-"


def aims_table(
    benchmark: Benchmark,
    cases: Sequence[Case],
    runtimes: Sequence[Runtime],
    results: Results,
    *,
    show_spread: bool = True,
) -> Table:
    """A row per case with what it has to reach, and whether weft did: on gcc's program, and on clang's."""
    shown = [runtime for runtime in runtimes if benchmark.runs_on(runtime)]

    def row(config: str) -> dict[str, Cell]:
        return {runtime.name: results.of(benchmark.name, config, runtime.name) for runtime in shown}

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("us", no_wrap=True)
    for runtime in shown:
        table.add_column(runtime.name.replace(" ", "\n"), justify="right", no_wrap=True)
    table.add_column("at most", justify="right", no_wrap=True)
    both = sum(runtime.name in WEFT for runtime in shown) > 1
    table.add_column("reached\ngcc / clang" if both else "reached", justify="right", no_wrap=True)
    rows = {case: row(case.config) for case in cases}
    has_inner = any("inner_regions" in cell.checks for cells in rows.values() for cell in cells.values())
    if has_inner:
        table.add_column("inner\nregions", justify="right", no_wrap=True)
    for case, cells in rows.items():
        texts = [
            cell_text(cells[r.name], show_setting=len(benchmark.settings_of(r)) > 1, show_spread=show_spread)
            for r in shown
        ]
        aim = aim_of(benchmark.name, case.config)
        told = [aim.text, _verdict_text(verdicts(aim, cells, row))] if aim else ["", ""]
        table.add_row(case.label, *texts, *told, *([inner_text(list(cells.values()))] if has_inner else []))
    return table


def aims_summary(
    benchmarks: Sequence[tuple[Benchmark, Sequence[Case]]], runtimes: Sequence[Runtime], results: Results
) -> str:
    """How many rows reached their aims, and which did not."""
    reached: Counter[str] = Counter()
    missed: list[str] = []
    for benchmark, cases in benchmarks:
        shown = [runtime.name for runtime in runtimes if benchmark.runs_on(runtime)]

        def row(config: str, benchmark: Benchmark = benchmark, shown: Sequence[str] = shown) -> dict[str, Cell]:
            return {name: results.of(benchmark.name, config, name) for name in shown}

        for case in cases:
            aim = aim_of(benchmark.name, case.config)
            for name, verdict in (verdicts(aim, row(case.config), row) if aim else {}).items():
                reached[str(verdict)] += 1
                if verdict is False:
                    missed.append(f"{benchmark.name} {case.label} ({name})")
    judged = reached["True"] + reached["False"]
    if judged == 0:
        return "No aim could be judged."
    text = f"{reached['True']} of {judged} aims reached"
    return f"{text}; not yet: {', '.join(missed)}." if missed else f"{text}."


def failure_lines(results: Results) -> list[str]:
    """One line per way in which a case failed, so that no cell needs guessing."""
    lines = Counter(
        f"{m.outcome.value}: {m.benchmark} {m.config} on {m.runtime} ({m.setting}): {m.detail}"
        for m in results.measurements
        if m.outcome is not Outcome.OK
    )
    return [f"{line} ({times} times)" if times > 1 else line for line, times in lines.items()]


def legend(runtimes: Sequence[Runtime]) -> list[str]:
    lines = ["Median of the rounds' medians, ± half the interquartile range."]
    for runtime in runtimes:
        if len(runtime.settings) > 1:
            names = " or ".join(f"{s.name} ({initials(s.name)})" for s in runtime.settings)
            lines.append(f"{runtime.name}: {runtime.about}: {names}, chosen per row in the first round.")
    return lines
