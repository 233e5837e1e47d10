import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from weft.bench.aims import (
    aim_of,
    at_most,
    best_of_rows,
    of_best,
    of_best_with_same_code,
    over_ideal,
    over_row,
    verdicts,
)
from weft.bench.app import app
from weft.bench.campaign import Plan, steps_of_round
from weft.bench.catalog import CATALOG, CONSTRUCTS, Benchmark, Case, openmp_group
from weft.bench.plot import write_plot
from weft.bench.report import aims_summary, aims_table
from weft.bench.results import Cell, Measurement, Outcome, Results
from weft.bench.runtimes import Runtime, Setting, tuned

BENCHMARK = Benchmark("constructs2", "title", "constructs", (Case("kind=for,threads=2", "for"),), threads=1)


def cell(us: float | None, ideal: float | None = None) -> Cell:
    outcome = Outcome.OK if us is not None else Outcome.CRASH
    return Cell((Measurement("b", "c", outcome, [] if us is None else [us], ideal),))


def nothing(_config: str) -> dict[str, Cell]:
    return {}


def stock_and_weft() -> list[Runtime]:
    return [Runtime("libgomp", "", None), Runtime("libomp", "", None), Runtime("weft", "", None)]


def results(us: dict[str, float]) -> Results:
    found = Results()
    for name, value in us.items():
        measured = Measurement(
            "constructs2", "kind=for,threads=2", Outcome.OK, [value], runtime=name, setting="default"
        )
        found.add([measured])
    return found


def shown(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=118)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("weft", "reached"), [(0.29, True), (0.31, False), (None, False)])
def test_a_limit_in_us(weft: float | None, reached: bool):
    assert verdicts(at_most(0.3), {"weft": cell(weft)}, nothing) == {"weft": reached}


def test_the_best_of_the_others_is_what_counts_and_weft_is_none_of_them():
    cells = {"libgomp": cell(4), "libomp": cell(2), "weft clang": cell(0.1), "weft": cell(1.5)}
    assert verdicts(of_best(), cells, nothing) == {"weft": True, "weft clang": True}
    assert verdicts(of_best(1 / 2), cells, nothing) == {"weft": False, "weft clang": True}


def test_programs_that_clang_has_built_are_compared_with_each_other():
    cells = {"libgomp": cell(4), "libomp clang": cell(9), "weft clang": cell(8), "weft": cell(5)}
    assert verdicts(of_best_with_same_code(), cells, nothing) == {"weft": False, "weft clang": True}
    assert verdicts(of_best(), cells, nothing) == {"weft": False, "weft clang": False}
    without = {name: each for name, each in cells.items() if name != "libomp clang"}
    assert verdicts(of_best_with_same_code(), without, nothing) == {"weft": False, "weft clang": None}


def test_without_others_nothing_is_judged():
    assert verdicts(of_best(), {"libgomp": cell(None), "weft": cell(1)}, nothing) == {"weft": None}


def test_time_over_the_ideal_and_over_another_row():
    assert verdicts(over_ideal(1.05), {"weft": cell(104, 100)}, nothing) == {"weft": True}
    assert verdicts(over_ideal(1.05), {"weft": cell(106, 100)}, nothing) == {"weft": False}
    rows = {"inner=1": {"weft": cell(100)}}
    assert verdicts(over_row(1.3, "inner=1", ""), {"weft": cell(131)}, rows.__getitem__) == {"weft": False}


def test_the_best_of_all_rows_is_compared_with_the_others_best_of_all_rows():
    rows = {
        "inner=1": {"libgomp": cell(10), "libomp": cell(11), "weft": cell(10.5)},
        "inner=2": {"libgomp": cell(30), "libomp": cell(9.5), "weft": cell(9)},
        "inner=4": {"libgomp": cell(None), "weft": cell(None)},
        "inner=8": {},
    }
    aim = best_of_rows(list(rows), "")
    assert verdicts(aim, rows["inner=1"], rows.__getitem__) == {"weft": True}
    rows["inner=2"]["weft"] = cell(9.6)
    assert verdicts(aim, rows["inner=1"], rows.__getitem__) == {"weft": False}


def test_every_construct_has_an_aim():
    assert all(
        aim_of(benchmark.name, case.config) or "outer=8" in case.config
        for benchmark in CONSTRUCTS
        for case in benchmark.cases
    )


def test_the_rows_that_an_aim_compares_with_are_measured_too():
    for benchmark in openmp_group():
        configs = {case.config for case in benchmark.cases}
        for case in benchmark.cases:
            aim = aim_of(benchmark.name, case.config)

            def row(config: str, configs: set[str] = configs) -> dict[str, Cell]:
                assert config in configs
                return {"weft": cell(1)}

            if aim:
                aim.limit({"weft": cell(1, 1)}, "weft", row)
                aim.measured({"weft": cell(1, 1)}, "weft", row)


def test_the_table_says_what_was_reached():
    runtimes = stock_and_weft()
    found = results({"libgomp": 1.0, "libomp": 2.0, "weft": 0.5})
    text = shown(aims_table(BENCHMARK, BENCHMARK.cases, runtimes, found))
    assert "the best" in text and "yes" in text
    assert aims_summary([(BENCHMARK, BENCHMARK.cases)], runtimes, found) == "1 of 1 aims reached."
    slow = results({"libgomp": 1.0, "libomp": 2.0, "weft": 1.5})
    assert "no" in shown(aims_table(BENCHMARK, BENCHMARK.cases, runtimes, slow)).split("the best")[1]
    assert "not yet: constructs2 for (weft)" in aims_summary([(BENCHMARK, BENCHMARK.cases)], runtimes, slow)


def test_a_cost_below_nothing_neither_judges_nor_is_judged():
    cells = {"libgomp": cell(4), "libomp": cell(-30.41), "weft": cell(1.5)}
    assert verdicts(of_best(), cells, nothing) == {"weft": True}
    assert verdicts(of_best(), cells | {"weft": cell(5)}, nothing) == {"weft": False}
    assert verdicts(of_best(), {"libomp": cell(-1), "weft": cell(1.5)}, nothing) == {"weft": None}
    assert verdicts(at_most(3), {"weft": cell(-0.1)}, nothing) == {"weft": None}
    rows = {"inner=1": {"weft": cell(-1)}}
    assert verdicts(over_row(1.3, "inner=1", ""), {"weft": cell(1)}, rows.__getitem__) == {"weft": None}


def test_an_overhead_below_nothing_is_shown_and_plotted(tmp_path: Path):
    found = results({"libgomp": -0.01, "libomp": 0.02, "weft": -0.02})
    assert "-0.02" in shown(aims_table(BENCHMARK, BENCHMARK.cases, stock_and_weft(), found))
    path = tmp_path / "plot.png"
    write_plot(path, [(BENCHMARK, BENCHMARK.cases)], stock_and_weft(), found, "caption")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_tuned_runtimes_have_clang_programs_of_their_own_and_weft_stays_last():
    runtimes = tuned(stock_and_weft())
    assert [r.name for r in runtimes] == ["libgomp", "libomp", "libomp clang", "weft clang", "weft"]
    assert [r.clang for r in runtimes] == [False, False, True, True, False]


def test_a_program_that_clang_has_not_built_is_not_run_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path))
    benchmark = Benchmark("b", "title", "p", BENCHMARK.cases, has_clang=True)
    runtimes = tuned(stock_and_weft())

    def names() -> set[str]:
        return {
            step.runtime.name
            for step in steps_of_round(Plan([(benchmark, benchmark.cases)], runtimes, 1), Results(), 0)
        }

    assert names() == {"libgomp", "libomp", "weft"}
    (tmp_path / "bench" / "bin").mkdir(parents=True)
    (tmp_path / "bench" / "bin" / "p-clang").touch()
    assert "weft clang" in names()
    assert benchmark.command(clang=True)[0].endswith("p-clang")


def test_with_more_threads_than_cpus_nothing_spins():
    runtime = Runtime("r", "", None, settings=(Setting("default", {}), Setting("active", {}, spins=True)))
    crowded = Benchmark("b", "title", "p", BENCHMARK.cases)
    assert [setting.name for setting in crowded.settings_of(runtime)] == ["default"]
    assert [setting.name for setting in BENCHMARK.settings_of(runtime)] == ["default", "active"]


def test_how_many_threads_are_too_many_depends_on_the_machine(monkeypatch: pytest.MonkeyPatch):
    def names_of_crowded(cpus: int) -> set[str]:
        monkeypatch.setattr("weft.bench.catalog.affinity", lambda: list(range(cpus)))
        return {benchmark.name for benchmark in (*CATALOG, *CONSTRUCTS) if benchmark.crowded}

    assert {"constructs8", "tasks8", "kmeans_locks", "flat", "nested"} <= names_of_crowded(2)
    assert not {"constructs2", "tasks2", "task_fib", "kmeans_locks2"} & names_of_crowded(2)
    assert {"constructs2", "task_fib"} <= names_of_crowded(1)
    assert "constructs8" not in names_of_crowded(8)
    assert "kmeans_locks" in names_of_crowded(8)


def test_the_group_is_listed():
    listed = CliRunner().invoke(app, [])
    assert "openmp" in listed.output
    assert all(benchmark.name in listed.output for benchmark in CONSTRUCTS)
