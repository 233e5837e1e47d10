#!/usr/bin/env python3
"""ctl_test.py WEFT PROGRAM: `weft ctl` on processes of PROGRAM (ctl.c), and on such as do not run on weft."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WEFT, PROGRAM = sys.argv[1:3]
NOT_ON_WEFT = "weft: ctl: process {} does not run on weft, has not come to use it yet, or was started with WEFT_CTL=off"
wrong: list[str] = []


def ctl(arguments: list[str], user: int | None = None) -> subprocess.CompletedProcess[str]:
    command = [WEFT, "ctl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, user=user, group=user)


# Bug: one answer was all. The command waits 2 s for it, and 1 s for workers that run something still; the kernel may
# run none of the process's threads meanwhile.
def may_be_kept(ran: subprocess.CompletedProcess[str]) -> bool:
    return "does not answer" in ran.stderr or "still at work" in ran.stdout


def expect(arguments: list[str], status: int, text: str, user: int | None = None) -> None:
    """What `weft ctl ARGUMENTS` says: a line on standard output if it worked, on standard error if not."""
    expected = (status, text + "\n", "") if status == 0 else (status, "", text + "\n")
    until = time.monotonic() + 60
    while True:
        ran = ctl(arguments, user)
        as_expected = (ran.returncode, ran.stdout, ran.stderr) == expected
        if as_expected or not may_be_kept(ran) or time.monotonic() > until:
            break
    if not as_expected:
        wrong.append(f"ctl {' '.join(arguments)}: {ran.returncode}, {ran.stdout!r}, {ran.stderr!r}; not {text!r}")


def can_be_run_by_others() -> bool:
    """Whether other users may look into the folders on the way to the command: not into those of root's home, say."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in Path(WEFT).resolve().parents)


@contextmanager
def started(mode: str = "", workers: str = "4") -> Iterator[subprocess.Popen[str]]:
    """A process that has said its first line."""
    command = [PROGRAM, *([mode] if mode else [])]
    environment = dict(os.environ, WEFT_NUM_WORKERS=workers)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None and process.stdin is not None
    process.stdout.readline()
    try:
        yield process
        process.stdin.close()
        if process.wait(timeout=120) != 0:
            wrong.append(f"{' '.join(command)}: status {process.returncode}")
    finally:
        process.kill()
        process.wait()


def check_a_running_program() -> None:
    with started() as process:
        pid = str(process.pid)
        expect([pid, "status"], 0, "4 of 4 workers are active")
        expect([pid, "workers=2"], 0, "2 of 4 workers are active")
        expect([pid, "status"], 0, "2 of 4 workers are active")
        expect([pid, "workers=1"], 0, "1 of 4 workers is active")
        text = "4 of 4 workers are active; it has no more, though 999999 were asked for"
        expect([pid, "workers=999999"], 0, text)
        expect([pid, "workers=3"], 0, "3 of 4 workers are active")
        expect([pid, "workers=all"], 0, "4 of 4 workers are active")
        if os.getuid() == 0 and can_be_run_by_others():
            expect([pid, "workers=1"], 1, f"weft: ctl: process {pid} belongs to another user", user=65534)
        threads = [path.name for path in Path(f"/proc/{pid}/task").iterdir() if path.name != pid]
        for thread in threads[:1]:
            expect([thread, "status"], 1, f"weft: ctl: there is no process {thread}")
    expect([pid, "status"], 1, f"weft: ctl: there is no process {pid}")


def check_that_nobody_is_woken() -> None:
    for mode in ("sleeping", "watched"):
        with started(mode) as process:
            pid = str(process.pid)
            for _ in range(10):
                expect([pid, "status"], 0, "4 of 4 workers are active")


# Bug: what computed on was interrupted once, and never left: nobody waited for its worker, nor was its slice over.
def check_that_what_computes_stops() -> None:
    with started("computing") as process:
        pid = str(process.pid)
        ctl([pid, "workers=1"])
        until = time.monotonic() + 60
        while may_be_kept(ran := ctl([pid, "status"])) and time.monotonic() < until:
            time.sleep(0.1)
        said = ran.stdout
        if said != "1 of 4 workers is active\n":
            wrong.append(f"units that compute, a minute after workers=1: {said!r}")


def check_others() -> None:
    with started("late") as process:
        assert process.stdin is not None and process.stdout is not None
        pid = str(process.pid)
        expect([pid, "workers=1"], 1, NOT_ON_WEFT.format(pid))
        process.stdin.write("go\n")
        process.stdin.flush()
        process.stdout.readline()
        expect([pid, "workers=1"], 0, "1 of 4 workers is active")
    with started("deaf") as process:
        pid = str(process.pid)
        reason = "it has taken SIGURG, but no answer has come"
        expect([pid, "workers=1"], 1, f"weft: ctl: process {pid} does not answer: {reason}")
    sleeper = subprocess.Popen(["sleep", "30"])
    expect([str(sleeper.pid), "workers=1"], 1, NOT_ON_WEFT.format(sleeper.pid))
    if sleeper.poll() is not None:
        wrong.append("a process that is not weft's did not survive")
    sleeper.kill()
    sleeper.wait()


def check_commands() -> None:
    expected = "expected status, workers=N (N from 1 on) or workers=all"
    for what in ("workers=0", "workers=", "workers=-1", "workers=2x", "workers", "nonsense"):
        expect(["1", what], 2, f"weft: ctl: '{what}': {expected}")
    for who in ("0", "-3", "x", ""):
        expect([who, "status"], 2, f"weft: ctl: '{who}' is not the number of a process")
    expect([], 2, "weft: ctl: expected PID and status, workers=N or workers=all")
    expect(["1", "status", "more"], 2, "weft: ctl: expected PID and status, workers=N or workers=all")


check_a_running_program()
check_that_nobody_is_woken()
check_that_what_computes_stops()
check_others()
check_commands()
for line in wrong:
    print(line)
print(f"{len(wrong)} complaints")
sys.exit(1 if wrong else 0)
