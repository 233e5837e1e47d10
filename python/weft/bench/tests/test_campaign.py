from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.bench import app as bench_app
from weft.bench import preempt, steps
from weft.bench.campaign import (
    FAILURES_ENOUGH,
    QUICK_SCALE,
    SLOW_ROUNDS,
    SLOW_US,
    Plan,
    _judge,
    rotated,
    steps_of_round,
)
from weft.bench.catalog import Benchmark, Case
from weft.bench.results import Measurement, Outcome, Results
from weft.bench.runtimes import Runtime, Setting

ONE = Runtime("one", "", None)
TWO = Runtime("two", "", None, settings=(Setting("passive", {}), Setting("active", {})))
BENCHMARK = Benchmark("b", "title", "program", (Case("x", "x"), Case("y", "y")))
PLAN = Plan([(BENCHMARK, BENCHMARK.cases)], [ONE, TWO], rounds=5)


def ok(config: str, runtime: str, setting: str, us: float) -> Measurement:
    return Measurement("b", config, Outcome.OK, [us], runtime=runtime, setting=setting)


def test_the_first_round_tries_every_setting():
    steps = list(steps_of_round(PLAN, Results(), 0))
    assert [(s.runtime.name, s.setting.name) for s in steps] == [
        ("one", "default"),
        ("two", "passive"),
        ("two", "active"),
    ]


def test_later_rounds_use_the_better_setting_of_each_case_and_rotate():
    results = Results()
    for config, passive, active in (("x", 1, 2), ("y", 2, 1)):
        results.add([ok(config, "two", "passive", passive), ok(config, "two", "active", active)])
        results.add([ok(config, "one", "default", 1)])
    steps = list(steps_of_round(PLAN, results, 1))
    assert [(s.runtime.name, s.setting.name, s.configs) for s in steps] == [
        ("two", "passive", ("x",)),
        ("two", "active", ("y",)),
        ("one", "default", ("x", "y")),
    ]


def test_a_case_that_keeps_failing_is_left_alone():
    results = Results()
    failed = Measurement("b", "x", Outcome.HANG, runtime="one", setting="default")
    results.add([failed] * FAILURES_ENOUGH)
    steps = [s for s in steps_of_round(PLAN, results, 2) if s.runtime is ONE]
    assert [s.configs for s in steps] == [("y",)]


def test_a_noisy_benchmark_takes_more_rounds_but_not_if_it_is_to_be_quick():
    noisy = Benchmark("b", "title", "program", BENCHMARK.cases, effort=3)
    plan = Plan([(noisy, noisy.cases), (BENCHMARK, BENCHMARK.cases)], [ONE], rounds=5)
    assert [(plan.rounds_of(each), plan.all_rounds) for each, _ in plan.benchmarks] == [(15, 15), (5, 15)]
    assert [step.benchmark for step in steps_of_round(plan, Results(), 5)] == [noisy]
    quick = Plan(plan.benchmarks, plan.runtimes, rounds=2, time_scale=QUICK_SCALE)
    assert quick.all_rounds == 2


def test_a_slow_case_takes_fewer_rounds():
    results = Results()
    results.add([ok("x", "one", "default", SLOW_US)])
    configs = {
        number: [s.configs for s in steps_of_round(PLAN, results, number) if s.runtime is ONE] for number in (2, 3)
    }
    assert configs == {SLOW_ROUNDS - 1: [("x", "y")], SLOW_ROUNDS: [("y",)]}


def judged(loaded: str, reference: float, references: dict) -> Measurement:
    step = next(steps_of_round(PLAN, Results(), 0))
    measurement = Measurement("b", "x", Outcome.OK, [1.0], checks={"ok": True, "reference": reference}, loaded=loaded)
    _judge(measurement, step, references)
    return measurement


def test_a_result_that_differs_between_runtimes_is_wrong():
    references: dict = {}
    assert judged("/lib/libgomp.so.1", 1.0, references).outcome is Outcome.OK
    assert judged("/lib/libgomp.so.1", 1.0 + 1e-9, references).outcome is Outcome.OK
    assert judged("/lib/libgomp.so.1", 1.1, references).outcome is Outcome.WRONG


def test_a_program_that_ran_on_another_runtime_is_wrong():
    assert judged("/lib/libother.so", 1.0, {}).outcome is Outcome.WRONG


def test_each_comes_first_in_its_turn():
    assert [rotated("abc", by) for by in (0, 1, 4)] == [["a", "b", "c"], ["b", "c", "a"], ["b", "c", "a"]]
    assert rotated("", 1) == []


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build tree with weft and two programs that crash; clang has built one of them."""
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path))
    (tmp_path / "dropin").mkdir()
    (tmp_path / "dropin" / "libgomp.so.1").touch()
    folder = tmp_path / "bench" / "bin"
    folder.mkdir(parents=True)
    for name in ("constructs", "constructs-clang", "regions"):
        (folder / name).write_text("#!/bin/sh\nexit 3\n")
        (folder / name).chmod(0o755)
    return tmp_path


# It ended with a division by the number of runtimes.
def test_a_benchmark_that_runs_on_none_of_the_runtimes_is_left_out(programs: Path):
    answer = CliRunner().invoke(bench_app.app, ["constructs2", "flat", "--runtimes", "weft clang", "--rounds", "1"])
    assert "flat: it does not run on weft clang" in answer.output
    assert answer.exit_code == 1  # clang's programs that fail on weft are failures too
    assert "constructs2" in (programs / "bench" / "constructs2-flat.json").read_text()
    alone = CliRunner().invoke(bench_app.app, ["flat", "--runtimes", "libgomp", "--rounds", "1"])
    assert alone.exit_code == 0


@pytest.mark.parametrize("name", ["steps", "preempt"])
def test_quick_rounds_are_few_whatever_is_measured(name: str, programs: Path, monkeypatch: pytest.MonkeyPatch):
    measured: list[int] = []

    def run(_console: object, rounds: int, *_: object) -> int:
        measured.append(rounds)
        return 0

    monkeypatch.setattr(steps, "run", run)
    monkeypatch.setattr(preempt, "run", run)
    for options in (["--quick"], ["--quick", "--rounds", "1"], ["--rounds", "7"]):
        assert CliRunner().invoke(bench_app.app, [name, *options]).exit_code == 0
    assert measured == [2, 1, 7]
