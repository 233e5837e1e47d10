"""The scripts behind `make`: what bootstrap installs and says, what build builds, and how run-tests counts."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conftest import ROOT, make_script, skip_if_closed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("scripts", "requirements"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "python" / "weft").mkdir(parents=True)
    for name in ("__init__.py", "machine.py"):  # for run-tests
        shutil.copy(ROOT / "python" / "weft" / name, tmp_path / "python" / "weft")
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


@pytest.fixture
def own_system(tree: Path, bare_system: dict[str, str]) -> dict[str, str]:
    """The same for root. Its apt-get fails where its arguments match $FAILS; what it did is in `calls`."""
    make_script(tree / "tools" / "id", "#!/bin/sh\necho 0\n")
    script = f"""#!/bin/bash
[[ -n $FAILS && "$*" =~ $FAILS ]] && exit 100
echo "$@" >> {tree}/calls
"""
    make_script(tree / "tools" / "apt-get", script)
    make_script(tree / "tools" / "apt-cache", "#!/bin/sh\nexit 0\n")
    (tree / "requirements" / "tools.txt").write_text("")
    make_python(tree)
    return bare_system


def make_python(tree: Path, version: str = "3.11.2", pip: str = "true") -> None:
    """A .venv, as the user may have made it."""
    python = tree / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    make_script(
        python, f'#!/bin/sh\ncase "$*" in --version) echo {version};; *) echo "$@" >> {tree}/pip; {pip};; esac\n'
    )


def installed(tree: Path) -> list[set[str]]:
    """The words of each installation."""
    calls = (set(line.split()) for line in (tree / "calls").read_text().splitlines())
    return [call for call in calls if "install" in call and "--simulate" not in call]


def test_bootstrap_with_rights_installs_what_is_missing(tree: Path, own_system: dict[str, str]) -> None:
    result = bootstrap(tree, own_system, "build")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tree / "calls").read_text().splitlines()[0].split()[-1] == "update"
    needed, optional = installed(tree)
    assert {"-y", "--no-remove", "g++", "cmake"} <= needed
    assert "ccache" not in needed
    assert {"-y", "--no-remove", "ccache", "valgrind"} <= optional


# libomp-19-dev and libomp-14-dev cannot be installed both, and `apt-get install -y` took away what the user had.
def test_what_has_no_place_beside_the_users_packages_is_left_out(tree: Path, own_system: dict[str, str]) -> None:
    own_system["FAILS"] = "install.* valgrind"
    result = bootstrap(tree, own_system, "build")
    assert (result.returncode, result.stderr) == (0, "")
    assert "valgrind; going on without it" in result.stdout
    assert any("ccache" in call for call in installed(tree))
    assert (tree / "build-logs" / "left-out-valgrind").exists()
    assert not (tree / "build-logs" / "left-out-ccache").exists()


def test_a_broken_source_of_packages_is_told_and_gone_on_with(tree: Path, own_system: dict[str, str]) -> None:
    own_system["FAILS"] = "update|install.* valgrind"
    result = bootstrap(tree, own_system, "build")
    assert (result.returncode, result.stderr) == (0, "")
    assert "could not get every list" in result.stdout
    assert any("g++" in call for call in installed(tree))
    assert not (tree / "build-logs" / "left-out-valgrind").exists()  # the next time it may be there


def test_what_is_needed_and_cannot_be_installed_is_an_error(tree: Path, own_system: dict[str, str]) -> None:
    own_system["FAILS"] = "install.* cmake"
    result = bootstrap(tree, own_system, "build")
    assert result.returncode == 1
    assert "could not install" in result.stderr


def test_packages_are_no_patterns_of_file_names(tree: Path, own_system: dict[str, str]) -> None:
    (tree / "ccacheX").touch()
    bootstrap(tree, own_system, "build")
    assert "ccache" in installed(tree)[1]


def test_a_venv_of_the_users_own_is_kept(tree: Path, own_system: dict[str, str]) -> None:
    make_python(tree, pip="false")
    (tree / ".venv" / "mine").touch()
    result = bootstrap(tree, own_system, "build")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert ".venv" in result.stderr
    assert (tree / ".venv" / "mine").exists()


@pytest.mark.parametrize("mark", [".made-by-weft", ".installed-tools.txt"])
def test_a_broken_venv_of_weft_is_made_anew(tree: Path, own_system: dict[str, str], mark: str) -> None:
    make_python(tree, pip="false")
    (tree / ".venv" / mark).write_text("old")
    (tree / ".venv" / "old").touch()
    bootstrap(tree, own_system, "build")
    assert not (tree / ".venv" / "old").exists()
    assert (tree / ".venv" / ".made-by-weft").exists()


# After an upgrade of the system's Python the packages of .venv are those of another one.
def test_packages_are_installed_anew_for_another_python(tree: Path, own_system: dict[str, str]) -> None:
    def installations() -> int:
        bootstrap(tree, own_system, "build")
        return (tree / "pip").read_text().count("-r requirements/tools.txt")

    assert [installations(), installations()] == [1, 1]
    make_python(tree, version="3.13.1")
    assert installations() == 2


@pytest.mark.parametrize(("script", "word"), [("bootstrap", "build"), ("build", "release")])
def test_of_two_at_once_the_second_waits_and_says_so(
    tree: Path, own_system: dict[str, str], script: str, word: str
) -> None:
    make_script(tree / "tools" / "cmake", "#!/bin/sh\n")
    (tree / "build-logs").mkdir()
    with (tree / "build-logs" / f"lock-{script}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [tree / "scripts" / script, word]
        with subprocess.Popen(command, env=own_system, stdout=subprocess.PIPE, text=True) as second:
            assert second.stdout is not None
            assert second.stdout.readline() == f"weft: waiting for another {script} in this checkout\n"
            assert second.poll() is None
            assert not (tree / "calls").exists()
            fcntl.flock(lock, fcntl.LOCK_UN)
            second.communicate()
    assert second.returncode == 0


# After `sudo make build`, `make run` ended with a line of bash's about a lock.
@pytest.mark.parametrize(("script", "word"), [("bootstrap", "build"), ("build", "release")])
def test_folders_of_roots_are_named_in_one_line(tree: Path, script: str, word: str) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as name:
        skip_if_closed(Path(name))
        shutil.copytree(tree, name, dirs_exist_ok=True)
        Path(name).chmod(0o777)
        logs = Path(name).resolve() / "build-logs"
        logs.mkdir(mode=0o755)  # whatever the umask
        command = [Path(name) / "scripts" / script, word]
        result = subprocess.run(
            command, user=65534, group=65534, extra_groups=[], capture_output=True, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr.startswith(f"weft: {logs}: you may not write there")
    assert result.stderr.count("\n") == 1


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
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >> build/CMakeCache.txt
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


# A copy of a checkout, its build tree with it, built the sources of the first one.
def test_build_configures_the_tree_of_another_checkout_afresh(tree: Path, recorder: dict[str, str]) -> None:
    build(tree, recorder, "release")
    cache = tree / "build" / "CMakeCache.txt"
    cache.write_text(cache.read_text().replace(f"={tree}", f"={tree.parent}"))
    assert build(tree, recorder, "release") == ["--preset release -DBUILD_TESTING=OFF --fresh"]
    assert build(tree, recorder, "release") == []


@pytest.mark.parametrize("script", ["lint", "format"])
def test_without_a_list_of_the_sources_nothing_is_right(tree: Path, script: str) -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_CEILING_DIRECTORIES"] = str(tree.parent)
    result = subprocess.run([tree / "scripts" / script], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith(f"weft: {script}: git does not list the sources here")


def test_what_ruff_cannot_mend_does_not_keep_the_rest_from_being_laid_out(tree: Path) -> None:
    for tool in ("bin/git", "bin/clang-format", ".venv/bin/ruff"):
        (tree / tool).parent.mkdir(parents=True, exist_ok=True)
    make_script(tree / "bin" / "git", "#!/bin/sh\necho a.c\n")
    make_script(tree / "bin" / "clang-format", "#!/bin/sh\n")
    make_script(tree / ".venv" / "bin" / "ruff", f'#!/bin/sh\necho "$1" >> {tree}/calls\n[ "$1" = format ]\n')
    environment = dict(os.environ, PATH=f"{tree}/bin:{os.environ['PATH']}")
    result = subprocess.run([tree / "scripts" / "format"], env=environment, capture_output=True, check=False)
    assert (tree / "calls").read_text().split() == ["check", "format"]
    assert result.returncode == 1


@pytest.mark.parametrize(("broken", "last"), [("bootstrap", "0 passed, 1 failed"), ("run-tests", "2 passed, 3 failed")])
def test_the_line_that_counts_is_the_last_one_whatever_fails(tree: Path, broken: str, last: str) -> None:
    shutil.copytree(ROOT / ".ci", tree / ".ci")
    shutil.copy(ROOT / "Makefile", tree)
    for script in ("bootstrap", "build"):
        make_script(tree / "scripts" / script, f"#!/bin/sh\n[ {script} != {broken} ]\n")
    (tree / ".venv" / "bin").mkdir(parents=True)
    make_script(tree / ".venv" / "bin" / "python", "#!/bin/sh\necho 2 passed, 3 failed\nexit 1\n")
    for command in ([tree / ".ci" / "run"], ["make", "-C", tree, "test"]):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode != 0
        assert last in result.stdout.splitlines()
    assert subprocess.run([tree / ".ci" / "run"], capture_output=True, text=True, check=False).stdout.endswith(
        f"{last}\n"
    )


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


# The folders of pkg-config's file, and what the command's link leads to, were put behind the prefix all the same.
@pytest.mark.parametrize(
    ("libdir", "packaged", "linked"),
    [
        ("lib", "prefix=${pcfiledir}/../../\nlibdir=${prefix}/lib\n", "../lib/weft/weft"),
        ("/opt/lib", "prefix=/usr\nlibdir=/opt/lib\n", "/opt/lib/weft/weft"),
    ],
)
def test_weft_is_installed_into_a_folder_outside_the_prefix(
    tmp_path: Path, libdir: str, packaged: str, linked: str
) -> None:
    project = f"""cmake_minimum_required(VERSION 3.25)
project(weft VERSION 1.0.0 LANGUAGES NONE)
add_library(weft INTERFACE)
include({ROOT}/cmake/WeftInstall.cmake)
"""
    (tmp_path / "CMakeLists.txt").write_text(project)
    (tmp_path / "weft").touch()
    for folder in ("include/weft", "python", "build/dropin"):
        (tmp_path / folder).mkdir(parents=True)
    folders = [f"-DCMAKE_INSTALL_LIBDIR={libdir}", "-DCMAKE_INSTALL_PREFIX=/usr"]
    built, installed = tmp_path / "build", tmp_path / "installed"
    quiet = {"check": True, "capture_output": True}
    subprocess.run(["cmake", "-S", tmp_path, "-B", built, *folders], **quiet)  # type: ignore[call-overload]
    environment = dict(os.environ, DESTDIR=str(installed))
    subprocess.run(["cmake", "--install", built], env=environment, **quiet)  # type: ignore[call-overload]
    [package] = installed.rglob("weft.pc")
    assert package.read_text().startswith(packaged)
    assert str((installed / "usr" / "bin" / "weft").readlink()) == linked


def run_tests(tree: Path, tests: str | None, *options: str, **settings: str) -> tuple[int, list[str]]:
    """Runs run-tests on a build tree with these ctest lines."""
    folder = tree / "build"
    folder.mkdir(exist_ok=True)
    if tests is not None:
        (folder / "CTestTestfile.cmake").write_text(tests)
    command = [sys.executable, tree / "scripts" / "run-tests", *options, "release"]
    environment = dict(os.environ, **settings)
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout.splitlines()


GOOD = 'add_test(good "true")\n'
BAD = 'add_test(bad "false")\n'
LONG = 'add_test(slow "false")\nset_tests_properties(slow PROPERTIES LABELS long)\n'
EXTRA = LONG.replace("LABELS long", 'LABELS "unit;extra"')
SKIPPED = 'add_test(skipped "sh" "-c" "exit 77")\nset_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n'
ABSENT = 'add_test(absent "/no/such/program")\n'
CRASHES = 'add_test(crashes "sh" "-c" "kill -SEGV $$")\n'
HANGS = 'add_test(hangs "sleep" "60")\nset_tests_properties(hangs PROPERTIES TIMEOUT 1)\n'


@pytest.mark.parametrize(
    ("tests", "status", "last"),
    [
        (GOOD, 0, "1 passed, 0 failed"),
        (GOOD + LONG, 0, "1 passed, 0 failed"),
        (GOOD + EXTRA, 0, "1 passed, 0 failed"),
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


def test_what_failures_have_printed_last_stands_at_the_end(tree: Path) -> None:
    tests = 'add_test(bad "sh" "-c" "seq 100; exit 1")\n' + GOOD
    _, lines = run_tests(tree, tests)
    at = lines.index("weft: the last lines of release: bad")
    assert lines[at + 1 : at + 21] == [f"  {number}" for number in range(81, 101)]
    assert lines[at + 21 :] == ["failed: release: bad", "1 passed, 1 failed"]


def test_stress_runs_long_tests_and_repeats(tree: Path) -> None:
    count = (
        f'add_test(counts "sh" "-c" "echo x >> {tree}/count")\nset_tests_properties(counts PROPERTIES LABELS unit)\n'
    )
    status, lines = run_tests(tree, count + GOOD, "--stress", "--repeat", "5")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")
    assert (tree / "count").read_text() == "x\n" * 5
    status, lines = run_tests(tree, count + LONG, "--stress", "--repeat", "2")
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")


def test_stress_repeats_extra_tests(tree: Path) -> None:
    extra = f'add_test(counts "sh" "-c" "echo x >> {tree}/count")\n'
    extra += 'set_tests_properties(counts PROPERTIES LABELS "unit;extra")\n'
    status, lines = run_tests(tree, extra, "--stress", "--repeat", "5")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")
    assert (tree / "count").read_text() == "x\n" * 5


# OMP_THREAD_LIMIT=2 in the user's shell made hundreds of tests fail.
def test_settings_of_the_users_shell_are_not_for_the_tests(tree: Path) -> None:
    unset = 'add_test(unset "sh" "-c" "test -z \\"$OMP_THREAD_LIMIT$WEFT_REPORT$KMP_AFFINITY\\"")\n'
    settings = {"OMP_THREAD_LIMIT": "2", "WEFT_REPORT": "1", "KMP_AFFINITY": "none"}
    assert run_tests(tree, unset, **settings)[1][-1] == "1 passed, 0 failed"


def test_unbuilt_preset_fails(tree: Path) -> None:
    command = [sys.executable, tree / "scripts" / "run-tests", "asan"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_interrupted_tests_end_with_one_line(tree: Path) -> None:
    (tree / "build").mkdir()
    (tree / "build" / "CTestTestfile.cmake").write_text(
        f'add_test(waits "sh" "-c" "touch {tree}/started; exec sleep 60")\n'
    )
    command = [sys.executable, tree / "scripts" / "run-tests", "release"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as tests:  # type: ignore[call-overload]
        while not (tree / "started").exists():
            assert tests.poll() is None
            time.sleep(0.01)
        os.killpg(tests.pid, signal.SIGINT)
        _, said = tests.communicate(timeout=120)
    assert tests.returncode == 130
    assert said == "weft: run-tests: interrupted\n"


def test_as_many_tests_at_a_time_as_the_process_may_use_cpus(tree: Path) -> None:
    (tree / "python" / "weft" / "machine.py").write_text("def default_workers(): return 17\n")
    (tree / "build").mkdir()
    (tree / "bin").mkdir()
    make_script(tree / "bin" / "ctest", f'#!/bin/sh\necho "$@" >> {tree}/calls\n')
    command = [sys.executable, tree / "scripts" / "run-tests", "release"]
    environment = dict(os.environ, PATH=f"{tree}/bin:{os.environ['PATH']}")
    subprocess.run(command, env=environment, capture_output=True, check=False)
    assert "-j 17" in (tree / "calls").read_text()


# They ended with a traceback.
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--python", "there is no such program"),
        ("--mkl", "there is no libmkl_rt.so"),
        ("--build", "its tests are not built"),
    ],
)
def test_times_names_what_is_not_there_in_one_line(tmp_path: Path, option: str, said: str) -> None:
    absent = tmp_path / "none" / "x"
    command = [sys.executable, ROOT / "tests" / "programs" / "times.py", option, absent, "none"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"times.py: {option} {absent}: {said}\n"
    assert not absent.parent.exists()
