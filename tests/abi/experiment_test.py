"""WEFT_EXPERIMENT: each optimisation that is switched off does something when it is on. Runs experiment_probe.

experiment_test.py PROBE
"""

import os
import subprocess
import sys

BOUND = {"OMP_PLACES": "{0},{1}", "OMP_PROC_BIND": "close", "WEFT_NUM_WORKERS": "2"}


def run(without, settings, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "WEFT_"))}
    environment |= {"WEFT_REPORT": "1", "WEFT_NUM_WORKERS": "1", "OMP_MAX_ACTIVE_LEVELS": "8"} | settings
    if without:
        environment["WEFT_EXPERIMENT"] = without
    command = [sys.argv[1], *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"without {without}: exit status {result.returncode}: {result.stderr!r}")
    found = dict(line.split("=", 1) for line in result.stdout.splitlines())
    report = [line.split() for line in result.stderr.splitlines()]
    return found | {words[2]: words[3] for words in report if words[:2] == ["weft:", "report:"]}


def expect(what, condition, found):
    if not condition:
        sys.exit(f"{what}: {found}")


def expect_once(without, conditions):
    """A program that is kept off the CPUs gets a spare worker, which disturbs the order; not each time."""
    for tries_left in reversed(range(100)):
        found = run(without, {})
        failed = [what for what, holds in conditions.items() if not holds(found)]
        if not failed:
            return
        if tries_left == 0:
            sys.exit(f"without {without!r}: {failed}: {found}")


def is_order(order):
    return lambda found: found["order"] == order


def main():
    usual = {
        "a range is taken from its begin": is_order("01234567"),
        "regions allocate nothing": lambda found: int(found["allocations"]) == 0,
        "a thread makes teams of its own": lambda found: int(found["teams"]) == 3,
        "the master runs the members": lambda found: int(found["steals"]) == 0,
    }
    expect_once("", usual)
    expect_once("range", {"units: the newest first": is_order("07654321")})
    expect_once("borrowed-stacks", {"members are units then": is_order("07654321")})
    expect_once("kept-teams", {"teams are built anew": lambda found: int(found["allocations"]) >= 100})
    expect_once("own-lists", {"teams of another thread are used": lambda found: int(found["teams"]) == 0})
    expect_once("master-helps", {"the worker finds the members": lambda found: int(found["steals"]) >= 100})
    expect_once("runs", {"one at a time, in the same order": is_order("01234567")})

    if {0, 1} <= os.sched_getaffinity(0):
        found = run("", BOUND, "200")
        expect("a place's members are left to its workers", found["elsewhere"] == "0", found)
        found = run("place-pools", BOUND, "100000000")
        expect("anybody runs a member of any place", found["elsewhere"] == "1", found)


if __name__ == "__main__":
    main()
