#!/usr/bin/env python3
"""Runs seeds of chaos under a named environment, one after the other, and ends with a line that counts them.

    run_seeds.py --list               the environments of `make stress`
    run_seeds.py --program PROGRAM [--dropin FOLDER] [--limit SECONDS] [--keep-hung] ENVIRONMENT FIRST COUNT [OPTION...]

The name of an environment is one or more of the names in PARTS, with dots between: klt-switch.w1. Further options are
chaos's own, such as --gentle. Each seed that fails is a line, and another with the command that runs it again.
--keep-hung leaves the first process that does not end to a debugger. The exit status is 1 if a seed failed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

SLOW = {"WEFT_WATCHDOG_SLICE": "10000000"}
CORES = {"OMP_PLACES": "cores"}


@dataclass
class Environment:
    """Variables to set, options of chaos's, and whether it has one CPU, or the stock runtime."""

    variables: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    one_cpu: bool = False
    stock: bool = False
    name: str = ""


PARTS = {
    "stock": Environment(stock=True),
    "default": Environment(),
    "1cpu": Environment(one_cpu=True),
    **{f"w{workers}": Environment({"WEFT_NUM_WORKERS": str(workers)}) for workers in (1, 2, 3, 8, 64)},
    # The watchdog comes late: what needs it would take for ever.
    "slow": Environment(SLOW, ["--gentle"]),
    "hasty": Environment({"WEFT_WATCHDOG_SLICE": "200"}),
    "active": Environment({"OMP_WAIT_POLICY": "active"}),
    "passive": Environment({"OMP_WAIT_POLICY": "passive"}),
    "spread": Environment({**CORES, "OMP_PROC_BIND": "spread"}),
    "close": Environment({**CORES, "OMP_PROC_BIND": "close"}),
    **{
        kind: Environment({"WEFT_PREEMPT": kind, "WEFT_PREEMPT_INTERVAL": "200"})
        for kind in ("signal-yield", "klt-switch")
    },
}

EVERY_NIGHT = [
    *["stock", "stock.1cpu"],
    *["default", "1cpu", "w1", "w2", "w3", "w8", "w64"],
    *["hasty", "hasty.w8", "slow", "slow.w1", "slow.w3", "slow.w8", "slow.spread"],
    *["active", "active.w1", "passive", "passive.w1"],
    *["spread", "spread.w1", "spread.w8", "close", "close.w8"],
    *["signal-yield", "signal-yield.w8", "klt-switch", "klt-switch.w1", "klt-switch.w8", "klt-switch.spread"],
]

MOST_HUNG = 5  # then it gives up


def find_environment(name: str) -> Environment:
    """All parts of the name together."""
    whole = Environment(name=name)
    for part in name.split("."):
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"'{part}' is none of {', '.join(PARTS)}")
        whole.variables |= PARTS[part].variables
        whole.options += PARTS[part].options
        whole.one_cpu |= PARTS[part].one_cpu
        whole.stock |= PARTS[part].stock
    return whole


def command_for(environment: Environment, program: str, dropin: Path, options: list[str]) -> list[str]:
    """All but the seed: what is to be typed to see the same again."""
    variables = dict(environment.variables)
    if not environment.stock:
        folder = str(dropin.resolve())
        variables |= {"LD_PRELOAD": f"{folder}/libgomp.so.1", "LD_LIBRARY_PATH": folder, "CHECK_RUNTIME": folder}
    command = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if environment.one_cpu else []
    command += ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
    return [*command, program, *environment.options, *options]


def bare_environment() -> dict[str, str]:
    ours = ("OMP_", "GOMP_", "KMP_", "WEFT_", "LD_PRELOAD", "LD_LIBRARY_PATH", "CHECK_RUNTIME")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def cpu_seconds(pid: int) -> float:
    """User's and system's time of a process that runs."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Outcome:
    failure: str = ""  # empty: it ended as it should
    hung: bool = False


def run(command: list[str], limit: float, keep_hung: bool) -> Outcome:
    process = subprocess.Popen(
        command,
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        hung = f"did not end in {limit:.0f} s, and used {cpu_seconds(process.pid):.1f} s of CPUs"
        if keep_hung:
            print(f"process {process.pid} {hung}; it is left for a debugger", flush=True)
            sys.exit(1)
        os.killpg(process.pid, signal.SIGKILL)  # with its children
        _, errors = process.communicate()
        return Outcome(f"{hung}; {errors.strip()[-1000:]}".rstrip("; "), hung=True)
    if process.returncode or errors:
        return Outcome(f"status {process.returncode}; {errors.strip()[-1000:]}".rstrip("; "))
    return Outcome()


def read_arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description="Runs seeds of chaos under a named environment.",
        epilog=f"An environment is one or more of these, with dots between: {' '.join(PARTS)}",
        allow_abbrev=False,
    )
    parser.add_argument("--list", action="store_true", help="print the environments of `make stress`, and end")
    parser.add_argument("--program", help="where chaos is")
    parser.add_argument("--dropin", type=Path, metavar="FOLDER", help="where the drop-in libgomp.so.1 is")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for a seed (60)")
    parser.add_argument("--keep-hung", action="store_true", help="leave a process that does not end to a debugger")
    parser.add_argument("environment", nargs="?", type=find_environment, metavar="ENVIRONMENT")
    parser.add_argument("first", nargs="?", type=int, metavar="FIRST", help="the first seed")
    parser.add_argument("count", nargs="?", type=int, metavar="COUNT", help="how many")
    arguments, options = parser.parse_known_args()
    if arguments.list:
        print("\n".join(EVERY_NIGHT))
        sys.exit(0)
    if arguments.program is None or arguments.count is None:
        parser.error("--program, ENVIRONMENT, FIRST and COUNT must be there")
    if arguments.count < 1:
        parser.error("COUNT must be 1 at least")
    if arguments.dropin is None and not arguments.environment.stock:
        parser.error(f"{arguments.environment.name} needs --dropin")
    return arguments, options


def main() -> int:
    arguments, options = read_arguments()
    environment = arguments.environment
    command = command_for(environment, arguments.program, arguments.dropin, options)
    start = time.monotonic()
    took: list[tuple[float, int]] = []
    failed = hung = 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        began = time.monotonic()
        outcome = run([*command, str(seed)], arguments.limit, arguments.keep_hung)
        took.append((time.monotonic() - began, seed))
        if outcome.failure:
            print(f"FAILED {environment.name}, seed {seed}: {outcome.failure}")
            print(f"  {shlex.join([*command, str(seed)])}", flush=True)
        failed += bool(outcome.failure)
        hung += outcome.hung
        if hung == MOST_HUNG:
            print(f"gave up, because {hung} seeds did not end")
            break
    seconds, slowest = max(took)
    print(
        f"{environment.name}: {len(took)} of {arguments.count} seeds from {arguments.first} on, {failed} failed, "
        f"{time.monotonic() - start:.0f} s; the slowest, {slowest}, took {seconds:.1f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
