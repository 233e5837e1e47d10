"""How the command's tables look: as wide as the terminal, and never folded where the output goes to a file."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 200


def make_console(width: int = PIPE_WIDTH, *, plain: bool = True) -> Console:
    """`width` is for where there is no terminal; a plain one shows texts as they are."""
    console = Console(highlight=not plain, markup=not plain)
    return console if console.is_terminal else Console(highlight=not plain, markup=not plain, width=width)


def make_table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
