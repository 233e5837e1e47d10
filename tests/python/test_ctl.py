"""`weft ctl`: what it says, without a weft to ask (tests/api/ctl_test.py asks one)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conftest import ROOT
from weft import ctl


@pytest.fixture
def process_of_four(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A process that has 4 workers; the values that it was sent."""
    sent: list[int] = []

    class Control:
        def __init__(self, process: int) -> None:
            self.process = process

        def ask(self, value: int) -> ctl.Answer:
            sent.append(value)
            return ctl.Answer(workers=4, active=min(value, 4) if value > 0 else 4, stopping=0, packings=0)

    monkeypatch.setattr(ctl, "check_process", lambda process: None)
    monkeypatch.setattr(ctl, "Control", Control)
    return sent


@pytest.mark.parametrize(
    ("word", "value", "said"),
    [
        ("status", -1, "4 of 4 workers are active"),
        ("workers=all", 0, "4 of 4 workers are active"),
        ("workers=3", 3, "3 of 4 workers are active"),
        ("workers=4", 4, "4 of 4 workers are active"),
        ("workers=99", 99, "4 of 4 workers are active; it has no more, though 99 were asked for"),
    ],
)
def test_more_workers_than_there_are_are_told(
    process_of_four: list[int], capsys: pytest.CaptureFixture[str], word: str, value: int, said: str
) -> None:
    assert ctl.main(["4711", word]) == 0
    assert process_of_four == [value]
    assert capsys.readouterr().out == f"{said}\n"


def test_a_process_that_does_not_listen() -> None:
    sleeper = subprocess.Popen(["sleep", "30"], env=dict(os.environ, WEFT_CTL="off"))
    try:
        command = [ROOT / "weft", "ctl", str(sleeper.pid), "status"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()
    assert result.returncode == 1
    assert "WEFT_CTL=off" in result.stderr
    assert result.stderr.count("\n") == 1


LISTENER = """
import os, signal, sys, time
signal.signal(signal.SIGURG, lambda *_: print("taken", flush=True))
{setup}
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


@contextmanager
def listening(setup: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process with a handler for the signal of commands, which does not answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENER.format(setup=setup)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_state(process: int, letter: str) -> None:
    until = time.monotonic() + 60
    while not ctl.read_status(f"/proc/{process}/status")["State"].startswith(letter):
        assert time.monotonic() < until
        time.sleep(0.01)


# It was told that it does not run on weft, and obeyed once it went on.
def test_a_stopped_process_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as process:
        process.send_signal(signal.SIGSTOP)
        wait_for_state(process.pid, "T")
        assert ctl.main([str(process.pid), "workers=1"]) == 1
        said = f"weft: ctl: process {process.pid} is stopped (kill -CONT {process.pid})\n"
        assert capsys.readouterr().err == said
        assert not ctl.is_pending(process.pid)


def test_a_process_that_has_ended_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    process = subprocess.Popen(["true"])
    wait_for_state(process.pid, "Z")
    assert ctl.main([str(process.pid), "status"]) == 1
    process.wait()
    assert capsys.readouterr().err == f"weft: ctl: there is no process {process.pid}\n"


# A process whose main thread has ended looks like one that has ended.
def test_a_process_without_its_main_thread_is_one(compile_c, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
        #include <pthread.h>
        #include <unistd.h>
        static void* wait(void* unused) { return sleep(300), unused; }
        int main(void) {
          pthread_t thread;
          pthread_create(&thread, NULL, wait, NULL);
          pthread_exit(NULL);
        }
    """
    process = subprocess.Popen([compile_c(source, "without-main", "-pthread")])
    try:
        wait_for_state(process.pid, "Z")
        assert ctl.main([str(process.pid), "status"]) == 1
    finally:
        process.kill()
        process.wait()
    assert "does not run on weft" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "later"), [("workers=1", "; the command may still take effect"), ("status", "")])
def test_a_command_that_is_not_taken_may_still_take_effect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, later: str
) -> None:
    monkeypatch.setattr(ctl, "PATIENCE_S", 0.2)
    with listening("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])") as process:
        assert ctl.main([str(process.pid), word]) == 1
    why = "SIGURG is pending, no thread of it has taken that yet"
    said = f"weft: ctl: process {process.pid} does not answer: {why}{later}\n"
    assert capsys.readouterr().err == said


def test_a_command_that_another_handler_has_taken_takes_no_effect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ctl, "PATIENCE_S", 0.5)
    with listening() as process:
        assert ctl.main([str(process.pid), "workers=1"]) == 1
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
    assert capsys.readouterr().err.endswith("does not answer: it has taken SIGURG, but no answer has come\n")


# It was said to block the signal.
def test_a_process_that_ends_of_the_command_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with listening("signal.signal(signal.SIGURG, lambda *_: os._exit(0))") as process:
        assert ctl.main([str(process.pid), "status"]) == 1
    assert capsys.readouterr().err == f"weft: ctl: there is no process {process.pid}\n"
