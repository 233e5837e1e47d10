import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.bench import mkl
from weft.bench.aims import aim_of
from weft.bench.app import app
from weft.bench.campaign import Plan, steps_of_round
from weft.bench.catalog import ALL, MKL, find, has_aims, openmp_group
from weft.bench.report import legend
from weft.bench.results import Results
from weft.bench.runtimes import Runtime, Setting, initials, tuned


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(mkl.VARIABLE, str(tmp_path))
    for name in ("libmkl_rt.so.3", "libiomp5.so"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path))
    (tmp_path / "bench" / "bin").mkdir(parents=True)
    (tmp_path / "bench" / "bin" / "mkl_nest").touch()


def test_without_its_folder_one_line_says_how_to_get_it(program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mkl.sys, "prefix", str(tmp_path))
    monkeypatch.delenv(mkl.VARIABLE, raising=False)
    line = MKL.why_not()
    assert line is not None and "pip install mkl" in line and "--mkl" in line and "\n" not in line
    assert mkl.libiomp5() is None


def test_a_folder_without_it_is_named(program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(mkl.VARIABLE, str(tmp_path / "none"))
    assert str(tmp_path / "none") in str(MKL.why_not())
    answer = CliRunner().invoke(app, ["mkl", "--runtimes", "libgomp"])
    assert answer.exit_code == 1
    assert "nothing to measure" in answer.output and "there is no libmkl_rt.so" in " ".join(answer.output.split())
    monkeypatch.delenv(mkl.VARIABLE)
    (tmp_path / "file").touch()
    for name in ("none", "file"):
        answer = CliRunner().invoke(app, ["mkl", "--mkl", str(tmp_path / name), "--runtimes", "libgomp"])
        assert answer.exit_code == 2
        assert "--mkl: there is no libmkl_rt.so" in " ".join(answer.output.replace("│", " ").split())
    assert mkl.VARIABLE not in os.environ


# It was taken, and not used.
@pytest.mark.parametrize("name", ["flat", "main", "all", "fib", "core", "preempt", "steps"])
def test_a_benchmark_that_has_no_use_for_its_folder_refuses_it(folder: Path, name: str):
    answer = CliRunner().invoke(app, [name, "--mkl", str(folder)])
    assert answer.exit_code == 2
    assert "--mkl: only mkl and openmp use it" in " ".join(answer.output.replace("│", " ").split())


# The others were measured, and the exit status was 0.
def test_a_named_benchmark_that_is_left_out_is_told_at_the_end(
    program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(mkl.VARIABLE, str(tmp_path / "none"))
    regions = tmp_path / "bench" / "bin" / "regions"
    regions.write_text("#!/bin/sh\nexit 3\n")
    regions.chmod(0o755)
    alone = CliRunner().invoke(app, ["flat", "--runtimes", "libgomp", "--rounds", "1"])
    assert alone.exit_code == 0
    both = CliRunner().invoke(app, ["flat", "mkl", "--runtimes", "libgomp", "--rounds", "1"])
    assert both.exit_code == 1
    assert "plot: " in both.output
    assert both.output.splitlines()[-1].startswith("not measured: mkl: there is no libmkl_rt.so in ")


def test_the_folder_reaches_the_program(program: None, folder: Path):
    assert MKL.why_not() is None
    assert MKL.environment() == {mkl.VARIABLE: str(folder), "MKL_DYNAMIC": "false"}
    assert find("flat").environment() == {}  # type: ignore[union-attr]


def layers(runtime: Runtime) -> list[tuple[str, str]]:
    return [(setting.name, setting.env["MKL_THREADING_LAYER"]) for setting in MKL.settings_of(runtime)]


def test_each_runtime_has_the_layers_that_it_serves():
    policies = (Setting("passive", {"OMP_WAIT_POLICY": "passive"}), Setting("active", {}, spins=True))
    assert layers(Runtime("libgomp", "", None)) == [("GNU", "GNU")]
    assert layers(Runtime("libomp", "", None, settings=policies[:1] * 2)) == [("INTEL passive", "INTEL")] * 2
    assert layers(Runtime("weft", "", None)) == [("INTEL", "INTEL"), ("GNU", "GNU")]
    assert layers(Runtime("bolt", "", None, settings=policies)) == [("INTEL", "INTEL"), ("GNU", "GNU")]
    assert MKL.settings_of(Runtime("bolt", "", None, settings=policies))[0].env["OMP_WAIT_POLICY"] == "passive"
    assert initials("INTEL passive") == "Ip"


def test_intels_runtime_is_there_for_mkl_alone(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEFT_BUILD_DIR", str(folder / "build"))
    intel = mkl.libiomp5()
    assert intel is not None and intel.library == folder / "libiomp5.so"
    assert intel.folder is not None and (intel.folder / "libgomp.so.1").resolve() == intel.library
    assert [benchmark.name for benchmark in ALL if benchmark.runs_on(intel)] == ["mkl"]
    (tuned_intel,) = tuned([intel])
    assert len(tuned_intel.settings) == 3
    other = find("flat")
    assert other is not None
    plan = Plan([(other, other.cases), (MKL, MKL.cases)], [tuned_intel, Runtime("libgomp", "", None)], 1)
    assert {s.benchmark.name for s in steps_of_round(plan, Results(), 0) if s.runtime is tuned_intel} == {"mkl"}
    assert "libiomp5" in " ".join(legend([tuned_intel]))


def test_the_nests_have_one_aim_for_all_numbers_of_inner_threads():
    blis = find("blis")
    assert blis is not None
    for benchmark, aims in ((MKL, 5), (blis, 1)):
        found = [case for case in benchmark.cases if aim_of(benchmark.name, case.config)]
        assert len(found) == aims
        assert all(case.config.endswith("inner=1") for case in found)
        assert any(case.quick for case in found)
        assert has_aims(benchmark.name)
        assert benchmark in openmp_group()


def test_kmeans_has_no_more_sums_than_members():
    for name, members in (("kmeans_locks", 64), ("kmeans_locks2", 2)):
        benchmark = find(name)
        assert benchmark is not None and benchmark in openmp_group()
        sums = [int(case.config.split("replicas=")[1]) for case in benchmark.cases]
        assert sums[0] == 1 and sums[-1] == members
        assert all(aim_of(name, case.config) for case in benchmark.cases)
