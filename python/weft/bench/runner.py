"""Runs one benchmark program once, for a list of cases, and turns what it prints into measurements.

A case that crashes its process, prints nothing in time or fails its own check becomes a measurement with that outcome;
the cases after it run in a new process.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from .results import Measurement, Outcome


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read_lines(process: subprocess.Popen[bytes], timeout_s: float, on_line: Callable[[str], None]) -> bool:
    """Hands over each line as it comes. False: the time for the next one ran out."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    pending = b""
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return False
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return True
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                on_line(line.decode(errors="replace"))
                deadline = time.monotonic() + timeout_s


def parse_line(benchmark: str, line: str) -> Measurement | None:
    """The measurement that one line of a program's output stands for; None if it is something else."""
    try:
        record: dict[str, Any] = json.loads(line)
        checks = record["checks"]
        return Measurement(
            benchmark=benchmark,
            config=record["config"],
            outcome=Outcome.OK if checks["ok"] else Outcome.WRONG,
            samples=record["samples"],
            ideal=record.get("ideal"),
            checks=checks,
            params=record["params"],
            loaded=record["runtime"],
            unit=record.get("unit", "us"),
            detail="" if checks["ok"] else f"the program's check failed: {checks}",
        )
    except (ValueError, KeyError, TypeError):
        return None


def _last_words(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


def _describe_exit(status: int, words: str) -> str:
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return f"{how}: {words}" if words else how


def _run_process(
    benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], timeout_s: float
) -> list[Measurement]:
    """One process. If it does not get through all cases, the last measurement is the one that failed."""
    found: list[Measurement] = []
    status = 0

    def take(line: str) -> None:
        measurement = parse_line(benchmark, line)
        if measurement:
            found.append(measurement)

    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, *configs],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            in_time = _read_lines(process, timeout_s, take)
            if in_time:
                status = process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            in_time = False
        finally:
            if process.poll() is None:
                _kill(process)
            if process.stdout:
                process.stdout.close()
        words = _last_words(errors)

    if len(found) < len(configs):
        outcome = Outcome.CRASH if in_time else Outcome.HANG
        detail = _describe_exit(status, words) if in_time else f"nothing for {timeout_s:g} s {words}".strip()
        found.append(Measurement(benchmark, configs[len(found)], outcome, detail=detail))
    elif not in_time or status != 0:  # all cases done, but the process does not end as it should
        found[-1].outcome = Outcome.CRASH if in_time else Outcome.HANG
        found[-1].detail = "at exit: " + (_describe_exit(status, words) if in_time else f"nothing for {timeout_s:g} s")
    return found


def run_cases(
    benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], timeout_s: float
) -> list[Measurement]:
    """One measurement per case, whatever happens."""
    done: list[Measurement] = []
    while len(done) < len(configs):
        done += _run_process(benchmark, command, configs[len(done) :], env, timeout_s)
    return done
