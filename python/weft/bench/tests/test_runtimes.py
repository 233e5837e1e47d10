from pathlib import Path

from weft.bench.runtimes import Runtime, Setting, from_folder


def test_the_shell_does_not_tune_what_is_measured():
    base = {"OMP_NUM_THREADS": "1", "KMP_BLOCKTIME": "0", "LD_PRELOAD": "x", "HOME": "/root"}
    env = Runtime("libgomp", "", None).environment(Setting("default", {}), base)
    assert env == {"HOME": "/root", "OMP_MAX_ACTIVE_LEVELS": "16"}


def test_a_drop_in_comes_by_library_path_and_preload(tmp_path: Path):
    library = tmp_path / "libgomp.so.1"
    library.touch()
    runtime = from_folder("mine", tmp_path)
    assert isinstance(runtime, Runtime)
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


def test_a_folder_without_a_runtime_is_named(tmp_path: Path):
    assert "there is no" in str(from_folder("bolt", tmp_path))
