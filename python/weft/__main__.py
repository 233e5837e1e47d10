"""The entry point. `run`, `ctl`, the help and the version need nothing beyond the standard library."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TextIO

HELP = """\
Usage: weft COMMAND [ARGS]...

Runs OpenMP programs on weft's user-level threads, unchanged.

Commands:
  run        Run a program on weft instead of its own OpenMP runtime.
  ctl        Switch workers of a running process off or on: ctl PID workers=N.
  doctor     Say whether weft can take over a program's OpenMP runtimes.
  info       Show this weft, and what of this machine matters to it.
  bench      Measure OpenMP runtimes, and libweft, on this machine.

Options:
  --version  Show the version and exit.
  --help     Show this text and exit; `weft COMMAND --help` that of a command.

"""
USAGE_ERROR = 2


def show_help() -> None:
    from weft.paths import IN_INSTALLATION, is_checkout

    print(HELP, end="")
    start = "Start with: weft doctor PROGRAM, then: weft run PROGRAM"
    print(start if is_checkout() else f"{IN_INSTALLATION.capitalize()}.")


def tell_missing(command: str, package: str | None) -> None:
    from weft.paths import IN_INSTALLATION, is_checkout

    why = f"the Python package '{package}' is missing; `make build` installs it" if is_checkout() else IN_INSTALLATION
    print(": ".join(["weft", *([] if command.startswith("-") else [command]), why]), file=sys.stderr)


def names_of_commands() -> list[str]:
    return re.findall(r"^  (\w+) ", HELP, re.MULTILINE)


def dispatch(arguments: list[str]) -> int:
    if arguments[:1] in ([], ["--help"], ["-h"]):
        show_help()
        return 0 if arguments else USAGE_ERROR
    if arguments[:1] == ["--version"]:
        from weft import __version__

        print(f"weft {__version__}")
        return 0
    if arguments[:1] == ["run"]:
        from weft import run

        return run.main(arguments[1:])
    if arguments[:1] == ["ctl"]:
        from weft import ctl

        return ctl.main(arguments[1:])
    if not arguments[0].startswith("-") and arguments[0] not in names_of_commands():
        print(f"weft: no such command '{arguments[0]}'; see weft --help", file=sys.stderr)
        return USAGE_ERROR
    try:
        from weft import cli

        return cli.main(arguments)
    except ModuleNotFoundError as error:
        tell_missing(arguments[0], error.name)
        return 1


def closed_output() -> TextIO:
    """What cannot be written to, as standard output where it is closed. Bug: what was printed was lost, and the exit
    status 0. The program that `run` starts finds it closed."""
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")


def drop_output() -> None:
    """What could not be written is not tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> int:
    arguments = sys.argv[1:]
    if sys.stderr is None:  # Bug: where it is closed, print() wrote to standard output instead
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        sys.stdout = closed_output()
    if isinstance(sys.stdout, io.TextIOWrapper):  # Bug: no name that is not UTF-8 could be printed, but in the C locale
        sys.stdout.reconfigure(errors="surrogateescape")
    try:
        status = dispatch(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        drop_output()
    except (OSError, ValueError) as error:
        drop_output()
        words = [word for word in arguments[:1] if not word.startswith("-")]
        if isinstance(error, OSError):
            words += [str(part) for part in (error.filename, error.strerror) if part is not None]
        else:
            words.append(str(error))
        print(": ".join(["weft", *words]), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
