#!/usr/bin/env python3
"""Compiles and runs the programs that a document shows, and compares what they print with what it says.

    check_examples.py DOCUMENT C_COMPILER CXX_COMPILER INCLUDE_FOLDER LIBRARY_FOLDER

Each ```c or ```cpp block of the document must be a whole program: the very text of the file that is linked in the line
above it ([`examples/NAME.c`](examples/NAME.c):), and followed by a ```text block, which is its output. Each file in
examples/ must be shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[`(examples/\w+\.(\w+))`\]\(\1\):\n\n\Z")
WARNINGS = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARDS = {"c": "c11", "cpp": "c++20"}


@dataclass
class Example:
    file: str
    source: str
    output: str


def examples_of(text: str) -> list[Example]:
    """The programs in a document; SystemExit says what is wrong with one."""
    found: list[Example] = []
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] not in STANDARDS:
            continue
        line = text.count("\n", 0, block.start()) + 1
        link = LINK.search(text, 0, block.start())
        if link is None or link[2] != block[1]:
            raise SystemExit(f"line {line}: no link to the file of this program above it")
        if following is None or following[1] != "text" or text[block.end() : following.start()].strip():
            raise SystemExit(f"line {line}: no text block with the output behind this program")
        found.append(Example(link[1], block[2], following[2]))
    return found


def check(
    example: Example, document: Path, compilers: dict[str, str], include: str, libraries: str, folder: Path
) -> list[str]:
    """What is wrong with the program, if anything."""
    source = document.parent / example.file
    if not source.is_file():
        return [f"{example.file}: there is no such file"]
    if source.read_text() != example.source:
        return [f"{example.file}: the file and {document.name} differ"]
    program = folder / source.stem
    language = source.suffix.removeprefix(".")
    command = [compilers[language], f"-std={STANDARDS[language]}", *WARNINGS, str(source)]
    command += [f"-I{include}", f"-L{libraries}", "-lweft"]
    command += [f"-Wl,-rpath,{libraries}", "-o", str(program)]
    built = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if built.returncode != 0:
        return [f"{example.file}: does not compile:\n{built.stderr}"]
    wrong = []
    for workers in ("1", "2", "8"):
        environment = {**os.environ, "WEFT_NUM_WORKERS": workers}
        ran = subprocess.run([str(program)], env=environment, capture_output=True, text=True, check=False, timeout=300)
        if ran.returncode != 0 or ran.stdout != example.output:
            wrong.append(
                f"{example.file}, {workers} workers: status {ran.returncode}, printed\n{ran.stdout}{ran.stderr}"
            )
    return wrong


def main() -> int:
    document, c_compiler, cxx_compiler, include, libraries = Path(sys.argv[1]), *sys.argv[2:6]
    compilers = {"c": c_compiler, "cpp": cxx_compiler}
    examples = examples_of(document.read_text())
    shown = {example.file for example in examples}
    wrong = [
        f"examples/{file.name}: not shown in {document.name}"
        for file in sorted((document.parent / "examples").iterdir())
        if f"examples/{file.name}" not in shown
    ]
    if not examples:
        wrong.append(f"{document.name}: no program found")
    with tempfile.TemporaryDirectory() as folder:
        for example in examples:
            wrong += check(example, document, compilers, include, libraries, Path(folder))
    for line in wrong:
        print(line)
    print(f"{len(examples)} programs, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
