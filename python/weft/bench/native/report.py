"""The tables: a row per variant, a column per case."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from ..results import Cell, Outcome, Results
from .campaign import value
from .catalog import Case, Pattern, Section
from .goals import number


def cell_text(cell: Cell, *, show_spread: bool) -> str:
    if not cell.measurements:
        return "-"
    amount = value(cell)
    if amount is None:
        return f"[red]{cell.failures[0].outcome.value}[/red]"
    text = number(amount)
    if show_spread and cell.spread is not None:
        text += f" [dim]±{cell.spread:.0%}[/dim]"
    return f"{text} [red]({len(cell.failures)} failed)[/red]" if cell.failures else text


def short_labels(section: Section, cases: Sequence[Case]) -> list[str]:
    """Without what the section's title says already."""
    if section.title.startswith("over D"):
        return [f"D={case.keys['d']}" for case in cases]
    if section.title.startswith("over N"):
        return [f"N={case.keys['n']}" for case in cases]
    return [case.label for case in cases]


def section_table(
    pattern: Pattern, section: Section, cases: Sequence[Case], results: Results, *, show_spread: bool
) -> Table:
    shown = [case for case in section.cases if case in cases]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"{pattern.unit}\n{section.title}" if section.title else pattern.unit)
    for label in short_labels(section, shown):
        table.add_column(label, justify="right", no_wrap=True)
    show_spread = show_spread and len(shown) <= 4
    for variant in pattern.present():
        if any(variant.takes(case) for case in shown):
            cells = (results.of(pattern.name, case.config, variant.name) for case in shown)
            table.add_row(variant.name, *(cell_text(cell, show_spread=show_spread) for cell in cells))
    for library in pattern.missing():
        table.add_row(f"[dim]{library}: not built[/dim]", *("-" for _ in shown))
    return table


def failure_lines(results: Results) -> list[str]:
    return list(
        dict.fromkeys(
            f"{m.outcome.value}: {m.benchmark} {m.config} on {m.runtime}: {m.detail}"
            for m in results.measurements
            if m.outcome is not Outcome.OK
        )
    )
