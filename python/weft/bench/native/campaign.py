"""The order in which everything is measured: rounds, in each round every case, and each case on every variant in turn.

Which variant comes first changes from round to round. What is compared runs within a second or two, so that a machine
that slows down for a while slows all of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import shell
from ..campaign import FAILURES_ENOUGH, rotated
from ..results import Cell, Results
from ..runner import run_cases
from .catalog import Case, Pattern, Variant


@dataclass(frozen=True)
class Plan:
    patterns: Sequence[tuple[Pattern, Sequence[Case]]]
    rounds: int
    time_scale: float = 1.0

    def rounds_of(self, pattern: Pattern) -> int:
        return min(self.rounds, pattern.rounds or self.rounds)

    def steps(self) -> int:
        return sum(
            self.rounds_of(pattern) * sum(variant.takes(case) for case in cases for variant in pattern.present())
            for pattern, cases in self.patterns
        )


def value(cell: Cell) -> float | None:
    """ns per operation, or bytes per unit."""
    if cell.median is None:
        return None
    first = next(m for m in cell.measurements if m.median is not None)
    scale = 1000.0 if first.unit == "us" else 1.0
    return cell.median * scale / first.params["operations"]


def run_plan(plan: Plan, results: Results, on_step: Callable[[str], None]) -> None:
    """Fills `results`, which holds what was measured so far even if this is interrupted."""
    for number in range(plan.rounds):
        for pattern, cases in plan.patterns:
            if number >= plan.rounds_of(pattern):
                continue
            variants = rotated(pattern.present(), number)
            for case in cases:
                for variant in variants:
                    if variant.takes(case):
                        on_step(f"round {number + 1}/{plan.rounds}: {pattern.name} on {variant.name}")
                        _measure(plan, pattern, case, variant, number, results)


def _measure(plan: Plan, pattern: Pattern, case: Case, variant: Variant, number: int, results: Results) -> None:
    if len(results.of(pattern.name, case.config, variant.name).failures) >= FAILURES_ENOUGH:
        return
    times = ["--time", f"{pattern.time_ms * plan.time_scale:g}", "--warm", f"{pattern.warm_ms * plan.time_scale:g}"]
    command = [str(pattern.program_of(variant)), *times]
    measurements = run_cases(pattern.name, command, [variant.config(case)], shell.environment(), pattern.timeout_s)
    for measurement in measurements:
        measurement.config, measurement.runtime, measurement.setting = case.config, variant.name, "default"
        measurement.round = number
    results.add(measurements)
