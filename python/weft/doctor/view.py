"""Shows a diagnosis as a table and a verdict."""

from __future__ import annotations

import sys

from weft.console import make_console, make_table
from weft.doctor.diagnosis import Diagnosis, SubjectError, diagnose
from weft.paths import DROPIN

CAN, CANNOT, NO_SUBJECT = 0, 1, 2


def doctor(subject: str) -> int:
    """Diagnoses the subject, shows what was found, and gives the exit status."""
    try:
        diagnosis = diagnose(subject)
    except SubjectError as error:
        print(f"weft: doctor: {error}", file=sys.stderr)
        return NO_SUBJECT
    if diagnosis.runtimes and not DROPIN.exists():
        diagnosis.notes.append(f"weft is not built: {DROPIN} is not there; `make build` makes it")
    show(diagnosis)
    return CAN if diagnosis.can_take_over else CANNOT


def show(diagnosis: Diagnosis) -> None:
    console = make_console()
    if diagnosis.runtimes:
        table = make_table(f"OpenMP runtimes in {diagnosis.subject}", "runtime", "file", "can weft take it over?")
        for runtime in diagnosis.runtimes:
            table.add_row(runtime.kind.value, str(runtime.path), runtime.answer)
        console.print(table)
    for obstacle in diagnosis.obstacles:
        console.print(f"why not: {obstacle}", soft_wrap=True)
    for note in diagnosis.notes:
        console.print(f"note: {note}", soft_wrap=True)
    console.print(f"{diagnosis.subject}: {diagnosis.verdict}", soft_wrap=True)
