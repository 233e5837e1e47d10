"""OMP_PLACES, GOMP_CPU_AFFINITY and OMP_PROC_BIND: runs place_probe and checks where members are.

places_test.py --list               names of the cases
places_test.py --probe PROGRAM CASE compares the drop-in (chosen by LD_LIBRARY_PATH) with the stock runtime, or, for
                                    topologies that hwloc makes up, with what they must give
"""

import argparse
import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from weft.machine import cpu_quota

MANY = "{0},{1},{0:2},{1},{0},{1},{0},{0:2}:5:0"
NESTED = {"OMP_MAX_ACTIVE_LEVELS": "2"}
SAME_AS_STOCK = {
    "none": {},
    "threads": {"OMP_PLACES": "threads"},
    "threads-1": {"OMP_PLACES": "threads(1)"},
    "threads-many": {"OMP_PLACES": " Threads ( 99 ) "},
    "cores": {"OMP_PLACES": "cores"},
    "sockets": {"OMP_PLACES": "sockets"},
    "ll-caches": {"OMP_PLACES": "ll_caches"},
    "numa-domains": {"OMP_PLACES": "numa_domains"},
    "bind-true": {"OMP_PROC_BIND": "true"},
    "bind-spread": {"OMP_PROC_BIND": "spread"},
    "bind-false": {"OMP_PROC_BIND": "false", "OMP_PLACES": "threads"},
    "bind-false-cpus": {"OMP_PROC_BIND": "false", "GOMP_CPU_AFFINITY": "0 1"},
    "set": {"OMP_PLACES": "{0:2}"},
    "sets": {"OMP_PLACES": "{0},{1}"},
    "bare": {"OMP_PLACES": "0,1"},
    "repeated": {"OMP_PLACES": "{0}:2"},
    "backwards": {"OMP_PLACES": "{1}:2:-1"},
    "strides": {"OMP_PLACES": "{0:1:2},{1:1:-1}"},
    "without-cpu": {"OMP_PLACES": "{0:2,!1}"},
    "without-place": {"OMP_PLACES": "{0},{1},{0:2},!{1}"},
    "cpus": {"GOMP_CPU_AFFINITY": "0 1"},
    "cpus-commas": {"GOMP_CPU_AFFINITY": "1,0"},
    "cpus-range": {"GOMP_CPU_AFFINITY": "0-1"},
    "cpus-stride": {"GOMP_CPU_AFFINITY": "0-1:2 1"},
    "places-before-cpus": {"OMP_PLACES": "threads", "GOMP_CPU_AFFINITY": "1"},
    "many-close": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "close", **NESTED},
    "many-spread": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "spread", **NESTED},
    "many-primary": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "master", **NESTED},
    "many-spread-close": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "spread,close", **NESTED},
    "many-close-spread": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "close,spread", **NESTED},
    "many-spread-spread": {"OMP_PLACES": MANY, "OMP_PROC_BIND": "spread,spread,primary", **NESTED},
}

# 2 packages of 2 L3 caches of 2 cores of 2 hardware threads, and memory at each package.
SYNTHETIC = "pack:2 [numa] l3:2 core:2 pu:2"


def groups(size, count):
    return [list(range(size * number, size * (number + 1))) for number in range(count)]


MADE_UP = {
    "made-up-threads": ("threads", groups(1, 16)),
    "made-up-threads-5": ("threads(5)", groups(1, 5)),
    "made-up-cores": ("cores", groups(2, 8)),
    "made-up-cores-3": ("CORES(3)", groups(2, 3)),
    "made-up-ll-caches": ("ll_caches", groups(4, 4)),
    "made-up-sockets": ("sockets", groups(8, 2)),
    "made-up-numa-domains": ("numa_domains", groups(8, 2)),
    "made-up-second-socket": ("cores(2)", [[8, 9], [10, 11]], {"KMP_HW_SUBSET": "1s@1"}),
    "made-up-memory-alone": (
        "numa_domains",
        groups(4, 2),
        {"HWLOC_SYNTHETIC": "pack:2 [numa] [numa] core:2 pu:2"},
    ),
}

# The process may use CPU 1 alone.
MASKED = {
    "masked-threads-1": {"OMP_PLACES": "threads(1)"},
    "masked-cores": {"OMP_PLACES": "cores"},
    "masked-bind-true": {"OMP_PROC_BIND": "true"},
}

# Who displays where it is, and how often.
DISPLAYED = {
    "display": {},
    "display-threads": {"OMP_PLACES": "threads"},
    "display-long": {"OMP_AFFINITY_FORMAT": "%L %n/%N " + "x" * 1500 + "%2000n|%A"},
    "display-nested": {"OMP_PLACES": "{0},{1},{0:2}", "OMP_PROC_BIND": "spread,close", "OMP_MAX_ACTIVE_LEVELS": "3"},
}

# What is said of places that cannot be had, and how many are left.
UNUSABLE = {
    "unusable": ({"OMP_PLACES": "{1999}"}, "OMP_PLACES: none of the places", 0),
    "partly-unusable": ({"OMP_PLACES": "{0},{1999},{0,1998}"}, "OMP_PLACES: of 3 places, 1 ", 2),
    "unusable-cpu": ({"GOMP_CPU_AFFINITY": "0 1999"}, "GOMP_CPU_AFFINITY: of 2 places, 1 ", 1),
}


def fail(text):
    sys.exit(f"{sys.argv[-1]}: {text}")


def run(probe, settings, threads, stock=False, mask=None):
    ours = ("OMP_", "GOMP_", "KMP_", "WEFT_", "HWLOC_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    environment |= settings
    if stock:
        for name in ("LD_LIBRARY_PATH", "CHECK_RUNTIME"):
            environment.pop(name, None)
    result = subprocess.run(
        [probe, str(threads)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=(lambda: os.sched_setaffinity(0, mask)) if mask else None,
    )
    if result.returncode != 0:
        fail(f"exit status {result.returncode}: {result.stderr!r}")
    return result.stdout.splitlines(), result.stderr


def cut_by_quota(line):
    """The stock runtime knows nothing of a cgroup's quota, which cuts the number of processors."""
    quota = cpu_quota()
    if quota is None or not line.startswith("procs "):
        return line
    return f"procs {min(int(line.split()[1]), math.ceil(quota))}"


def compare_with_stock(probe, settings, mask=None):
    for threads in (1, 2, 3, 5, 8, 17):
        expected, _ = run(probe, settings, threads, stock=True, mask=mask)
        for workers in ("2", "8"):
            found, errors = run(probe, settings | {"WEFT_NUM_WORKERS": workers}, threads, mask=mask)
            if errors:
                fail(f"stderr: {errors!r}")
            for mine, theirs in zip(found, expected, strict=True):
                if mine != cut_by_quota(theirs):
                    fail(f"{threads} threads, {workers} workers: {mine!r}, stock {theirs!r}")


def compare_display(probe, settings):
    settings = {"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "%L %n/%N %a %t/%T %A %%"} | settings
    for threads in (1, 2, 4):
        _, stock = run(probe, settings, threads, stock=True)
        for workers in ("1", "2", "8"):
            _, own = run(probe, settings | {"WEFT_NUM_WORKERS": workers}, threads)
            if sorted(own.splitlines()) != sorted(stock.splitlines()):
                fail(f"{threads} threads, {workers} workers: {own!r}, stock {stock!r}")


def check_made_up(probe, name, expected, others=None):
    settings = {"OMP_PLACES": name, "HWLOC_SYNTHETIC": SYNTHETIC} | (others or {})
    lines, errors = run(probe, settings, 5)
    if errors:
        fail(f"stderr: {errors!r}")
    found = [[int(cpu) for cpu in line.split(":")[1].split()] for line in lines if line.startswith("place ")]
    if found != expected:
        fail(f"places {found}, expected {expected}")
    check_spread(lines, len(expected))


def check_spread(lines, places):
    """5 members, spread from place 0: each in the first place of a part of its own, if there are enough."""
    members = [line.split(": ", 1)[1] for line in lines if line.startswith("spread ")]
    if len(members) != 5:
        fail(f"{len(members)} members")
    parts = [[int(place) for place in member.split("partition")[1].split()] for member in members]
    if places < 5:
        if any(len(part) != 1 for part in parts):
            fail(f"parts {parts}")
        return
    if [place for part in parts for place in part] != list(range(places)):
        fail(f"the parts do not make up the partition in order: {parts}")
    if {len(part) for part in parts} - {places // 5, places // 5 + 1}:
        fail(f"parts of unlike length: {parts}")
    for member, part in zip(members, parts, strict=True):
        if not member.startswith(f"place {part[0]},"):
            fail(f"{member!r} is not at the beginning of {part}")


def check_unusable(probe, settings, said, left):
    lines, errors = run(probe, settings, 3)
    if len(errors.splitlines()) != 1 or said not in errors:
        fail(f"expected one line with {said!r}, stderr is {errors!r}")
    found = sum(line.startswith("place ") for line in lines)
    if found != left:
        fail(f"{found} places, expected {left}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--probe")
    parser.add_argument("case", nargs="?")
    arguments = parser.parse_args()
    case = arguments.case
    if arguments.list:
        print("\n".join([*SAME_AS_STOCK, *MASKED, *DISPLAYED, *MADE_UP, *UNUSABLE]))
    elif case in (SAME_AS_STOCK | MASKED | DISPLAYED) and not {0, 1} <= os.sched_getaffinity(0):
        print("not run: CPUs 0 and 1 are not both usable")
    elif case in SAME_AS_STOCK:
        compare_with_stock(arguments.probe, SAME_AS_STOCK[case])
    elif case in MASKED:
        compare_with_stock(arguments.probe, MASKED[case], mask={1})
    elif case in DISPLAYED:
        compare_display(arguments.probe, DISPLAYED[case])
    elif case in MADE_UP:
        check_made_up(arguments.probe, *MADE_UP[case])
    elif case in UNUSABLE:
        check_unusable(arguments.probe, *UNUSABLE[case])
    else:
        fail("no such case")


if __name__ == "__main__":
    main()
