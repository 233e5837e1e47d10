"""The entry point. `run` and `ctl` are dispatched before anything beyond the standard library is loaded."""

from __future__ import annotations

import sys


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        from weft import run

        return run.main(sys.argv[2:])
    if sys.argv[1:2] == ["ctl"]:
        from weft import ctl

        return ctl.main(sys.argv[2:])
    try:
        from weft import cli
    except ModuleNotFoundError as error:
        print(f"weft: the Python package '{error.name}' is missing; `make build` installs it", file=sys.stderr)
        return 1
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
