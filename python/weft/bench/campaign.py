"""The order in which everything is measured: rounds, and in each round every benchmark on every runtime in turn.

Runtimes that are compared run within seconds of each other, and which comes first changes from round to round, so that
a machine that slows down for a while slows all of them. Where a runtime has several settings, the first round measures
all of them and the later ones only the better one of each case.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .catalog import Benchmark, Case
from .pace import line_ns
from .results import Measurement, Outcome, Results
from .runner import run_cases
from .runtimes import Runtime, Setting

SLOW_US = 300_000  # a case this slow on a runtime is measured there in SLOW_ROUNDS rounds only, times its effort
SLOW_ROUNDS = 3
FAILURES_ENOUGH = 2  # a case that fails this often on one of what is compared is left alone there
DEFAULT_ROUNDS = 5
QUICK_ROUNDS = 2
QUICK_SCALE = 0.4  # of the time that a case is measured


@dataclass(frozen=True)
class Plan:
    benchmarks: Sequence[tuple[Benchmark, Sequence[Case]]]
    runtimes: Sequence[Runtime]
    rounds: int
    time_scale: float = 1.0

    def rounds_of(self, benchmark: Benchmark) -> int:
        rounds = self.rounds if self.time_scale < 1 else benchmark.effort * self.rounds
        return min(rounds, benchmark.rounds or rounds)

    @property
    def all_rounds(self) -> int:
        return max((self.rounds_of(benchmark) for benchmark, _ in self.benchmarks), default=0)


@dataclass(frozen=True)
class Step:
    """One process to start: some cases of a benchmark on one runtime with one of its settings."""

    benchmark: Benchmark
    runtime: Runtime
    setting: Setting
    configs: tuple[str, ...]
    round: int


T = TypeVar("T")


def rotated(compared: Sequence[T], by: int) -> list[T]:
    """The order of a round: each comes first in its turn."""
    start = by % len(compared) if compared else 0
    return [*compared[start:], *compared[:start]]


def _still_worthwhile(results: Results, benchmark: Benchmark, config: str, runtime: str, round_number: int) -> bool:
    cell = results.of(benchmark.name, config, runtime)
    if len(cell.failures) >= FAILURES_ENOUGH:
        return False
    return round_number < benchmark.effort * SLOW_ROUNDS or (cell.median or 0) < SLOW_US


def steps_of_round(plan: Plan, results: Results, number: int) -> Iterator[Step]:
    for benchmark, cases in plan.benchmarks:
        if number >= plan.rounds_of(benchmark):
            continue
        for runtime in rotated([r for r in plan.runtimes if benchmark.runs_on(r)], number):
            yield from _steps_of_runtime(results, benchmark, [case.config for case in cases], runtime, number)


def _steps_of_runtime(
    results: Results, benchmark: Benchmark, configs: Sequence[str], runtime: Runtime, number: int
) -> Iterator[Step]:
    settings = benchmark.settings_of(runtime)
    if number == 0:
        for setting in settings:
            yield Step(benchmark, runtime, setting, tuple(configs), number)
        return
    by_setting: dict[str, list[str]] = defaultdict(list)
    names = [setting.name for setting in settings]
    for config in configs:
        key = (benchmark.name, config, runtime.name)
        setting_name = results.chosen.get(key) or results.choose_setting(*key, names)
        if _still_worthwhile(results, benchmark, config, runtime.name, number):
            by_setting[setting_name].append(config)
    for setting in settings:
        if by_setting[setting.name]:
            yield Step(benchmark, runtime, setting, tuple(by_setting[setting.name]), number)


def _judge(measurement: Measurement, step: Step, references: dict[tuple[str, str], float]) -> None:
    """Adds what only the campaign can see: the wrong runtime, or a result that differs from the first one seen."""
    measurement.runtime, measurement.setting = step.runtime.name, step.setting.name
    measurement.round = step.round
    if measurement.outcome is not Outcome.OK:
        return
    if not step.runtime.is_mine(measurement.loaded):
        measurement.outcome, measurement.detail = Outcome.WRONG, f"ran on {measurement.loaded}"
        return
    reference = measurement.checks.get("reference")
    if reference is not None:
        first = references.setdefault((measurement.benchmark, measurement.config), reference)
        if abs(reference - first) > 1e-6 * abs(first):
            measurement.outcome = Outcome.WRONG
            measurement.detail = f"result {reference!r}, the first run gave {first!r}"


def run_plan(plan: Plan, results: Results, on_step: Callable[[Step], None]) -> None:
    """Fills `results`, which holds what was measured so far even if this is interrupted."""
    references: dict[tuple[str, str], float] = {}
    for number in range(plan.all_rounds):
        for step in steps_of_round(plan, results, number):
            on_step(step)
            scale = plan.time_scale
            before = line_ns()
            options = ["--time", f"{step.benchmark.time_ms * scale:g}", "--warm", f"{step.benchmark.warm_ms * scale:g}"]
            measurements = run_cases(
                step.benchmark.name,
                [*step.benchmark.command(step.runtime.clang), *options],
                step.configs,
                {**step.runtime.environment(step.setting), **step.benchmark.environment()},
                step.benchmark.timeout_s,
            )
            looks = [before, line_ns()]
            for measurement in measurements:
                measurement.line_ns = looks
                _judge(measurement, step, references)
            results.add(measurements)
        if number == 0:
            _choose_settings(plan, results)


def _choose_settings(plan: Plan, results: Results) -> None:
    for benchmark, cases in plan.benchmarks:
        for runtime in plan.runtimes:
            for case in cases:
                names = [setting.name for setting in benchmark.settings_of(runtime)]
                results.choose_setting(benchmark.name, case.config, runtime.name, names)
