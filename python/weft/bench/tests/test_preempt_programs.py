"""weft bench preempt: its figures of programs, from programs that answer at once."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from weft.bench import machine, places, preempt_programs
from weft.bench.results import Measurement, Outcome
from weft.bench.runtimes import Runtime, Setting


def answer(program: str, *arguments: str, **settings: str) -> dict[str, Any]:
    if program == "lennard_jones":
        times = (1000.0, 900.0) if arguments[0] == "none" else (1250.0, 990.0)
        return {"ns": times[0], "simulation_ns": times[1], "state": "0x1p3", "ok": True}
    kind, threads, active = arguments[:3]
    if "MULTIGRID_COUNT" in settings:
        return {"simulated_ns": 110.0, "work_ns": 100.0 * int(active)}
    return {"ns": 1000.0 if kind == "weft-none" and threads == active else 1500.0}


def cases(benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], _: float) -> Any:
    [config] = configs
    if env.get("RUNTIME") == "hangs" and "inner=4" in config:
        return [Measurement(benchmark, config, Outcome.HANG, detail="nothing for 60 s")]
    return [Measurement(benchmark, config, Outcome.OK, samples=[4000.0])]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    for name in preempt_programs.NAMES:
        (tmp_path / name).touch()

    class Hanging(Runtime):
        def environment(self, setting: Setting, base: Mapping[str, str] | None = None) -> dict[str, str]:
            return {"RUNTIME": self.name}

    found = [Hanging("hangs", "", None), Hanging("weft", "", None)]
    monkeypatch.setattr(preempt_programs.runtimes, "available", lambda: (found, []))
    monkeypatch.setattr(preempt_programs, "run_cases", cases)
    monkeypatch.setattr(preempt_programs, "_run", answer)
    monkeypatch.setattr(machine, "cpus", lambda: 2)
    return tmp_path


def measure(console: Console, rounds: int, quick: bool) -> preempt_programs.Figures:
    figures = preempt_programs.Figures()
    preempt_programs.measure(console, rounds, quick, figures)
    return figures


def test_prints_the_figures_and_what_failed(programs: Path) -> None:
    console = Console(width=200, record=True)
    figures = measure(console, 2, True)
    text = console.export_text()
    assert "Fig. 7" in text and "Fig. 8" in text and "Fig. 9" in text
    assert "nothing for 60 s" in text and "failed" in text
    assert figures.cholesky_ms["4 x 4 tiles, 4 x 4"]["weft"] == 4.0
    assert figures.packed_overhead["3 threads on 2 CPUs"]["KLT-switching, 1 ms"] == pytest.approx(0.5)
    assert figures.simulated_overhead["8 threads on 3"]["not preempted"] == pytest.approx(0.1)
    assert figures.analysis_overhead["1728 atoms, every step"]["weft, by priority"] == pytest.approx(0.25)
    assert figures.simulation_overhead["1728 atoms, every step"]["weft"] == pytest.approx(0.1)
    assert figures.failures == []
    record = json.loads(json.dumps(figures.record(), allow_nan=False))
    assert record["fig7_cholesky_ms"]["4 x 4 tiles, 4 x 4"]["hangs"] is None
    preempt_programs.plot(programs / "out.png", figures)
    assert (programs / "out.png").stat().st_size > 0


def test_what_hangs_is_not_tried_with_larger_matrices(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hung: list[str] = []

    def noted(benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], t: float) -> Any:
        if env["RUNTIME"] == "hangs" and "inner=4" in configs[0]:
            hung.append(configs[0])
        return cases(benchmark, command, configs, env, t)

    monkeypatch.setattr(preempt_programs, "run_cases", noted)
    figures = measure(Console(width=200, record=True), 1, False)
    assert hung == ["n=512,tile=128,outer=4,inner=4"]
    assert isnan(figures.cholesky_ms["12 x 12 tiles, 4 x 4"]["hangs"])
    assert figures.cholesky_ms["12 x 12 tiles, 8 x 8"]["hangs"] == 4.0


# A Cholesky of weft's that hung or was wrong was a note, and the status 0.
def test_what_fails_on_weft_is_a_failure(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], t: float) -> Any:
        if env["RUNTIME"] == "weft" and "inner=4" in configs[0]:
            return [Measurement(benchmark, configs[0], Outcome.WRONG, detail="the program's check failed")]
        return cases(benchmark, command, configs, env, t)

    monkeypatch.setattr(preempt_programs, "run_cases", wrong)
    figures = measure(Console(width=200, record=True), 1, True)
    assert [("weft" in line and "check failed" in line) for line in figures.failures] == [True]
    assert any("hangs" in line for line in figures.notes)


def test_what_is_slow_is_measured_once(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def slow(benchmark: str, command: Sequence[str], configs: Sequence[str], env: Mapping[str, str], _: float) -> Any:
        measured.append(env["RUNTIME"] + configs[0])
        time_us = 4e6 if "inner=4" in configs[0] else 4000.0
        return [Measurement(benchmark, configs[0], Outcome.OK, samples=[time_us])]

    monkeypatch.setattr(preempt_programs, "run_cases", slow)
    figures = measure(Console(record=True), 3, True)
    assert figures.cholesky_ms["4 x 4 tiles, 4 x 4"]["weft"] == 4000.0
    assert measured.count("weftn=512,tile=128,outer=4,inner=4") == 1
    assert measured.count("weftn=512,tile=128,outer=2,inner=1") == 3


def test_a_figure_that_fails_leaves_the_others(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(program: str, *arguments: str, **settings: str) -> dict[str, Any]:
        if program == "multigrid":
            raise preempt_programs.ProgramFailed("multigrid: not done within 60 s")
        return answer(program, *arguments, **settings)

    monkeypatch.setattr(preempt_programs, "_run", failing)
    console = Console(width=200, record=True)
    figures = measure(console, 1, True)
    text = console.export_text()
    assert "Fig. 8 is not complete: multigrid: not done within 60 s" in text
    assert figures.analysis_overhead and figures.failures
    preempt_programs.plot(programs / "out.png", figures)


def test_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    assert preempt_programs.missing() == list(preempt_programs.NAMES)


def test_simulations_must_agree(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def differing(program: str, *arguments: str, **settings: str) -> dict[str, Any]:
        return answer(program, *arguments, **settings) | {"state": arguments[0]}

    monkeypatch.setattr(preempt_programs, "_run", differing)
    console = Console(width=200, record=True)
    figures = measure(console, 1, True)
    assert "different states" in figures.failures[0]
    assert "different states" in console.export_text()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo broken >&2; exit 3", "status 3: broken"),
        ("echo '{\"ok\": false}'", "the result is wrong"),
        ("echo nonsense", "no answer: 'nonsense"),
    ],
)
def test_a_program_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    (tmp_path / "multigrid").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "multigrid").chmod(0o755)
    run = preempt_programs._run  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(preempt_programs.ProgramFailed, match=f"multigrid a: {reason}"):
        run("multigrid", "a")
