"""`weft ctl`: what it says, without a weft to ask (tests/api/ctl_test.py asks one)."""

from __future__ import annotations

import os
import subprocess

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
