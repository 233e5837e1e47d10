"""The entry point. `run` and `ctl` are dispatched before anything beyond the standard library is loaded."""

from __future__ import annotations

import io
import os
import sys


def dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["run"]:
        from weft import run

        return run.main(arguments[1:])
    if arguments[:1] == ["ctl"]:
        from weft import ctl

        return ctl.main(arguments[1:])
    try:
        from weft import cli
    except ModuleNotFoundError as error:
        from weft.paths import how_to_get_packages

        print(f"weft: the Python package '{error.name}' is missing; {how_to_get_packages()}", file=sys.stderr)
        return 1
    return cli.main(arguments)


def drop_output() -> None:
    """What could not be written is not tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main() -> int:
    arguments = sys.argv[1:]
    if sys.stderr is None:  # Bug: where it is closed, print() wrote to standard output instead
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):  # Bug: no name that is not UTF-8 could be printed, but in the C locale
        sys.stdout.reconfigure(errors="surrogateescape")
    try:
        status = dispatch(arguments)
        if sys.stdout is not None:
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
