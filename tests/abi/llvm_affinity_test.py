"""Affinity as LLVM's runtime writes it: llvm_affinity_test.py PROGRAM FOLDER, where the stock libomp is."""

import os
import subprocess
import sys

PROGRAM, STOCK = sys.argv[1:]
# Teams of inner levels are the same threads each time where libomp keeps them; weft's always are.
KEPT = {"KMP_HOT_TEAMS_MAX_LEVEL": "3"}
CASES: list[dict[str, str]] = [
    {},
    {"OMP_DISPLAY_AFFINITY": "true"},
    {"OMP_DISPLAY_AFFINITY": "true", "OMP_PLACES": "threads"},
    {"OMP_DISPLAY_AFFINITY": "true", "OMP_PLACES": "{0,1}"},
    {"OMP_AFFINITY_FORMAT": "process %5{nesting_level}"},
]


def run(settings: dict[str, str]) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KMP_", "OMP_", "GOMP_"))}
    result = subprocess.run([PROGRAM], env=environment | settings, capture_output=True, text=True, timeout=120)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"{settings}: exit status {result.returncode}, stderr {result.stderr!r}")
    return sorted(result.stdout.splitlines())


if not {0, 1} <= os.sched_getaffinity(0):
    print("not run: CPUs 0 and 1 are not both usable")
    sys.exit(0)
for case in CASES:
    expected = run(case | KEPT | {"LD_LIBRARY_PATH": STOCK})
    for workers in ("1", "2", "8"):
        found = run(case | {"WEFT_NUM_WORKERS": workers})
        if found != expected:
            missing = [line for line in expected if expected.count(line) > found.count(line)]
            extra = [line for line in found if found.count(line) > expected.count(line)]
            sys.exit(f"{case}, {workers} workers: without {missing}, with {extra}")
