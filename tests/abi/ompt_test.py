"""OMPT: ompt_test.py CASE ...

events PROGRAM TOOL | settings PROGRAM TOOL | teams GCC CLANG TOOL | fork PROGRAM TOOL | archer RACE CLEAN ARCHER.
"""

import os
import re
import subprocess
import sys

COUNTED = r"^witness: threads (\d+) regions 16 members 50 tasks 14 pairs [0-3] cancels 0\n$"


def run(program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "TSAN_"))}
    return subprocess.run([program], env=environment | settings, capture_output=True, text=True, timeout=120)


def expect(what: str, result: subprocess.CompletedProcess[str], stdout: str, stderr: str) -> str:
    if result.returncode != 0:
        sys.exit(f"{what}: exit status {result.returncode}: {result.stdout!r} {result.stderr!r}")
    if not re.search(stdout, result.stdout) or not re.search(stderr, result.stderr):
        sys.exit(f"{what}: expected {stdout!r} and {stderr!r}, got {result.stdout!r} and {result.stderr!r}")
    return result.stderr


def events(program: str, tool: str) -> None:
    for workers in ("1", "2", "8", "64"):
        said = expect(
            f"{workers} workers",
            run(program, OMP_TOOL_LIBRARIES=tool, WEFT_NUM_WORKERS=workers),
            r"^304\n$",
            COUNTED,
        )
        threads = int(re.findall(r"threads (\d+)", said)[0])
        if not 6 <= threads <= 12:  # 4 of the outermost team, and 2 for each of the inner ones that are open at a time
            sys.exit(f"{workers} workers: {threads} threads")


def settings(program: str, tool: str) -> None:
    none = r"^-2\n$"
    expect("none", run(program), none, r"^$")
    expect("disabled", run(program, OMP_TOOL="disabled", OMP_TOOL_LIBRARIES=tool), none, r"^$")
    expect("empty", run(program, OMP_TOOL="", OMP_TOOL_LIBRARIES="", OMP_TOOL_VERBOSE_INIT=""), none, r"^$")
    expect("not verbose", run(program, OMP_TOOL_VERBOSE_INIT="disabled"), none, r"^$")
    expect("enabled", run(program, OMP_TOOL="ENABLED", OMP_TOOL_LIBRARIES=tool), r"^304\n$", COUNTED)
    expect("refuses", run(program, WITNESS_REFUSES="1", OMP_TOOL_LIBRARIES=tool), none, r"^$")
    expect("creates", run(program, WITNESS_CREATES="1", OMP_TOOL_LIBRARIES=tool), r"^304\n$", COUNTED)
    expect("preloaded", run(program, LD_PRELOAD=tool), r"^304\n$", COUNTED)
    said = expect(
        "missing", run(program, OMP_TOOL_LIBRARIES="/no/such.so"), none, r"^weft: OMP_TOOL_LIBRARIES: /no/such"
    )
    if said.count("\n") != 1:
        sys.exit(f"missing: more than a line: {said!r}")
    expect(
        "the second",
        run(program, OMP_TOOL_LIBRARIES=f"/no/such.so:{tool}"),
        r"^304\n$",
        r"^weft: OMP_TOOL_LIBRARIES: .*\nwitness: threads",
    )
    bad = r"^weft: OMP_TOOL=maybe: expected enabled or disabled; using the default enabled\n"
    expect("bad", run(program, OMP_TOOL="maybe", OMP_TOOL_LIBRARIES=tool), r"^304\n$", bad + "witness")
    log = [
        "----- START LOGGING OF TOOL REGISTRATION -----",
        "Search for OMP tool in current address space... Failed.",
        "Searching tool libraries...",
        f"OMP_TOOL_LIBRARIES = {tool}",
        f"Opening {tool}... Success. ",
        f"Searching for ompt_start_tool in {tool}... Success. ",
        "Tool was started and is using the OMPT interface.",
        "----- END LOGGING OF TOOL REGISTRATION -----",
    ]
    said = expect(
        "verbose",
        run(program, OMP_TOOL_VERBOSE_INIT="stderr", OMP_TOOL_LIBRARIES=tool),
        r"^304\n$",
        r"witness: threads",
    )
    if said.split("\n")[: len(log)] != log:
        sys.exit(f"verbose: {said!r}")
    expect("verbose, none", run(program, OMP_TOOL_VERBOSE_INIT="stderr"), none, r"No OMP tool loaded\.\n-----")
    expect(
        "verbose to nowhere",
        run(program, OMP_TOOL_VERBOSE_INIT="/no/such/folder/log"),
        none,
        r"^weft: OMP_TOOL_VERBOSE_INIT=/no/such/folder/log: expected .*\n$",
    )


def teams(by_gcc: str, by_clang: str, tool: str) -> None:
    """LLVM's runtime opens a region of its own in each team, and its tools know that."""
    for program, regions, members in ((by_gcc, 4, 10), (by_clang, 7, 13)):
        counted = rf"^witness: threads \d+ regions {regions} members {members} tasks 6 pairs 0 cancels 0\n$"
        for workers in ("1", "2", "8", "64"):
            expect(
                f"{workers} workers", run(program, OMP_TOOL_LIBRARIES=tool, WEFT_NUM_WORKERS=workers), r"^$", counted
            )
        expect("no tool", run(program, OMP_TOOL_LIBRARIES="/no/such.so"), r"^$", r"^weft: OMP_TOOL_LIBRARIES: ")
        expect("refuses", run(program, WITNESS_REFUSES="1", OMP_TOOL_LIBRARIES=tool), r"^$", r"^$")


def fork(program: str, tool: str) -> None:
    """The child's line comes first, since the parent waits for it."""
    nothing = "regions 0 members 0 tasks 0 pairs 0 cancels 0"
    of_parent = "regions 3 members 9 tasks 1 pairs 0 cancels 0"
    counted = rf"^witness: threads 0 {nothing}\nwitness: threads 4 {of_parent}\n$"
    for workers in ("1", "2", "8", "64"):
        expect(f"{workers} workers", run(program, OMP_TOOL_LIBRARIES=tool, WEFT_NUM_WORKERS=workers), r"^$", counted)


def archer(race: str, clean: str, library: str) -> None:
    options = {"OMP_TOOL_LIBRARIES": library, "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}
    for workers in ("1", "2", "8"):
        found = run(race, WEFT_NUM_WORKERS=workers, **options)
        if found.returncode == 0 or "WARNING: ThreadSanitizer: data race" not in found.stderr:
            sys.exit(f"{workers} workers: the race is not found: {found.stderr!r}")
        expect(f"{workers} workers, clean", run(clean, WEFT_NUM_WORKERS=workers, **options), r"^fine\n$", r"^$")
    expect("places, clean", run(clean, OMP_PLACES="threads", **options), r"^fine\n$", r"^$")


CASES = {"events": events, "settings": settings, "teams": teams, "fork": fork, "archer": archer}
CASES[sys.argv[1]](*sys.argv[2:])
