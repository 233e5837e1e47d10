"""weft bench preempt: what it prints and writes, from programs that answer at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from weft.bench import places, preempt, preempt_programs


def answer(*arguments: str, **settings: str) -> dict[str, Any]:
    if arguments[0] == "cost":
        return {"median_ns": {"pthread": 2000.0, "signal-yield": 2400.0, "klt-switch": 5000.0}[arguments[1]]}
    if arguments[0] == "interruption":
        assert settings["WEFT_PREEMPT_TIMER"] in preempt.TIMERS
        return {"median_ns": 1500.0}
    return {"ns": 1000 if arguments[1] == "none" else 1010}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    (tmp_path / preempt.NAME).touch()
    monkeypatch.setattr(preempt, "_run", answer)
    return tmp_path


def test_prints_the_tables_and_writes_json(program: Path) -> None:
    console = Console(width=140, record=True)
    json_file = program / "out.json"
    assert preempt.run(console, 1, True, json_file, program / "out.png") == 0
    text = console.export_text()
    assert "1.20" in text and "<= 1.3" in text
    assert "2.50" in text and "<= 3" in text
    assert "1.00%" in text
    record = json.loads(json_file.read_text(encoding="utf-8"))
    assert record["cost_ns"]["klt-switch"] == 5000.0
    assert set(record["interruption_ns"]) == set(preempt.TIMERS)
    assert record["overhead"]["signal-yield"]["1000"] == pytest.approx(0.01)


def test_says_so_where_the_program_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    console = Console(record=True)
    assert preempt.run(console, 1, True, tmp_path / "out.json", tmp_path / "out.png") == 1
    assert "not built" in console.export_text()


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (preempt_programs.ProgramFailed("preempt overhead: status 1: no timers"), 1, "status 1: no timers"),
        (KeyboardInterrupt(), 130, "Interrupted"),
    ],
)
def test_what_was_measured_is_kept_whatever_ends_it(
    program: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, said: str
) -> None:
    def failing(*arguments: str, **settings: str) -> dict[str, Any]:
        if arguments[0] == "overhead":
            raise error
        return answer(*arguments, **settings)

    monkeypatch.setattr(preempt, "_run", failing)
    console = Console(width=140, record=True)
    json_file = program / "out.json"
    assert preempt.run(console, 1, True, json_file, program / "out.png") == status
    assert said in console.export_text()
    assert json.loads(json_file.read_text(encoding="utf-8"))["cost_ns"]["klt-switch"] == 5000.0


def test_a_program_that_fails_says_why(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(places, "programs_dir", lambda: program)
    (program / preempt.NAME).write_text("#!/bin/sh\necho no timers >&2\nexit 3\n")
    (program / preempt.NAME).chmod(0o755)
    console = Console(width=140, record=True)
    assert preempt.run(console, 1, True, program / "out.json", program / "out.png") == 1
    assert "status 3: no timers" in console.export_text()
