"""The commands that need packages, and the names of all. The help that lists them is in `__main__`."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="weft",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)

USAGE_ERROR = 2
# click's UsageError, which some versions of typer carry themselves.
CommandLineError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")

# These commands read their own options, `--help` too.
HANDED_ON = {
    "add_help_option": False,
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
}


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
    """Measure OpenMP runtimes, and libweft, on this machine."""
    from weft.bench.app import app as bench

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # what it has started is to end with it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    raise typer.Exit(bench(args=context.args, prog_name="weft bench", standalone_mode=False) or 0)


def explain(error: Any) -> str:
    """In one line; a value that makes no sense stands behind its option."""
    message = " ".join(error.format_message().split())
    option = getattr(error, "param", None)
    if isinstance(error, typer.BadParameter) and error.message:
        message = f"{option.opts[0]}: {error.message}" if option is not None else error.message
    return message[:1].lower() + message[1:].removesuffix(".")


def main(arguments: list[str]) -> int:
    """The exit status. What is wrong with the arguments is told as `run` and `ctl` do."""
    try:
        status = app(args=arguments, prog_name="weft", standalone_mode=False)
    except CommandLineError as error:
        words = ["weft", *(word for word in arguments[:1] if not word.startswith("-")), explain(error)]
        print(": ".join(words), file=sys.stderr)
        return USAGE_ERROR
    except typer.Abort:  # interrupted
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return status or 0
