"""The scripts behind `make`: what bootstrap says without rights, what build builds, and how run-tests counts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, make_script


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("scripts", "requirements"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture
def bare_system(tree: Path) -> dict[str, str]:
    """An environment in which no package is installed and the caller may install none."""
    tools = tree / "tools"
    tools.mkdir()
    make_script(tools / "dpkg-query", "#!/bin/sh\nexit 0\n")
    make_script(tools / "id", "#!/bin/sh\necho 1000\n")
    make_script(tools / "sudo", "#!/bin/sh\nexit 1\n")
    make_script(tools / "apt-get", f"#!/bin/sh\ntouch {tree}/apt-get-was-called\n")
    return dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")


def bootstrap(tree: Path, environment: dict[str, str], *groups: str) -> subprocess.CompletedProcess[str]:
    command = [tree / "scripts" / "bootstrap", *groups]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_bootstrap_without_rights_names_the_packages_in_one_line(tree: Path, bare_system: dict[str, str]) -> None:
    result = bootstrap(tree, bare_system, "build", "test", "bench")
    assert result.returncode != 0
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for package in ("g++", "gfortran", "python3-venv", "libgtest-dev", "libfftw3-dev"):
        assert package in result.stderr.split()
    assert not (tree / "apt-get-was-called").exists()


def test_bootstrap_with_rights_installs_what_is_missing(tree: Path, bare_system: dict[str, str]) -> None:
    make_script(tree / "tools" / "id", "#!/bin/sh\necho 0\n")
    make_script(tree / "tools" / "apt-get", f'#!/bin/sh\necho "$@" >> {tree}/calls\n')
    make_script(tree / "tools" / "apt-cache", "#!/bin/sh\nexit 0\n")
    (tree / "requirements" / "tools.txt").write_text("")
    python = tree / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    make_script(python, "#!/bin/sh\n")
    result = bootstrap(tree, bare_system, "build")
    assert (result.returncode, result.stderr) == (0, "")
    update, install = (tree / "calls").read_text().splitlines()
    assert update == "update"
    assert {"install", "-y", "g++", "cmake", "ccache"} <= set(install.split())


def test_bootstrap_names_an_unknown_group(tree: Path) -> None:
    result = bootstrap(tree, dict(os.environ), "nonsense")
    assert result.returncode != 0
    assert "nonsense" in result.stderr


@pytest.fixture
def recorder(tree: Path) -> dict[str, str]:
    """An environment in whose cmake a tree is configured by writing down what for."""
    shutil.copy(ROOT / "CMakePresets.json", tree)
    tools = tree / "tools"
    tools.mkdir()
    script = f"""#!/bin/sh
echo "$@" >> {tree}/calls
[ "$1" = --preset ] || exit 0
mkdir -p build
touch build/build.ninja
echo "BUILD_TESTING:BOOL=${{3#-DBUILD_TESTING=}}" > build/CMakeCache.txt
"""
    make_script(tools / "cmake", script)
    return dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")


def build(tree: Path, environment: dict[str, str], *words: str) -> list[str]:
    """How the tree was configured, if it was."""
    (tree / "calls").unlink(missing_ok=True)
    subprocess.run([tree / "scripts" / "build", *words], env=environment, capture_output=True, check=True)
    calls = (tree / "calls").read_text().splitlines()
    return [call for call in calls if call.startswith("--preset")]


def test_build_makes_no_tests_unless_it_is_told_to(tree: Path, recorder: dict[str, str]) -> None:
    assert build(tree, recorder, "release") == ["--preset release -DBUILD_TESTING=OFF"]
    assert build(tree, recorder, "release") == []
    assert build(tree, recorder, "--tests", "release") == ["--preset release -DBUILD_TESTING=ON"]
    assert build(tree, recorder, "--tests", "release") == []
    assert build(tree, recorder, "release") == []


def test_build_keeps_the_tests_when_packages_came_in(tree: Path, recorder: dict[str, str]) -> None:
    build(tree, recorder, "--tests", "release")
    (tree / "build-logs").mkdir(exist_ok=True)
    newer = (tree / "build" / "build.ninja").stat().st_mtime + 10
    (tree / "build-logs" / "installed").touch()
    os.utime(tree / "build-logs" / "installed", (newer, newer))
    assert build(tree, recorder, "release") == ["--preset release -DBUILD_TESTING=ON"]


# `make run` on a machine that has never seen the tests' packages ended with an error of CMake's.
def test_weft_and_its_benchmarks_need_no_package_of_the_tests(tmp_path: Path) -> None:
    def configure(tests: str) -> subprocess.CompletedProcess[str]:
        hidden = "-DCMAKE_IGNORE_PATH=/usr/include"  # of libraries that are looked for by their headers: FFTW
        options = ["-G", "Ninja", f"-DBUILD_TESTING={tests}", hidden]
        command = ["cmake", "-S", ROOT, "-B", tmp_path, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    without = configure("OFF")
    assert without.returncode == 0, without.stderr
    assert "FFTW_INCLUDE_DIR" in configure("ON").stderr


# `make run` ended with errors of clang's where libomp's package is not there: omp.h, -lomp.
def test_a_clang_that_cannot_build_openmp_programs_is_left_out(tmp_path: Path) -> None:
    def configure(script: str) -> str:
        clang = make_script(tmp_path / "clang-19", script)
        options = ["-G", "Ninja", "-DBUILD_TESTING=OFF", f"-DWEFT_CLANG={clang}"]
        command = ["cmake", "-S", ROOT, "-B", tmp_path / "tree", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "no programs built by clang" in configure("#!/bin/sh\nexit 1\n")
    assert "no programs built by clang" not in configure("#!/bin/sh\nexit 0\n")


def run_tests(tree: Path, tests: str | None, *options: str) -> tuple[int, list[str]]:
    """Runs run-tests on a build tree with these ctest lines."""
    folder = tree / "build"
    folder.mkdir(exist_ok=True)
    if tests is not None:
        (folder / "CTestTestfile.cmake").write_text(tests)
    command = [sys.executable, tree / "scripts" / "run-tests", *options, "release"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout.splitlines()


GOOD = 'add_test(good "true")\n'
BAD = 'add_test(bad "false")\n'
LONG = 'add_test(slow "false")\nset_tests_properties(slow PROPERTIES LABELS long)\n'
SKIPPED = 'add_test(skipped "sh" "-c" "exit 77")\nset_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n'
ABSENT = 'add_test(absent "/no/such/program")\n'
CRASHES = 'add_test(crashes "sh" "-c" "kill -SEGV $$")\n'
HANGS = 'add_test(hangs "sleep" "60")\nset_tests_properties(hangs PROPERTIES TIMEOUT 1)\n'


@pytest.mark.parametrize(
    ("tests", "status", "last"),
    [
        (GOOD, 0, "1 passed, 0 failed"),
        (GOOD + LONG, 0, "1 passed, 0 failed"),
        (GOOD + SKIPPED, 0, "1 passed, 0 failed"),
        (GOOD + BAD + ABSENT + CRASHES + HANGS, 1, "1 passed, 4 failed"),
        (SKIPPED, 1, "0 passed, 1 failed"),
        ("", 1, "0 passed, 1 failed"),
        (None, 1, "0 passed, 1 failed"),
        ("this is no test file\n", 1, "0 passed, 1 failed"),
    ],
)
def test_last_line_counts(tree: Path, tests: str | None, status: int, last: str) -> None:
    result, lines = run_tests(tree, tests)
    assert lines[-1] == last
    assert result == status


def test_failures_are_named(tree: Path) -> None:
    _, lines = run_tests(tree, GOOD + BAD + SKIPPED)
    assert "failed: release: bad" in lines
    assert "skipped: release: skipped" in lines


def test_stress_runs_long_tests_and_repeats(tree: Path) -> None:
    count = (
        f'add_test(counts "sh" "-c" "echo x >> {tree}/count")\nset_tests_properties(counts PROPERTIES LABELS unit)\n'
    )
    status, lines = run_tests(tree, count + GOOD, "--stress", "--repeat", "5")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")
    assert (tree / "count").read_text() == "x\n" * 5
    status, lines = run_tests(tree, count + LONG, "--stress", "--repeat", "2")
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")


def test_unbuilt_preset_fails(tree: Path) -> None:
    command = [sys.executable, tree / "scripts" / "run-tests", "asan"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"
