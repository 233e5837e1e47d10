"""Which libraries a program loads at its start, as the system's own loader answers."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from weft.elf import Elf

FOUND = re.compile(r"^\t(?:(?P<name>.+?) => )?(?P<path>/.+) \(0x[0-9a-f]+\)$")
MISSING = re.compile(r"^\t(?P<name>.+?) => not found$")


@dataclass
class Libraries:
    """Names as the program asks for them, and the files that the loader finds."""

    found: list[tuple[str, Path]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    problem: str | None = None


def system_loader() -> str:
    loader = Elf.open("/proc/self/exe").interpreter
    return loader or "/lib64/ld-linux-x86-64.so.2"


def loaded_libraries(path: Path) -> Libraries:
    """Asks the system's loader, which maps the libraries and runs none of their code.

    The loader that the program itself names is never started: it could be anything.
    """
    environment = dict(os.environ) | {"LD_TRACE_LOADED_OBJECTS": "1", "LC_ALL": "C"}
    environment.pop("LD_DEBUG", None)
    try:
        answer = subprocess.run(
            [system_loader(), str(path.absolute())],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Libraries(problem=f"the loader could not be asked: {error}")
    libraries = Libraries()
    for line in answer.stdout.splitlines():
        if missing := MISSING.match(line):
            libraries.missing.append(missing["name"])
        elif found := FOUND.match(line):
            file = Path(found["path"])
            libraries.found.append((found["name"] or file.name, file))
    if answer.returncode:
        *_, libraries.problem = [None, *answer.stderr.strip().splitlines()]
    return libraries
