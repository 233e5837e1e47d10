"""Where the results go is checked before anything is measured."""

from pathlib import Path

import pytest
from typer import BadParameter
from typer.testing import CliRunner

from weft.bench import app as bench_app
from weft.bench.files import PLOT_FORMATS, find_outputs, save_figure, write_record


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build").mkdir()
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


# Folders were made for a misspelt name.
@pytest.mark.parametrize("name", ["idle", "fib", "preempt", "steps"])
def test_a_build_tree_that_is_not_there_is_named_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path / "typo" / "deep"))
    answer = CliRunner().invoke(bench_app.app, [name, "--quick"])
    assert answer.exit_code == 2
    assert "WEFT_BUILD_DIR" in answer.output
    assert not (tmp_path / "typo").exists()


# The plot went over the numbers.
def test_one_file_for_both_is_refused(tmp_path: Path):
    (tmp_path / "there.png").touch()
    (tmp_path / "link.png").symlink_to("there.png")
    (tmp_path / "hard.png").hardlink_to(tmp_path / "there.png")
    for one, other in (("new.png", "new.png"), ("there.png", "link.png"), ("hard.png", "there.png")):
        with pytest.raises(BadParameter, match="are one file"):
            find_outputs("flat", tmp_path / one, tmp_path / other)
    assert find_outputs("flat", Path("/dev/null"), Path("/dev/null")) == (Path("/dev/null"), Path("/dev/null"))


# All was measured first.
def test_a_working_folder_that_has_been_deleted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(BadParameter, match=r"--json: a\.json: the working folder has been deleted"):
        find_outputs("flat", Path("a.json"), None)
    assert find_outputs("flat", tmp_path / "a.json", None)[0] == tmp_path / "a.json"
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("option", ["--json", "--png", "--mkl"])
def test_an_empty_name_is_called_one(option: str):
    answer = CliRunner().invoke(bench_app.app, ["idle", option, ""])
    assert answer.exit_code == 2
    assert "an empty name" in answer.output


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["flat", "fib"], "measure fib in a run of its own: it compares other things"),
        (["flat", "fib", "yield"], "measure fib, yield in a run of their own: they compare other things"),
        (["steps", "flat"], "measure steps in a run of its own: it compares other things"),
        (["fib", "--runtimes", ""], "fib does not compare runtimes of OpenMP"),
        (["fib", "yield", "--also", "a=b"], "fib, yield do not compare runtimes of OpenMP"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, names: list[str], said: str):
    answer = CliRunner().invoke(bench_app.app, names)
    assert answer.exit_code == 2
    assert said in " ".join(answer.output.replace("│", " ").split())
    assert not any((tmp_path / "build").iterdir())


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
