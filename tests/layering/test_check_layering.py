"""The layering check itself: it passes a good tree, and fails on each kind of violation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).with_name("check_layering.py")
RULES = """\
include:
src/base:
src/os: src/base   # a comment
src/core: src/base src/os include
src/faces/openmp: src/core
src/base src/os src/core without: OpenMP omp
"""
GOOD = {
    "include/weft/weft.h": "#pragma once\n",
    "src/base/list.h": "#include <stddef.h>\n",
    "src/os/futex.h": '#include "base/list.h"\n',
    "src/core/unit.h": '#include "os/futex.h"\n#include "pool/deque.h"\n#include <weft/weft.h>\n// component, stomp\n',
    "src/core/pool/deque.h": '#include "../../base/list.h"\n',
    "src/core/CMakeLists.txt": "add_library(core STATIC unit.cpp)\n",
    "src/faces/openmp/team.cpp": '#include "core/unit.h"\n#include <omp.h>\n// OpenMP may stand here\n',
}


def run_check(root: Path, files: dict[str, str], rules: str = RULES) -> subprocess.CompletedProcess[str]:
    (root / "layering.txt").write_text(rules)
    for name, text in (GOOD | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)


def test_good_tree_passes(tmp_path: Path) -> None:
    result = run_check(tmp_path, {})
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("src/base/up.h", '\n#include "core/unit.h"\n', "src/base/up.h:2: includes src/core/unit.h"),
        ("src/base/up.h", "#  include <os/futex.h>\n", "src/base/up.h:1: includes src/os/futex.h"),
        ("src/os/up.S", '#include "../core/pool/deque.h"\n', "src/os/up.S:1: includes src/core/pool/deque.h"),
        ("src/core/up.cpp", '#include "faces/openmp/team.cpp"\n', "src/core/up.cpp:1: includes src/faces/openmp"),
        ("src/faces/openmp/down.cpp", '#include "base/list.h"\n', "the rule is 'src/faces/openmp: src/core'"),
        ("include/weft/bad.h", '#include "base/list.h"\n', "include/weft/bad.h:1: includes src/base/list.h"),
        ("src/core/computed.h", "#include WHICH\n", "src/core/computed.h:1: #include WHICH: a computed include"),
        ("src/core/word.h", "\n\n// as openmp has it\n", "src/core/word.h:3: contains 'openmp'"),
        ("src/os/word.cpp", 'getenv("OMP_STACKSIZE");\n', "src/os/word.cpp:1: contains 'OMP'"),
        ("src/base/CMakeLists.txt", "# for omp\n", "src/base/CMakeLists.txt:1: contains 'omp'"),
        ("src/new/file.h", "\n", "src/new/file.h:1: no rule in layering.txt covers src/new"),
    ],
)
def test_violation_is_named(tmp_path: Path, file: str, text: str, expected: str) -> None:
    result = run_check(tmp_path, {file: text})
    assert result.returncode == 1
    assert all(line.startswith(f"{file}:") for line in result.stdout.splitlines())
    assert expected in result.stdout


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("src/base: src/core\nsrc/core: src/base\n", "a cycle: src/base -> src/core -> src/base"),
        ("src/base: src/nowhere\n", "'src/nowhere', which has no rule"),
        ("src/base:\nsrc/base:\n", "layering.txt:2: a second rule for 'src/base'"),
        ("src/base\n", "layering.txt:1: expected"),
    ],
)
def test_wrong_rules_are_named(tmp_path: Path, rules: str, expected: str) -> None:
    result = run_check(tmp_path, {}, rules)
    assert result.returncode == 2
    assert expected in result.stdout
