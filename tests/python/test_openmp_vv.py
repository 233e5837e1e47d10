"""scripts/openmp-vv: what it needs, and what it keeps when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT, make_script

COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n%s\\n' 'case $0 in *slow*) echo > started; while [ -e wait ]; do sleep 0.05; done;; esac' > "$2"
chmod +x "$2"
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for folder in ("suite/ompvv", "suite/tests", "dropin", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("a", "b_slow", "c"):
        (tmp_path / "suite" / "tests" / f"{name}.c").touch()
    (tmp_path / "dropin" / "libgomp.so.1").touch()
    for name in ("gcc-12", "g++-12", "gfortran-12"):
        make_script(tmp_path / "bin" / name, COMPILER)
    return tmp_path / "suite"


def command(suite: Path, *options: str) -> list[str]:
    folder = suite.parent
    words = ["--work", f"{folder}/work", "--dropin", f"{folder}/dropin", "--compilers", "gcc", *options]
    return [sys.executable, str(ROOT / "scripts" / "openmp-vv"), str(suite), *words]


def environment(suite: Path) -> dict[str, str]:
    return dict(os.environ, PATH=f"{suite.parent}/bin:/usr/bin:/bin")


def test_everything_passes(suite: Path) -> None:
    result = subprocess.run(command(suite), env=environment(suite), capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "gcc: 3 tests, 3 build; on its own runtime 3 pass, on weft 3\n"


# Without the drop-in, the stock runtime was counted as weft.
def test_what_is_missing_is_named_in_one_line(suite: Path) -> None:
    def said(*options: str, **settings: str) -> str:
        words = command(suite, *options)
        env = environment(suite) | settings
        result = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert result.returncode == 1
        assert result.stderr.count("\n") == 1
        return result.stderr

    assert "not installed: clang-19, clang++-19" in said("--compilers", "clang", PATH="/no/such")
    (suite.parent / "dropin" / "libgomp.so.1").unlink()
    assert "make build" in said()


def test_what_has_run_until_an_interruption_is_kept(suite: Path) -> None:
    folder = suite.parent / "work" / "gcc"
    folder.mkdir(parents=True)
    (folder / "wait").touch()
    settings = {"env": environment(suite), "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command(suite), **settings) as run:  # type: ignore[call-overload]
        while not (folder / "started").exists():
            assert run.poll() is None
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        time.sleep(1)  # it stops at once, but waits for what runs
        (folder / "wait").unlink()
        _, said = run.communicate(timeout=120)
    assert run.returncode == 130
    assert said == "openmp-vv: interrupted; started again, it goes on from here\n"
    kept = json.loads((suite.parent / "work" / "gcc.json").read_text())
    assert kept["a.c"]["stock"] == 0
    assert kept["b_slow.c"].get("stock", 0) == 0  # it has run to its end
    assert all("weft" not in result for result in kept.values())
