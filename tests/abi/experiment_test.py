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


def main():
    usual = run("", {})
    expect("a range is taken from its begin", usual["order"] == "01234567", usual)
    expect("regions allocate nothing", int(usual["allocations"]) == 0, usual)
    expect("a thread makes teams of its own", int(usual["teams"]) == 3, usual)
    expect("the master runs the members", int(usual["steals"]) == 0, usual)

    found = run("range", {})
    expect("units: the newest first", found["order"] == "07654321", found)
    found = run("borrowed-stacks", {})
    expect("members are units then", found["order"] == "07654321", found)
    found = run("kept-teams", {})
    expect("teams are built anew", int(found["allocations"]) >= 100, found)
    found = run("own-lists", {})
    expect("teams of another thread are used", int(found["teams"]) == 0, found)
    found = run("master-helps", {})
    expect("the worker finds the members", int(found["steals"]) >= 100, found)
    found = run("runs", {})
    expect("one at a time, in the same order", found["order"] == "01234567", found)

    if {0, 1} <= os.sched_getaffinity(0):
        found = run("", BOUND, "200")
        expect("a place's members are left to its workers", found["elsewhere"] == "0", found)
        found = run("place-pools", BOUND, "1000000")
        expect("anybody runs a member of any place", found["elsewhere"] == "1", found)


if __name__ == "__main__":
    main()
