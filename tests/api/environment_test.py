#!/usr/bin/env python3
"""environment_test.py PROGRAM: how libweft reads WEFT_NUM_WORKERS and WEFT_STACKSIZE, by what `environment` does."""

from __future__ import annotations

import os
import re
import subprocess
import sys

MEBI = 1 << 20

# Sizes of more than 30 MiB; of 64 KiB; and what is none.
STACKS = ["40M", "40m", " 40 M ", "40960", "40960K", "40960k", "41943040b", "41943040B", "1G", "1g", "+40M"]
SMALL_STACKS = ["64K", "64", "65536b"]
WRONG_STACKS = [
    "",
    "x",
    "M",
    "-1M",
    "0",
    "15K",
    "16383B",
    "40MM",
    "40 M x",
    "4.5M",
    "2T",
    "1025g",
    "99999999999999999999",
]
WORKERS = {"1": 1, " 3 ": 3, "+5": 5, "1024": 1024}
WRONG_WORKERS = ["", "none", "0", "-2", "1025", "2x", "1,2", "99999999999999999999"]
# Misspelt ones, and what is meant: the nearest, if there is one.
UNKNOWN = {
    "WEFT_FOO": "",  # Bug: WEFT_IO was meant
    "WEFT_NUM_WORKER": "WEFT_NUM_WORKERS",
    "WEFT_WORKERS": "WEFT_NUM_WORKERS",
    "WEFT_STACK_SIZE": "WEFT_STACKSIZE",
    "WEFT_PREEMPT_TIME": "WEFT_PREEMPT_TIMER",
    "WEFT_WATCHDOG_SLICES": "WEFT_WATCHDOG_SLICE",
    "WEFT_IOS": "WEFT_IO",
    "WEFT_report": "",
    "WEFT_SOMETHING_ELSE": "",
    "WEFT_" + 100 * "X": "",
}
# Those that only the drop-in or the command reads are known, and so are names that only look alike.
KNOWN = ["WEFT_REPORT", "WEFT_EXPERIMENT", "WEFT_BENCH_MKL", "WEFTX", "WEF", "XWEFT_NUM_WORKER"]


def run(program: str, used: int, first: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")} | settings
    command = ["sh", "-c", 'ulimit -S -s 8192; exec "$@"', "sh", program, str(used), *([first] if first else [])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def main() -> int:
    program = sys.argv[1]
    wrong: list[str] = []

    def expect(what: str, condition: bool, ran: subprocess.CompletedProcess[str]) -> None:
        if not condition:
            wrong.append(f"{what}: status {ran.returncode}, stdout {ran.stdout!r}, stderr {ran.stderr!r}")

    plain = run(program, 4 * MEBI)
    expect("nothing set", plain.returncode == 0 and plain.stderr == "", plain)
    small = run(program, 30 * MEBI)
    expect("30 MiB of the default stack", small.returncode != 0 and "stack overflow" in small.stderr, small)

    for value in STACKS:
        ran = run(program, 30 * MEBI, WEFT_STACKSIZE=value)
        expect(f"WEFT_STACKSIZE={value!r}", ran.returncode == 0 and ran.stderr == "", ran)
    for value in SMALL_STACKS:
        ran = run(program, 4 * MEBI, WEFT_STACKSIZE=value)
        expect(f"WEFT_STACKSIZE={value!r}", ran.returncode != 0 and "(stack of 64 KiB)" in ran.stderr, ran)
    for value, workers in WORKERS.items():
        ran = run(program, 0, WEFT_NUM_WORKERS=value)
        expect(f"WEFT_NUM_WORKERS={value!r}", (ran.returncode, ran.stdout, ran.stderr) == (0, f"{workers}\n", ""), ran)

    # Bug: only weft_init() read the environment, and not where another call had come before.
    for first in ("asks", "creates"):
        ran = run(program, 0, first, WEFT_NUM_WORKERS="7", WEFT_STACKSIZE="x")
        named = ran.stderr.count("weft: WEFT_STACKSIZE=x: expected") == 1
        expect(f"{first} before weft_init()", (ran.returncode, ran.stdout) == (0, "7\n") and named, ran)

    for name, values in {"WEFT_STACKSIZE": WRONG_STACKS, "WEFT_NUM_WORKERS": WRONG_WORKERS}.items():
        for value in values:
            ran = run(program, 4 * MEBI, **{name: value})
            line = rf"weft: {name}={re.escape(value)}: expected .+; using the default .+\n"
            named = re.fullmatch(line, ran.stderr) is not None
            expect(f"{name}={value!r}", ran.returncode == 0 and ran.stdout == plain.stdout and named, ran)

    for name, meant in UNKNOWN.items():
        ran = run(program, 4 * MEBI, **{name: "1"})
        line = f"weft: {name[:64]}: weft knows no such variable" + (f"; is {meant} meant?\n" if meant else "\n")
        expect(name, ran.returncode == 0 and ran.stdout == plain.stdout and ran.stderr == line, ran)
    ran = run(program, 4 * MEBI, **dict.fromkeys(KNOWN, "1"))
    expect("known names", ran.returncode == 0 and ran.stderr == "", ran)

    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
