"""weft bench preempt: what it prints and writes, from programs that answer at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from weft.bench import places, preempt


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
