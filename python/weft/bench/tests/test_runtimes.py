from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.bench.app import app
from weft.bench.runtimes import NoRuntime, Runtime, Setting, as_libgomp, from_folder


def test_the_shell_does_not_tune_what_is_measured():
    tuning = (
        "OMP_NUM_THREADS",
        "KMP_BLOCKTIME",
        "GOMP_SPINCOUNT",
        "WEFT_NUM_WORKERS",
        "ABT_NUM_XSTREAMS",
        "GOMAXPROCS",
    )
    base = {**dict.fromkeys(tuning, "1"), "LD_PRELOAD": "x", "HOME": "/root"}
    env = Runtime("libgomp", "", None).environment(Setting("default", {}), base)
    assert env == {"HOME": "/root", "OMP_MAX_ACTIVE_LEVELS": "16"}


def test_a_drop_in_comes_by_library_path_and_preload(tmp_path: Path):
    library = tmp_path / "libgomp.so.1"
    library.touch()
    runtime = from_folder("mine", tmp_path)
    env = runtime.environment(Setting("default", {}), {"LD_LIBRARY_PATH": "/opt"})
    assert env["LD_LIBRARY_PATH"] == f"{tmp_path}:/opt"
    assert env["LD_PRELOAD"] == str(library)
    assert runtime.is_mine(str(library.resolve()))
    assert not runtime.is_mine("/usr/lib/libgomp.so.1")


def test_the_stock_runtime_is_not_another_one_under_its_name(tmp_path: Path):
    stock = Runtime("libgomp", "", None, others=(tmp_path / "libgomp.so.1",))
    assert stock.is_mine("/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0")
    assert stock.is_mine("/venv/scikit_learn.libs/libgomp-e985bcbb.so.1.0.0")
    assert not stock.is_mine(str(tmp_path / "libgomp.so.1"))


# A second "weft" got the numbers of the first, and a folder without a library was left out after a line.
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("weft=.", "is the name of a runtime"),
        ("libgomp=.", "is the name of a runtime"),
        ("bolt clang=.", "is the name of a runtime"),
        ("a,b=.", "expected a name of"),
        ("bolt=/no/such", "there is no /no/such/libgomp.so.1"),
        ("bolt", "expected NAME=FOLDER"),
    ],
)
def test_a_runtime_that_is_none_is_refused(entry: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path))
    (tmp_path / "libgomp.so.1").touch()
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(app, ["flat", "--also", entry], env={"COLUMNS": "500"})
    assert refused.exit_code == 2
    assert said in " ".join(refused.output.split())
    name, equals, folder = entry.partition("=")
    if equals:
        with pytest.raises(NoRuntime):
            from_folder(name, Path(folder))


def test_links_to_a_runtime_lie_in_the_build_tree_and_follow_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path / "build"))
    library = tmp_path / "libomp.so.5"
    library.touch()
    folder = as_libgomp(library)
    assert folder.is_relative_to(tmp_path / "build")
    (folder / "libgomp.so.1").unlink()
    (folder / "libgomp.so.1").symlink_to("/elsewhere")
    assert as_libgomp(library) == folder
    assert {path.name: path.readlink() for path in folder.iterdir()} == {
        "libgomp.so.1": library,
        "libiomp5.so": library,
    }
