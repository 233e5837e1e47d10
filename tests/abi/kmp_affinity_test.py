"""KMP_AFFINITY and KMP_HW_SUBSET: runs place_probe and checks where the places and the members are.

kmp_affinity_test.py PROGRAM             on topologies that hwloc makes up, and on this machine with the drop-in
kmp_affinity_test.py PROGRAM LIBOMP      compares this machine's with the libomp.so.5 in that folder (PROGRAM: by clang)
"""

import os
import subprocess
import sys

PROGRAM = sys.argv[1]
PREFIXES = ("OMP_", "GOMP_", "WEFT_", "HWLOC_", "KMP_")
# 2 packages of 2 L3 caches of 2 cores of 2 hardware threads.
SYNTHETIC = "pack:2 [numa] l3:2 core:2 pu:2"


def run(settings, threads, folder=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(PREFIXES)} | settings
    if folder is not None:
        environment["LD_LIBRARY_PATH"] = folder
        environment.pop("CHECK_RUNTIME", None)
    result = subprocess.run([PROGRAM, str(threads)], env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{settings}: exit status {result.returncode}: {result.stderr!r}")
    return result.stdout.splitlines(), result.stderr


def places(lines):
    return [[int(cpu) for cpu in line.split(":")[1].split()] for line in lines if line.startswith("place ")]


def members(lines):
    return [
        int(line.split(": place ")[1].split(",")[0])
        for line in lines
        if line.startswith("plain ") and line[6].isdigit()
    ]


def initial(lines):
    return int(next(line for line in lines if line.startswith("serial ")).split(": place ")[1].split(",")[0])


def check(settings, expected, at=None, said="", threads=5):
    lines, errors = run(settings, threads)
    if places(lines) != expected:
        sys.exit(f"{settings}: places {places(lines)}, expected {expected}")
    if at is not None and members(lines) != at:
        sys.exit(f"{settings}: members at {members(lines)}, expected {at}")
    if (said == "") != (errors == "") or said not in errors or len(errors.splitlines()) > 1:
        sys.exit(f"{settings}: expected a line with {said!r}, stderr is {errors!r}")


def pairs(firsts):
    return [[first, first + 1] for first in firsts]


def check_made_up():
    def made_up(expected, at=None, said="", threads=5, **variables):
        check({"HWLOC_SYNTHETIC": SYNTHETIC} | variables, expected, at, said, threads)

    every = range(16)
    around = [0, 1, 2, 3, 4]
    made_up(pairs([cpu & ~1 for cpu in every]), around, KMP_AFFINITY="compact")
    made_up([[cpu] for cpu in every], around, KMP_AFFINITY="granularity=fine,compact")
    scattered = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]
    made_up([[cpu] for cpu in scattered], around, KMP_AFFINITY="granularity=thread,scatter")
    made_up(pairs([cpu & ~1 for cpu in scattered]), around, KMP_AFFINITY="Scatter , granularity=core")
    permuted = [*range(0, 16, 2), *range(1, 16, 2)]
    made_up([[cpu] for cpu in permuted], [3, 4, 5, 6, 7], KMP_AFFINITY="granularity=fine,compact,1,3")
    made_up([[cpu] for cpu in permuted], [15, 0, 1, 2, 3], KMP_AFFINITY="granularity=fine,compact,1,31")
    made_up([[cpu] for cpu in every], [6, 7, 8, 9, 10], KMP_AFFINITY="granularity=fine,logical,3")
    made_up([[cpu] for cpu in permuted], around, KMP_AFFINITY="granularity=fine,physical")
    made_up([[cpu] for cpu in permuted], [2, 3, 4, 5, 6], KMP_AFFINITY="physical,1,granularity=fine")
    made_up(pairs(range(0, 16, 2)), around, KMP_AFFINITY="noduplicates,compact")
    made_up([[*range(8)], [*range(8, 16)]], [0, 1, 0, 1, 0], KMP_AFFINITY="noduplicates,granularity=socket,compact")
    made_up([[*range(n, n + 4)] for n in (0, 4, 8, 12)], KMP_AFFINITY="noduplicates,granularity=ll_cache,compact")
    # As many to each core as can be, the first ones one more.
    many = [0] * 3 + [1] * 3 + [2] * 2 + [3] * 2 + [4] * 2 + [5] * 2 + [6] * 2 + [7] * 2
    made_up(pairs(range(0, 16, 2)), many, threads=18, KMP_AFFINITY="balanced")
    fine = [0, 1, 0, 2, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    made_up([[cpu] for cpu in every], fine, threads=18, KMP_AFFINITY="granularity=fine,balanced")
    made_up([[cpu] for cpu in every], [0, 2, 4], threads=3, KMP_AFFINITY="granularity=fine,balanced")

    made_up([[8], [10], [12], [14]], KMP_HW_SUBSET="1s@1,1t", OMP_PLACES="cores")
    made_up([[2], [3], [4], [5]], KMP_HW_SUBSET="1Sx2C@1x2T", KMP_AFFINITY="granularity=fine,compact")
    made_up([[5], [13]], KMP_HW_SUBSET="1ll@1,1c,1t@1", OMP_PLACES="threads")
    made_up([[2]], KMP_HW_SUBSET=":1c@1,1t", OMP_PLACES="threads")
    made_up([[4, 5], [6, 7]], KMP_HW_SUBSET="1s,*c@2", OMP_PLACES="cores")
    for bad in ("bogus", "1s,1s", "0c", "1c@", "1d", "1c,", "c", "1c@-1", ""):
        made_up(
            pairs(range(0, 16, 2)), said="KMP_HW_SUBSET=" + bad + ": expected", KMP_HW_SUBSET=bad, OMP_PLACES="cores"
        )
    for many in ("3s", "5c", "2t@1", "1c@4", "1s,*c@4"):
        made_up(
            pairs(range(0, 16, 2)),
            said=f"KMP_HW_SUBSET={many}: the machine, as far as the process may use it, has fewer",
            KMP_HW_SUBSET=many,
            OMP_PLACES="cores",
        )


def check_here():
    two = [[0], [1]]
    check(
        {"KMP_AFFINITY": "explicit,proclist=[1,0,{0,1}],verbose"}, [[1], [0], [0, 1]], [0, 1, 2, 0, 1], "{1},{0},{0:2}"
    )
    check({"KMP_AFFINITY": "explicit,proclist=[0,1999]"}, [[0]], None, "KMP_AFFINITY: of 2 places, 1 ")
    check({"KMP_AFFINITY": "nowarnings,explicit,proclist=[0,1999]"}, [[0]])
    check(
        {"KMP_AFFINITY": "none", "OMP_PLACES": "{0},{1}"}, [], None, "OMP_PLACES: not used, since KMP_AFFINITY is set"
    )
    both = {"KMP_AFFINITY": "proclist=[0,1]", "OMP_PROC_BIND": "false", "GOMP_CPU_AFFINITY": "1"}
    check(both, two, None, "OMP_PROC_BIND, GOMP_CPU_AFFINITY: not used, since KMP_AFFINITY is set")
    check({"KMP_AFFINITY": "verbose", "OMP_PLACES": "{0},{1}"}, two, None, "KMP_AFFINITY: the places are {0},{1}")
    check({"KMP_AFFINITY": "verbose"}, [], None, "KMP_AFFINITY: threads are not bound")
    check({"KMP_AFFINITY": "noverbose,respect,noreset,warnings", "OMP_PLACES": "{0},{1}"}, two)
    for bad in (
        "bogus",
        "compact,scatter",
        "compact,1,2,3",
        "logical,1,2",
        "1,compact",
        "granularity=big,compact",
        "explicit",
        "compact,-1",
        "proclist=[0",
        "proclist=[1-0]",
        "proclist=[{}]",
        "compact,",
        "proclist=[0:0]",
        "proclist=[2048]",
    ):
        check({"KMP_AFFINITY": bad, "OMP_PLACES": "{0},{1}"}, two, None, f"KMP_AFFINITY={bad}: expected ")


def compare_with_libomp(folder):
    alike = [
        {"KMP_AFFINITY": words}
        for words in (
            "compact",
            "scatter",
            "compact,0,1",
            "scatter,0,1",
            "compact,1,3",
            "granularity=socket,compact",
            "noduplicates,granularity=socket,compact",
            "granularity=fine,compact,1,0",
            "explicit,proclist=[1,0,{0,1}]",
            "proclist=[1,0],explicit",
            "explicit,proclist=[0-1,1-0:-1]",
            "norespect,compact",
            "logical",
            "logical,1",
            "physical",
            "granularity=fine,physical,1",
        )
    ]
    alike += [
        {"KMP_HW_SUBSET": words, "OMP_PLACES": "threads"} for words in ("1c", "1c@1", "1s,1c,1t", ":1t", "*s,1c@1")
    ]
    for settings in alike:
        for threads in (1, 2, 3, 5, 8):
            theirs, _ = run(settings, threads, folder)
            for workers in ("1", "2", "8"):
                mine, errors = run(settings | {"WEFT_NUM_WORKERS": workers}, threads)
                for what in (places, members, initial):
                    if "OMP_PLACES" in settings and what is members:
                        continue
                    if what(mine) != what(theirs):
                        sys.exit(f"{settings}, {threads} threads: {what.__name__} {what(mine)}, libomp {what(theirs)}")
                if errors:
                    sys.exit(f"{settings}: {errors!r}")


if not {0, 1} <= os.sched_getaffinity(0):
    print("not run: CPUs 0 and 1 are not both usable")
elif len(sys.argv) > 2:
    compare_with_libomp(sys.argv[2])
else:
    check_made_up()
    check_here()
