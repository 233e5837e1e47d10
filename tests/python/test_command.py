"""The command as a whole: help, version, info, and what it says where a part is missing."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import weft
from conftest import ROOT
from weft import ctl, machine
from weft.__main__ import HELP, names_of_commands
from weft.__main__ import main as weft_main
from weft.cli import app
from weft.info import facts, ranges


def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "weft", *words], capture_output=True, text=True, check=False)


def test_help_lists_the_commands() -> None:
    result = call("--help")
    assert result.returncode == 0
    assert names_of_commands() == [command.name for command in app.registered_commands]
    assert result.stdout.startswith(HELP)


@pytest.mark.parametrize("command", ["run", "doctor", "info", "bench"])
def test_each_command_has_help(command: str) -> None:
    result = call(command, "--help")
    assert result.returncode == 0
    assert f"weft {command}" in result.stdout


def test_unknown_command_is_a_usage_error() -> None:
    result = call("nonsense")
    assert result.returncode == 2
    assert "nonsense" in result.stderr


def test_commands_are_known_without_packages() -> None:
    for words in (["nonsense"], ["help"]):
        bare = call_without_packages(ROOT, *words)
        assert bare.returncode == 2
        assert bare.stderr == f"weft: no such command '{words[0]}'; see weft --help\n"
        assert call(*words).stderr == bare.stderr
    assert call("-h").stdout == call("--help").stdout


def test_a_copy_of_the_script_alone_says_what_it_misses(tmp_path: Path) -> None:
    copy = shutil.copy(ROOT / "weft", tmp_path / "weft")
    result = subprocess.run([copy, "info"], capture_output=True, text=True, check=False)
    assert result.returncode == 125
    assert f"{tmp_path}/python is not there" in result.stderr


def test_interrupted_while_it_loads_it_says_nothing(tmp_path: Path) -> None:
    """Bug: a traceback of whatever module was being loaded."""
    (tmp_path / "weft").mkdir()
    (tmp_path / "weft" / "__init__.py").touch()
    (tmp_path / "weft" / "__main__.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\n")
    shutil.copy(ROOT / "python" / "__main__.py", tmp_path)
    result = subprocess.run(["/usr/bin/python3", tmp_path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")


def test_version_is_the_same_everywhere() -> None:
    assert call("--version").stdout == f"weft {weft.__version__}\n"
    cmake = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())
    assert cmake is not None
    assert cmake[1] == weft.__version__
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == weft.__version__


def test_info_names_what_matters() -> None:
    result = call("info")
    assert result.returncode == 0
    for name, value in facts():
        assert name in result.stdout
        assert value in result.stdout


@pytest.mark.parametrize(("numbers", "text"), [([], ""), ([3], "3"), ([0, 1, 2, 5, 7, 8], "0-2,5,7-8")])
def test_ranges(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


def test_tightest_cgroup_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "cpu.max").write_text("150000 100000\n")
    (inner / "cpu.max").write_text("max 100000\n")
    (inner / "pids.max").write_text("77\n")
    old = tmp_path / "old"
    old.mkdir()
    (old / "cpu.cfs_quota_us").write_text("-1\n")
    (old / "cpu.cfs_period_us").write_text("100000\n")
    folders = {"": [inner, inner.parent, tmp_path], "cpu": [old]}
    monkeypatch.setattr(machine, "cgroup_folders", lambda controller="": folders.get(controller, []))
    assert machine.cpu_quota() == 1.5
    (old / "cpu.cfs_quota_us").write_text("75000\n")
    assert machine.cpu_quota() == 0.75
    (old / "cpu.cfs_quota_us").write_text("200000\n")
    assert machine.cpu_quota() == 1.5
    monkeypatch.setattr(machine, "affinity", lambda: list(range(8)))
    assert machine.default_workers() == 2
    assert machine.pids_limit() == 77


def test_a_quota_without_a_period_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "cpu.cfs_quota_us").write_text("75000\n")
    (tmp_path / "inner" / "cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    folders = {"cpu": [tmp_path / "inner", tmp_path]}
    monkeypatch.setattr(machine, "cgroup_folders", lambda controller="": folders.get(controller, []))
    assert machine.cpu_quota() == 0.75


def test_interrupted_it_says_nothing_and_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(ctl, "main", interrupted)
    monkeypatch.setattr(sys, "argv", ["weft", "ctl", "1", "status"])
    assert weft_main() == 130


def test_a_name_that_is_not_utf_8_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "\udcff"
    program.symlink_to("/bin/true")
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="utf-8"))
    monkeypatch.setattr(sys, "argv", ["weft", "doctor", str(program)])
    assert weft_main() == 0
    assert output.getvalue().startswith(os.fsencode(program) + b": no OpenMP runtime found")


def call_without_packages(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["/usr/bin/python3", "-I", "-S", root / "python", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["info", "bench"])
def test_without_its_packages_the_command_says_so(name: str) -> None:
    result = call_without_packages(ROOT, name)
    assert result.returncode == 1
    assert result.stderr == f"weft: {name}: the Python package 'typer' is missing; `make build` installs it\n"


def test_help_and_version_need_no_packages() -> None:
    for words in ([], ["--help"], ["--version"]):
        plain, bare = call(*words), call_without_packages(ROOT, *words)
        assert (bare.returncode, bare.stdout, bare.stderr) == (plain.returncode, plain.stdout, "")


def test_an_installation_says_what_it_has(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "python", tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__", "bench"))
    what = "an installation has `weft run` and `weft ctl`; the other commands belong to a checkout"
    for name in ("info", "bench"):
        result = call_without_packages(tmp_path, name)
        assert (result.returncode, result.stderr) == (1, f"weft: {name}: {what}\n")
    assert call_without_packages(tmp_path, "--help").stdout == f"{HELP}{what.capitalize()}.\n"


@pytest.mark.parametrize(
    "words",
    [["info"], ["doctor", "true"], ["bench"], ["--help"], ["bench", "--help"], ["run", "--help"], ["--version"]],
)
def test_output_that_cannot_be_written_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [ROOT / "weft", *words]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("weft: ")
    assert result.stderr.endswith("No space left on device\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["info"], ["doctor", "true"], ["--help"], ["run", "--help"]])
@pytest.mark.parametrize("closed", [">&-", ">&- <&-"])
def test_closed_output_is_an_error(words: list[str], closed: str) -> None:
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', ROOT / "weft", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("weft: ")
    assert result.stderr.endswith("Bad file descriptor\n")
    assert result.stderr.count("\n") == 1


def test_a_program_finds_the_output_closed_that_the_caller_has_closed(weft: Path) -> None:
    command = ["sh", "-c", '"$0" run sh -c "test ! -e /proc/self/fd/1" >&-', weft]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("words", [["info"], ["--help"], ["run", "--help"]])
def test_a_reader_that_has_gone_is_no_error_to_tell(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run([ROOT / "weft", *words], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.parametrize("words", [["run", "no-such-program"], ["ctl", "x", "status"], ["doctor", "/"], ["nonsense"]])
def test_what_is_wrong_is_not_told_on_standard_output(words: list[str]) -> None:
    command = ["sh", "-c", 'exec "$0" "$@" 2>&-', ROOT / "weft", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (2, 127)
    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench", "--rounds", "x", "flat"], "weft: bench: --rounds: 'x' is not a whole number from 1 to 999999"),
        (["bench", "flat", "--rounds=0"], "weft: bench: --rounds: '0' is not a whole number from 1 to 999999"),
        (["bench", "--rounds"], "weft: bench: option '--rounds' requires an argument"),
        (["bench", "--nonsense"], "weft: bench: no such option: --nonsense"),
        (["bench", "flat", "--runtimes", "x"], "weft: bench: runtime 'x': there is no such runtime"),
        (["bench", "flat", "--json", "/"], "weft: bench: --json: /: is a directory"),
        (["bench", "nonsense"], "weft: bench: there is no benchmark 'nonsense'; there are main, all, "),
        (["info", "--nonsense"], "weft: info: no such option: --nonsense"),
        (["info", "x"], "weft: info: got unexpected extra argument"),
        (["doctor"], "weft: doctor: missing argument 'PROGRAM|PID'"),
        (["doctor", "--nonsense", "true"], "weft: doctor: no such option: --nonsense"),
        (["--nonsense"], "weft: no such option: --nonsense"),
        (["nonsense"], "weft: no such command 'nonsense'"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(words: list[str], said: str) -> None:
    result = call(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["doctor"], ["info"], ["bench"]])
def test_flags_have_no_type_in_help(command: list[str]) -> None:
    result = call(*command, "--help")
    assert result.returncode == 0
    assert "--help" in result.stdout
    assert "bool" not in result.stdout
    assert "╭" not in result.stdout


def test_without_arguments_there_is_help_and_a_usage_error() -> None:
    result = call()
    assert (result.returncode, result.stderr) == (2, "")
    assert result.stdout == call("--help").stdout


# The shell said that it does not find this or that.
def test_a_path_without_the_systems_tools(weft: Path, openmp_program: Path) -> None:
    for start in ([weft], ["/bin/sh", weft]):
        result = subprocess.run(
            [*start, "run", openmp_program], env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stdout, result.stderr) == (0, "on weft\n0 arguments\n", "")


def test_a_system_without_python_is_told_in_one_line(tmp_path: Path) -> None:
    launcher = tmp_path / "weft"
    (tmp_path / "python").mkdir()
    launcher.write_text((ROOT / "weft").read_text().replace("/usr/bin/python3", "/no/such/python"))
    launcher.chmod(0o755)
    result = subprocess.run(
        [launcher, "run", "true"], env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (125, "weft: python3 is not installed\n")
