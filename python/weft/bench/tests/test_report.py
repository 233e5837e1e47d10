import io
from math import inf
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from weft.bench.app import app
from weft.bench.catalog import CATALOG, chosen_cases, find
from weft.bench.goals import GOALS, Goal, Verdict, faster, goals_table, likely_range, near_ideal, started_within
from weft.bench.plot import write_plot
from weft.bench.report import benchmark_table, cell_text
from weft.bench.results import Measurement, Outcome, Results
from weft.bench.runtimes import Runtime

RUNTIMES = [Runtime("libgomp", "", None), Runtime("weft", "", None)]


def results_with(outcome: Outcome = Outcome.OK) -> Results:
    results = Results()
    for runtime, us in (("libgomp", 238_000.0), ("weft", 100.0)):
        measured = Measurement("nested", "outer=56,inner=56", outcome, [us], runtime=runtime, setting="default")
        results.add([measured])
    return results


def shown(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=118)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]


def nested():
    benchmark = find("nested")
    assert benchmark is not None
    return benchmark


def test_the_table_has_the_times_and_their_ratio():
    text = shown(benchmark_table(nested(), nested().cases, RUNTIMES, results_with()))
    assert "238,000" in text
    assert "2,380x" in text


@pytest.mark.parametrize("outcome", [Outcome.CRASH, Outcome.HANG, Outcome.WRONG])
def test_a_failure_is_a_visible_cell(outcome: Outcome):
    cell = results_with(outcome).of("nested", "outer=56,inner=56", "weft")
    assert outcome.value in cell_text(cell)


def test_a_goal_is_judged_by_its_number():
    assert faster("nested", "outer=56,inner=56", 500)(results_with()).reached is True
    assert faster("nested", "outer=56,inner=56", 5000)(results_with()).reached is False
    assert faster("nested", "outer=56,inner=56", 500)(results_with(Outcome.CRASH)).reached is None


def of_rounds(**medians: list[float]) -> Results:
    results = Results()
    for runtime, rounds in medians.items():
        results.add([Measurement("b", "c", Outcome.OK, [us], 1.0, runtime=runtime) for us in rounds])
    return results


def test_a_verdict_tells_when_the_noise_is_larger_than_what_it_goes_by():
    steady, noisy = [100.0, 101, 99, 100, 100], [90.0, 80, 104, 105, 106]
    judge = faster("b", "c", 1 / 1.03)
    assert judge(of_rounds(libgomp=steady, weft=noisy)) == Verdict("0.96x (100 / 104 us)", False, is_clear=False)
    assert judge(of_rounds(libgomp=steady, weft=[150.0, 151, 149])).is_clear
    assert judge(of_rounds(libgomp=steady, weft=[50.0, 51, 49])).is_clear
    assert not near_ideal("b", "c", 1.1)(of_rounds(weft=[1.05, 1.08, 1.2])).is_clear
    assert near_ideal("b", "c", 1.1)(of_rounds(weft=[1.2, 1.21, 1.2])).is_clear
    goal = Goal("goal", judge)
    assert "no, within noise" in shown(goals_table(of_rounds(libgomp=steady, weft=noisy), [goal]))
    assert "noise" not in shown(goals_table(of_rounds(libgomp=steady, weft=steady), [goal]))


@pytest.mark.parametrize("under", [[0.0, 1.0], [-1.0, 1.0]])
def test_costs_of_nothing_or_less_give_no_range(under: list[float]):
    assert likely_range([1.0], under) == (0, inf)


@pytest.mark.parametrize(
    ("threads", "said", "reached"), [(1, "1 thread, the program's own", True), (3, "3 threads", False)]
)
def test_the_programs_own_thread_is_none_of_the_runtimes(threads: int, said: str, reached: bool):
    results = Results()
    checks = {"difference_ms": 0.1, "threads": threads}
    results.add([Measurement("startup", "child=unused", Outcome.OK, [1.0], checks=checks, runtime="weft")])
    verdict = started_within(1)(results)
    assert verdict.measured.endswith(f", {said}")
    assert verdict.reached is reached


def test_the_goals_are_measured_by_the_main_job_and_the_quick_one():
    for quick in (False, True):
        results = Results()
        for benchmark in CATALOG:
            for case in chosen_cases(benchmark, main=True, quick=quick):
                checks = {"difference_ms": 0.1, "threads": 1}
                for runtime in RUNTIMES:
                    measured = Measurement(benchmark.name, case.config, Outcome.OK, [1.0], 1.0, checks)
                    measured.runtime = runtime.name
                    results.add([measured])
        assert all(goal.judge(results).reached is not None for goal in GOALS)
        assert "no" in shown(goals_table(results))


def test_the_plot_is_a_png_even_with_failures(tmp_path: Path):
    path = tmp_path / "plot.png"
    selection = [(nested(), nested().cases)]
    write_plot(path, selection, RUNTIMES, results_with(Outcome.HANG), "caption")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_name_is_refused_with_the_known_ones():
    answer = CliRunner().invoke(app, ["nonsense"])
    assert answer.exit_code == 2
    assert "nonsense" in answer.output


def test_without_a_name_the_benchmarks_are_listed():
    answer = CliRunner().invoke(app, [])
    assert answer.exit_code == 0
    assert all(benchmark.name in answer.output for benchmark in CATALOG)
