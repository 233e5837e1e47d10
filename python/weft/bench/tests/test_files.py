"""Where the results go is checked before anything is measured."""

from pathlib import Path

import pytest
from typer import BadParameter
from typer.testing import CliRunner

from weft.bench import app as bench_app
from weft.bench.files import PLOT_FORMATS, find_outputs, save_figure, write_record


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path / "build"))


def test_by_default_they_go_into_the_build_tree(tmp_path: Path):
    folder = tmp_path / "build" / "bench"
    assert find_outputs("flat", None, None) == (folder / "flat.json", folder / "flat.png")
    assert folder.is_dir()


def test_files_of_the_users_choice(tmp_path: Path):
    chosen = (tmp_path / "a.json", tmp_path / "b.PDF")
    assert find_outputs("flat", *chosen) == chosen


def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path: Path):
    with pytest.raises(BadParameter, match=f"--json: .*: there is no folder {tmp_path}/no/such"):
        find_outputs("flat", tmp_path / "no" / "such" / "x", None)
    assert not (tmp_path / "no").exists()


def test_what_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(BadParameter, match="--json: /: is a directory"):
        find_outputs("flat", Path("/"), None)
    with pytest.raises(BadParameter, match=r"--png: x\.nonsense: .*png"):
        find_outputs("flat", None, Path("x.nonsense"))
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(BadParameter, match=r"--json: .*flat\.json: permission denied"):
        find_outputs("flat", None, None)


@pytest.mark.parametrize("option", [["--json", "/"], ["--png", "x.nonsense"], ["--json", "/no/such/x"]])
@pytest.mark.parametrize("name", ["idle", "fib", "preempt", "steps"])
def test_nothing_is_measured_before(option: list[str], name: str, monkeypatch: pytest.MonkeyPatch):
    def measured(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(bench_app, "_measure_openmp", measured)
    monkeypatch.setattr(bench_app.native, "run", measured)
    monkeypatch.setattr(bench_app.preempt, "run", measured)
    monkeypatch.setattr(bench_app.steps, "run", measured)
    answer = CliRunner().invoke(bench_app.app, [name, *option])
    assert answer.exit_code == 2
    assert option[1] in answer.output


def test_a_full_disk_names_the_file():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_record(Path("/dev/full"), {}, 1, {})


@pytest.mark.parametrize(
    "options",
    [["--rounds", "3"], ["--rounds", "5"], ["--mkl", "x"], ["--quick"], ["--runtimes", "weft"], ["--json", "x.json"]],
)
def test_options_without_a_benchmark_are_told(options: list[str]):
    answer = CliRunner().invoke(bench_app.app, options)
    assert answer.exit_code == 2
    assert "options without a benchmark" in " ".join(answer.output.split())


def test_every_format_can_be_written(tmp_path: Path):
    from matplotlib.figure import Figure

    for ending in ("", *(f".{name}" for name in PLOT_FORMATS)):
        path = tmp_path / f"plot{ending}"
        save_figure(Figure(figsize=(1, 1)), path)
        assert path.stat().st_size > 0
