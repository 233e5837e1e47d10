"""Environment variables: runs icv_probe with one setting and checks what it prints.

env_test.py --list                  names of the cases, "stock" or "weft" behind each
env_test.py --probe PROGRAM CASE    runs one; the runtime is chosen by LD_LIBRARY_PATH
"""

import argparse
import os
import re
import subprocess
import sys

STATIC, DYNAMIC, GUIDED, AUTO = "1", "2", "3", "4"
DEFAULTS = {
    "dynamic": "0",
    "nested": "0",
    "max_active_levels": "1",
    "thread_limit": "2147483647",
    "schedule": DYNAMIC,
    "monotonic": "0",
    "chunk": "1",
    "max_task_priority": "0",
    "max_teams": "0",
    "teams_thread_limit": "0",
    "default_device": "0",
    "proc_bind": "0",
    "places": "0",
    "allocator": "1",
    "large": "1",
}
BIG_STACK = str(30 << 20)
NESTING_BY_LIST = {"nested": "1", "max_active_levels": "255", "sizes": "2,2,2,2"}

# name: (environment, what differs from DEFAULTS)
GOOD = {
    "none": ({}, {}),
    "threads-5": ({"OMP_NUM_THREADS": "5"}, {"max_threads": "5", "inner_max_threads": "5", "sizes": "5,1,1,1"}),
    "threads-list": (
        {"OMP_NUM_THREADS": "4,3,2"},
        {"max_threads": "4", "inner_max_threads": "3", "sizes": "4,3,2,2", "nested": "1", "max_active_levels": "255"},
    ),
    "threads-list-spaces": (
        {"OMP_NUM_THREADS": " 2, 3 ,4 "},
        {"max_threads": "2", "inner_max_threads": "3", "sizes": "2,3,4,4", "nested": "1", "max_active_levels": "255"},
    ),
    "threads-list-one-level": (
        {"OMP_NUM_THREADS": "4,2", "OMP_MAX_ACTIVE_LEVELS": "1"},
        {"max_threads": "4", "inner_max_threads": "2", "sizes": "4,1,1,1"},
    ),
    "dynamic-true": ({"OMP_DYNAMIC": "true"}, {"dynamic": "1", "sizes": None}),
    "dynamic-case": ({"OMP_DYNAMIC": " TRUE "}, {"dynamic": "1", "sizes": None}),
    "dynamic-false": ({"OMP_DYNAMIC": "false"}, {}),
    "dynamic-0": ({"OMP_DYNAMIC": "0"}, {}),
    "dynamic-on": ({"OMP_DYNAMIC": "On"}, {"dynamic": "1", "sizes": None}),
    "nested-true": ({"OMP_NESTED": "true"}, {"nested": "1", "max_active_levels": "255", "sizes": "2,2,2,2"}),
    "nested-1": ({"OMP_NESTED": "1"}, {"nested": "1", "max_active_levels": "255", "sizes": "2,2,2,2"}),
    "nested-fortran": ({"OMP_NESTED": ".TRUE."}, {"nested": "1", "max_active_levels": "255", "sizes": "2,2,2,2"}),
    "nested-false": ({"OMP_NESTED": "false", "OMP_NUM_THREADS": "2,2"}, {}),
    "levels-3": ({"OMP_MAX_ACTIVE_LEVELS": "3"}, {"nested": "1", "max_active_levels": "3", "sizes": "2,2,2,1"}),
    "levels-0": ({"OMP_MAX_ACTIVE_LEVELS": "0"}, {"max_active_levels": "0", "sizes": "1,1,1,1"}),
    "levels-before-nested": ({"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "1"}, {}),
    "limit-3": (
        {"OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"},
        {"thread_limit": "3", "max_threads": "8", "inner_max_threads": "8", "sizes": "3,1,1,1"},
    ),
    "limit-1": ({"OMP_THREAD_LIMIT": "1"}, {"thread_limit": "1", "sizes": "1,1,1,1"}),
    "schedule-static": ({"OMP_SCHEDULE": "static"}, {"schedule": STATIC, "monotonic": "1", "chunk": "0"}),
    "schedule-static-4": ({"OMP_SCHEDULE": "static,4"}, {"schedule": STATIC, "monotonic": "1", "chunk": "4"}),
    "schedule-dynamic": ({"OMP_SCHEDULE": "dynamic"}, {}),
    "schedule-dynamic-7": ({"OMP_SCHEDULE": "dynamic,7"}, {"chunk": "7"}),
    "schedule-spaces": ({"OMP_SCHEDULE": " dynamic , 5 "}, {"chunk": "5"}),
    "schedule-case": ({"OMP_SCHEDULE": "DYNAMIC,2"}, {"chunk": "2"}),
    "schedule-guided": ({"OMP_SCHEDULE": "guided"}, {"schedule": GUIDED}),
    "schedule-guided-3": ({"OMP_SCHEDULE": "guided,3"}, {"schedule": GUIDED, "chunk": "3"}),
    "schedule-auto": ({"OMP_SCHEDULE": "auto"}, {"schedule": AUTO}),
    "schedule-monotonic": ({"OMP_SCHEDULE": "monotonic:dynamic,3"}, {"monotonic": "1", "chunk": "3"}),
    "schedule-nonmonotonic": ({"OMP_SCHEDULE": "nonmonotonic:guided,2"}, {"schedule": GUIDED, "chunk": "2"}),
    "schedule-modifier-spaces": (
        {"OMP_SCHEDULE": "monotonic : static , 3"},
        {"schedule": STATIC, "monotonic": "1", "chunk": "3"},
    ),
    "priority-12": ({"OMP_MAX_TASK_PRIORITY": "12"}, {"max_task_priority": "12"}),
    "teams-4": ({"OMP_NUM_TEAMS": "4"}, {"max_teams": "4"}),
    "teams-limit": ({"OMP_TEAMS_THREAD_LIMIT": " 3 "}, {"teams_thread_limit": "3"}),
    "device-2": ({"OMP_DEFAULT_DEVICE": "2"}, {"default_device": "2"}),
    "offload-disabled": ({"OMP_TARGET_OFFLOAD": "DISABLED"}, {}),
    "allocator-name": ({"OMP_ALLOCATOR": "omp_const_mem_alloc"}, {"allocator": "3"}),
    "spin": ({"GOMP_SPINCOUNT": "3M"}, {}),
    "spin-infinite": ({"GOMP_SPINCOUNT": "infinity"}, {}),
    "wait-active": ({"OMP_WAIT_POLICY": "active"}, {}),
    "wait-passive": ({"OMP_WAIT_POLICY": "PASSIVE"}, {}),
    "stack-M": ({"OMP_STACKSIZE": "40M"}, {"stack": "1"}),
    "stack-K": ({"OMP_STACKSIZE": "40960K"}, {"stack": "1"}),
    "stack-B": ({"OMP_STACKSIZE": "41943040B"}, {"stack": "1"}),
    "stack-G": ({"OMP_STACKSIZE": "1G"}, {"stack": "1"}),
    "stack-no-unit": ({"OMP_STACKSIZE": "40960"}, {"stack": "1"}),
    "stack-lower-case": ({"OMP_STACKSIZE": "40m"}, {"stack": "1"}),
    "stack-spaces": ({"OMP_STACKSIZE": " 40 M "}, {"stack": "1"}),
}

# Only weft knows these.
GOOD_ON_WEFT = {
    "wait-hybrid": ({"OMP_WAIT_POLICY": "hybrid"}, {}),
    "wait-auto": ({"OMP_WAIT_POLICY": "auto"}, {}),
    # As LLVM's runtime takes them.
    "dynamic-y": ({"OMP_DYNAMIC": "Y"}, {"dynamic": "1", "sizes": None}),
    "nested-n": ({"OMP_NESTED": "n"}, {}),
    "stack-MB": ({"OMP_STACKSIZE": "40Mb"}, {"stack": "1"}),
    "stack-KB": ({"OMP_STACKSIZE": "40960 KB"}, {"stack": "1"}),
    "bind-0": ({"OMP_PROC_BIND": "0", "OMP_PLACES": "{0}"}, {}),
    "bind-1": ({"OMP_PROC_BIND": "1", "OMP_PLACES": "{0}"}, {"proc_bind": "1", "places": "1"}),
    "bind-disabled": ({"OMP_PROC_BIND": "disabled", "OMP_PLACES": "{0}"}, {}),
    "weft-stack": ({"WEFT_STACKSIZE": "40M"}, {"stack": "1"}),
    "weft-stack-spaces": ({"WEFT_STACKSIZE": " 40960 k "}, {"stack": "1"}),
    "weft-stack-wins": ({"OMP_STACKSIZE": "64K", "WEFT_STACKSIZE": "41943040b"}, {"stack": "1"}),
    "allocator-space": ({"OMP_ALLOCATOR": "omp_low_lat_mem_space"}, {"allocator": "-1"}),
    "allocator-traits": (
        {"OMP_ALLOCATOR": "omp_default_mem_space:alignment=1024,pinned=false, fallback = null_fb,pool_size=4096"},
        {"allocator": "-1", "aligned": "1", "large": "0"},
    ),
    "allocator-falls-back": (
        {"OMP_ALLOCATOR": "omp_default_mem_space:pool_size=4096,fallback=allocator_fb,fb_data=omp_const_mem_alloc"},
        {"allocator": "-1"},
    ),
    "threads-of-all-devices": (
        {"OMP_NUM_THREADS_ALL": "7"},
        {},
    ),
    "teams-of-all-devices": ({"OMP_NUM_TEAMS_ALL": "7"}, {"max_teams": "7"}),
    "teams-not-of-all-devices": ({"OMP_NUM_TEAMS_ALL": "7", "OMP_NUM_TEAMS": "3"}, {"max_teams": "3"}),
    "device-mandatory": ({"OMP_TARGET_OFFLOAD": "mandatory"}, {"default_device": "-4"}),
    "device-mandatory-1": ({"OMP_TARGET_OFFLOAD": "mandatory", "OMP_DEFAULT_DEVICE": "1"}, {"default_device": "1"}),
    "weft-workers": ({"WEFT_NUM_WORKERS": "5"}, {}),
    "experiment": ({"WEFT_EXPERIMENT": "Range , own-lists"}, {}),
    "bind-unset": ({"OMP_PROC_BIND": "unset"}, {}),
    "bind-unset-places": ({"OMP_PROC_BIND": " UNSET ", "OMP_PLACES": "{0}"}, {"places": "1"}),
    "bind-all-unset": ({"OMP_PROC_BIND": "unset,unset"}, {**NESTING_BY_LIST}),
    "bind-spread-unset": (
        {"OMP_PROC_BIND": "spread,unset", "OMP_PLACES": "{0}"},
        {"proc_bind": "4", "places": "1", **NESTING_BY_LIST},
    ),
    "bind-unset-close": (
        {"OMP_PROC_BIND": "\tUnset , CLOSE,unset", "OMP_PLACES": "{0}"},
        {"places": "1", **NESTING_BY_LIST},
    ),
}

# Values that make no sense: one line that names variable, value and what was expected; otherwise as if unset.
# (The stock runtime leaves out the value and what was expected.)
BAD = {
    "OMP_NUM_THREADS": ["abc", "0", "-3", "4,,2", "4,", "4 threads", "4194305", "99999999999999999999", ""],
    "OMP_SCHEDULE": ["fast", "dynamic,-1", "dynamic,x", "dynamic,3,4", "monotonic:", "sometimes:static", ""],
    "OMP_DYNAMIC": ["maybe", "2", ""],
    "OMP_NESTED": ["2", "yesterday"],
    "OMP_MAX_ACTIVE_LEVELS": ["-1", "two", ""],
    "OMP_THREAD_LIMIT": ["0", "-1", "1e3"],
    "OMP_STACKSIZE": ["12Q", "big", "-5", "4 MM", ""],
    "OMP_WAIT_POLICY": ["lazy", ""],
    "OMP_DISPLAY_ENV": ["perhaps", "2"],
    "OMP_MAX_TASK_PRIORITY": ["-1", "high"],
    "OMP_NUM_TEAMS": ["0", "-1", "x", ""],
    "OMP_TEAMS_THREAD_LIMIT": ["0", "two"],
    "OMP_DEFAULT_DEVICE": ["-1", "gpu"],
    "OMP_TARGET_OFFLOAD": ["force", "1"],
    "OMP_DISPLAY_AFFINITY": ["2", "maybe"],
    "OMP_ALLOCATOR": [
        "mine",
        "",
        "omp_default_mem_alloc:pinned=true",
        "omp_default_mem_space:",
        "omp_default_mem_space:alignment=3",
        "omp_default_mem_space:alignment=",
        "omp_default_mem_space:colour=red",
        "omp_default_mem_space:pinned=true,",
    ],
    "OMP_PROC_BIND": [
        "maybe",
        "true,close",
        "0,close",
        "close,1",
        "close,",
        "false,spread",
        "",
        "unset,",
        "unset,true",
        "true,unset",
        "unset close",
        "unsettled",
    ],
    "OMP_PLACES": [
        "bad",
        "",
        "{}",
        "{0},",
        "{0}:0",
        "{0",
        "{-1}",
        "{0:2:-1}",
        "{0,1},!{1}",
        "{0:99999}",
        "cores(0)",
        "cores(x)",
        "cores(1",
        "threads 3",
        "{0}:2:x",
    ],
    "GOMP_CPU_AFFINITY": ["x", "1-0", "", "0-3:0", "-1", "0;1"],
    "GOMP_SPINCOUNT": ["many", "-1", "5q", ""],
    "WEFT_EXPERIMENT": ["everything", "", "range,", "range runs"],
    "WEFT_NUM_WORKERS": ["none", "0", "-2", "1000000"],
    "WEFT_STACKSIZE": ["x", "-1M", "15K", "40MM", "2T"],
}

# What this version does not use is named, unless it says that there is nothing to do.
NOT_USED = {
    "OMP_DEBUG": {"enabled": 1, "disabled": 0},
    "OMP_AVAILABLE_DEVICES": {"*": 1},
    "OMP_THREADS_RESERVE": {"2": 1},
    "GOMP_DEBUG": {"1": 1},
}

DISPLAYED = {
    "display-true": {"OMP_DISPLAY_ENV": "true"},
    "display-verbose": {"OMP_DISPLAY_ENV": "VERBOSE"},
    "display-settings": {
        "OMP_DISPLAY_ENV": "true",
        "OMP_NUM_THREADS": "4,3",
        "OMP_SCHEDULE": "guided,5",
        "OMP_STACKSIZE": "3M",
        "OMP_DYNAMIC": "true",
        "OMP_THREAD_LIMIT": "77",
        "OMP_MAX_ACTIVE_LEVELS": "4",
        "OMP_WAIT_POLICY": "active",
    },
    "display-schedules": {"OMP_DISPLAY_ENV": "true", "OMP_SCHEDULE": "monotonic:dynamic,3"},
    "display-static": {"OMP_DISPLAY_ENV": "true", "OMP_SCHEDULE": "static"},
    "display-places": {"OMP_DISPLAY_ENV": "verbose", "OMP_PLACES": "{0:2},{1},{0}", "OMP_PROC_BIND": "spread,close"},
    "display-others": {
        "OMP_DISPLAY_ENV": "true",
        "OMP_NUM_TEAMS": "3",
        "OMP_TEAMS_THREAD_LIMIT": "5",
        "OMP_DEFAULT_DEVICE": "2",
        "OMP_MAX_TASK_PRIORITY": "9",
        "OMP_AFFINITY_FORMAT": "%L:%n",
        "OMP_ALLOCATOR": "omp_large_cap_mem_alloc",
        "OMP_TARGET_OFFLOAD": "disabled",
    },
    "display-spin": {"OMP_DISPLAY_ENV": "verbose", "GOMP_SPINCOUNT": "3M"},
    "display-spin-infinite": {"OMP_DISPLAY_ENV": "verbose", "GOMP_SPINCOUNT": "infinite"},
    "display-cpus": {"OMP_DISPLAY_ENV": "verbose", "GOMP_CPU_AFFINITY": "0"},
    "display-false": {"OMP_DISPLAY_ENV": "false"},
}


# What the stock runtime does not know.
DISPLAYED_ON_WEFT = {
    "display-mandatory": (
        {"OMP_DISPLAY_ENV": "true", "OMP_TARGET_OFFLOAD": "mandatory"},
        {"OMP_DEFAULT_DEVICE": "-4", "OMP_TARGET_OFFLOAD": "MANDATORY"},
    ),
    "display-unset": (
        {"OMP_DISPLAY_ENV": "true", "OMP_PROC_BIND": "spread,unset", "OMP_PLACES": "{0}"},
        {"OMP_PROC_BIND": "SPREAD,UNSET", "OMP_PLACES": "{0}"},
    ),
    "display-unset-alone": (
        {"OMP_DISPLAY_ENV": "true", "OMP_PROC_BIND": "unset"},
        {"OMP_PROC_BIND": "UNSET", "OMP_PLACES": ""},
    ),
}


def bad_cases():
    for variable, values in BAD.items():
        for number, value in enumerate(values):
            yield f"bad-{variable}-{number}", variable, value


def run(probe, settings, stack=False, **kwargs):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "WEFT_"))}
    environment["OMP_NUM_THREADS"] = "2"
    environment.update(kwargs.get("base", {}))
    for name, value in settings.items():
        environment[name] = value
    if kwargs.get("stock"):
        for name in ("LD_LIBRARY_PATH", "CHECK_RUNTIME"):
            environment.pop(name, None)
    command = [probe] + ([BIG_STACK] if stack else [])
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    values = dict(line.split("=", 1) for line in result.stdout.splitlines())
    return result.returncode, values, result.stderr


def fail(text):
    sys.exit(f"{sys.argv[-1]}: {text}")


def check_good(probe, settings, changes):
    expected = DEFAULTS | {"max_threads": "2", "inner_max_threads": "2", "sizes": "2,1,1,1"} | changes
    status, values, errors = run(probe, settings, stack="stack" in changes)
    if status != 0 or errors != "":
        fail(f"exit status {status}, stderr: {errors!r}")
    for name, value in expected.items():
        if value is not None and values.get(name) != value:
            fail(f"{settings}: {name} is {values.get(name)}, expected {value}")


def check_bad(probe, variable, value):
    base = {} if variable != "OMP_NUM_THREADS" else {"OMP_MAX_ACTIVE_LEVELS": "1"}
    status, values, errors = run(probe, {variable: value}, base=base)
    lines = errors.splitlines()
    if status != 0:
        fail(f"exit status {status}")
    if len(lines) != 1:
        fail(f"{len(lines)} lines on stderr, expected one: {errors!r}")
    line = lines[0]
    if f"{variable}={value}" not in line and not (variable in line and f"'{value}'" in line):
        fail(f"the line does not name variable and value: {line!r}")
    if not re.search(r"expected \S+", line):
        fail(f"the line does not say what was expected: {line!r}")
    expected = dict(DEFAULTS)
    if variable != "OMP_NUM_THREADS":
        expected |= {"max_threads": "2", "sizes": "2,1,1,1"}
    for name, wanted in expected.items():
        if values.get(name) != wanted:
            fail(f"{variable}={value!r}: {name} is {values.get(name)}, not the default {wanted}")


def check_not_used(probe, variable):
    for value, lines in NOT_USED[variable].items():
        status, _, errors = run(probe, {variable: value})
        if status != 0 or len(errors.splitlines()) != lines:
            fail(f"{variable}={value}: exit status {status}, stderr {errors!r}")
        if lines and f"{variable}={value}: " not in errors:
            fail(f"the line does not name variable and value: {errors!r}")


def display(errors):
    """The displayed settings as a list of (name, value)."""
    lines = errors.splitlines()
    if lines[:2] != ["", "OPENMP DISPLAY ENVIRONMENT BEGIN"] or lines[-1] != "OPENMP DISPLAY ENVIRONMENT END":
        fail(f"first or last lines of the display wrong: {lines}")
    settings = []
    for line in lines[2:-1]:
        match = re.fullmatch(r"  (\w+) = '(.*)'", line)
        if match is None:
            sys.exit(f"{sys.argv[-1]}: not a line of the display: {line!r}")
        settings.append(match.groups())
    return settings


def check_display(probe, settings):
    _, _, errors = run(probe, settings)
    _, _, stock_errors = run(probe, settings, stock=True)
    if stock_errors == "":
        if errors != "":
            fail(f"a display that nobody asked for: {errors!r}")
        return
    shown, stock = display(errors), display(stock_errors)
    ours = [name for name, _ in shown if not name.startswith("WEFT_")]
    theirs = [name for name, _ in stock]
    if ours != theirs:
        fail(f"names differ from the stock runtime's: {ours} and {theirs}")
    own_defaults = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} - settings.keys()
    for name, value in stock:
        if name not in own_defaults and dict(shown)[name] != value:
            fail(f"{name} = '{dict(shown)[name]}', stock '{value}'")


def check_display_on_weft(probe, settings, expected):
    _, _, errors = run(probe, settings)
    shown = dict(display(errors))
    for name, value in expected.items():
        if shown[name] != value:
            fail(f"{name} = '{shown[name]}', expected '{value}'")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--probe")
    parser.add_argument("case", nargs="?")
    arguments = parser.parse_args()
    if arguments.list:
        for name in GOOD:
            print(f"{name} stock")
        for name in [*GOOD_ON_WEFT, *DISPLAYED, *DISPLAYED_ON_WEFT, *NOT_USED, *(case[0] for case in bad_cases())]:
            print(f"{name} weft")
        return
    case, probe = arguments.case, arguments.probe
    bad = {name: (variable, value) for name, variable, value in bad_cases()}
    if case in GOOD:
        check_good(probe, *GOOD[case])
    elif case in GOOD_ON_WEFT:
        check_good(probe, *GOOD_ON_WEFT[case])
    elif case in DISPLAYED:
        check_display(probe, DISPLAYED[case])
    elif case in DISPLAYED_ON_WEFT:
        check_display_on_weft(probe, *DISPLAYED_ON_WEFT[case])
    elif case in NOT_USED:
        check_not_used(probe, case)
    elif case in bad:
        check_bad(probe, *bad[case])
    else:
        fail("no such case")


if __name__ == "__main__":
    main()
