"""Instructions per unit of the fork-join pattern, in its three phases, counted by valgrind's callgrind.

The program names its phases by functions (phase_create, phase_run, phase_join, phase_end in bench/techniques.c), and
callgrind writes what it has counted each time one of them is entered.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.table import Table

from .. import shell
from .catalog import Case, Pattern, Variant

PHASES = ("create", "run", "join")
UNITS = 1024
TIMEOUT_S = 120
CASES = (Case(f"n={UNITS},d=0", "D=0"), Case(f"n={UNITS},d=100", "D=100"))
LIBRARIES = ("argobots", "massivethreads", "qthreads", "weft")  # those whose program has the phases

# callgrind ends a count where the next phase begins.
_ENDS = {"phase_run": "create", "phase_join": "run", "phase_end": "join"}


@dataclass(frozen=True)
class Count:
    variant: Variant
    case: Case
    per_unit: dict[str, float]  # by phase; empty: it did not work


def why_not() -> str | None:
    return None if shutil.which("valgrind") else "instructions: valgrind is not installed (Debian: valgrind)"


def read_dumps(texts: Iterable[str], units: int) -> dict[str, float]:
    """Instructions per unit and phase, from the dumps that callgrind has written."""
    found: dict[str, float] = {}
    for text in texts:
        trigger = re.search(r"^desc: Trigger: --dump-before=(\w+)", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if trigger and total and trigger[1] in _ENDS:
            found[_ENDS[trigger[1]]] = int(total[1]) / units
    return found


def count(pattern: Pattern, variant: Variant, case: Case) -> Count:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out.%p",
            "--dump-before=phase_*",
            str(pattern.program_of(variant)),
            f"{variant.config(case)},instructions=1",
        ]
        try:
            subprocess.run(command, env=shell.environment(), capture_output=True, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return Count(variant, case, {})
        texts = (path.read_text(errors="replace") for path in sorted(Path(folder).iterdir()))
        return Count(variant, case, read_dumps(texts, UNITS))


def countable(pattern: Pattern) -> list[tuple[Variant, Case]]:
    return [
        (variant, case)
        for variant in pattern.present()
        if variant.library in LIBRARIES and "many=1" not in variant.options
        for case in CASES
        if variant.takes(case)
    ]


def counts_table(counts: Sequence[Count]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"instructions per unit\nN = {UNITS}")
    for case in CASES:
        for phase in (*PHASES, "all"):
            table.add_column(f"{case.label}\n{phase}", justify="right", no_wrap=True)
    rows: dict[str, dict[Case, Count]] = {}
    for entry in counts:
        rows.setdefault(entry.variant.name, {})[entry.case] = entry
    for name, by_case in rows.items():
        texts: list[str] = []
        for case in CASES:
            per_unit = by_case[case].per_unit if case in by_case else {}
            complete = len(per_unit) == len(PHASES)
            texts += [f"{per_unit[phase]:.0f}" if phase in per_unit else "-" for phase in PHASES]
            texts.append(f"{sum(per_unit.values()):.0f}" if complete else "-")
        table.add_row(name, *texts)
    return table
