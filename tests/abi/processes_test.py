"""What weft says of its environment, and its report, in a script that starts several processes: each that uses weft
says it, and its helpers say nothing. Both programs open a region.

processes_test.py PROGRAM CLOSES_STDERR
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM, CLOSES_STDERR = sys.argv[1:]
NAME = Path(PROGRAM).name


def run(script: str, *arguments: str, program: str = PROGRAM, **settings: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_"))}
    environment |= {"WEFT_NUM_WORKERS": "2", **settings}
    environment["LD_PRELOAD"] = str(Path(environment["CHECK_RUNTIME"]) / "libgomp.so.1")
    command = ["sh", "-c", script, "sh", program, *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{script}: exit status {result.returncode}: {result.stderr!r}")
    return result.stderr


def expect(what: str, text: str, pattern: str, times: int) -> list[str]:
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != times:
        sys.exit(f"{what}: {len(found)} times /{pattern}/, not {times}, in:\n{text}")
    return found


def main() -> None:
    helpers = "env true; date >/dev/null; (true); sleep 0; "
    twice = helpers + '"$1" & "$1"; wait; env true'

    errors = run(twice, WEFT_REPORT="1")
    processes = expect("reports", errors, rf"^weft: report: process +(\d+) {NAME}$", 2)
    expect("two processes", str(len(set(processes))), "^2$", 1)
    expect("reports", errors, r"^weft: report: workers +2$", 2)
    expect("helpers report nothing", errors, r"^weft: report: process ", 2)
    # Only a process in which somebody has been interrupted as stuck says where: on a busy machine, one of the two.
    lines = [line.split()[2] for line in errors.splitlines() if "mostly_stuck_in" not in line]
    half = len(lines) // 2
    expect("reports are not mixed", str(lines[:half] == lines[half:]), "^True$", 1)

    bad = {"OMP_NUM_THREADS": "many", "WEFT_MAX_KLTS": "0", "WEFT_NUM_WORKER": "4", "WEFT_QUITE_ANOTHER": "1"}
    errors = run(twice, **bad)
    expect("bad values", errors, r"^weft: OMP_NUM_THREADS=many: expected ", 2)
    expect("bad values", errors, r"^weft: WEFT_MAX_KLTS=0: expected ", 2)
    expect("misspelt", errors, r"^weft: WEFT_NUM_WORKER: weft knows no such variable; is WEFT_NUM_WORKERS meant\?$", 2)
    expect("misspelt", errors, r"^weft: WEFT_QUITE_ANOTHER: weft knows no such variable$", 2)
    expect("nothing else", errors, "^.", 8)
    expect("where weft is not used", run(helpers + "env true", **bad, WEFT_REPORT="1"), ".", 0)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "everywhere"
        errors = run('"$1"', program=CLOSES_STDERR, WEFT_REPORT="1")
        expect("a program that has closed stderr", errors, r"^weft: report: members +\d", 1)
        errors = run('"$1" "$2"', str(file), program=CLOSES_STDERR, WEFT_REPORT="1")
        expect("one that has closed all it found", errors + file.read_text(), ".", 0)

    known = {"WEFT_IO": "klts", "WEFT_BENCH_MKL": "/nowhere", "WEFT_BUILD_DIR": "/nowhere", "WEFT_CTL": "on"}
    expect("known ones", run('"$1"', **known), ".", 0)


if __name__ == "__main__":
    main()
