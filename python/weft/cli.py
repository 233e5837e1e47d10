"""The commands beside `run`, and the help that lists them all."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from weft import __version__

app = typer.Typer(
    name="weft",
    help="Runs OpenMP programs on weft's user-level threads, unchanged.",
    epilog="Start with: weft doctor PROGRAM, then: weft run PROGRAM",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# These commands read their own options, `--help` too.
HANDED_ON = {
    "add_help_option": False,
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
}


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"weft {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(name="run", **HANDED_ON)
def run_command(context: typer.Context) -> None:
    """Run a program on weft instead of the OpenMP runtime it was built for."""
    from weft import run

    raise typer.Exit(run.main(context.args))


@app.command(name="ctl", **HANDED_ON)
def ctl_command(context: typer.Context) -> None:
    """Switch workers of a running process off or on: ctl PID workers=N."""
    from weft import ctl

    raise typer.Exit(ctl.main(context.args))


@app.command(name="doctor")
def doctor_command(
    subject: Annotated[str, typer.Argument(metavar="PROGRAM|PID", help="A program, a shared library, or a process.")],
) -> None:
    """Say which OpenMP runtimes a program or process loads, and whether weft can take them over.

    Exit status: 0 if weft can, or if there is nothing to take over; 1 if it cannot; 2 if there is no such program.
    """
    from weft.doctor.view import doctor

    raise typer.Exit(doctor(subject))


@app.command(name="info")
def info_command() -> None:
    """Show this weft, and what of this machine matters to it."""
    from weft.info import show_info

    show_info()


@app.command(name="bench", **HANDED_ON)
def bench_command(context: typer.Context) -> None:
    """Compare OpenMP runtimes on this machine."""
    try:
        from weft.bench.app import app as bench
    except ModuleNotFoundError as error:
        print(f"weft: bench: the Python package '{error.name}' is missing", file=sys.stderr)
        raise typer.Exit(1) from None
    bench(args=context.args, prog_name="weft bench")


def main(arguments: list[str]) -> int:
    try:
        app(args=arguments, prog_name="weft")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
