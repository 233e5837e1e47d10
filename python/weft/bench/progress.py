"""What is shown while something is measured, if somebody watches."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from . import machine
from .campaign import Plan, Step, run_plan
from .results import Results


def bar(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def run_behind_bar(console: Console, plan: Plan, results: Results) -> bool:
    """Runs the plan. False: it was interrupted."""
    with bar(console) as progress:
        total = sum(
            plan.rounds_of(benchmark) * sum(benchmark.runs_on(r) for r in plan.runtimes)
            for benchmark, _ in plan.benchmarks
        )
        task = progress.add_task("", total=total)
        begun: set[tuple[int, str, str]] = set()

        def on_step(step: Step) -> None:
            begun.add((step.round, step.benchmark.name, step.runtime.name))
            text = (
                f"round {step.round + 1}/{plan.rounds_of(step.benchmark)}: {step.benchmark.name} on {step.runtime.name}"
            )
            progress.update(task, description=text, completed=len(begun) - 1)

        try:
            run_plan(plan, results, on_step)
        except KeyboardInterrupt:
            return False
    return True


def tell_reservations(console: Console, about: dict[str, Any], complete: bool) -> None:
    """What has to be said with the numbers."""
    if noise := machine.noise(about["cpu_time_of_others"]):
        console.print(noise)
    if not complete:
        console.print("Interrupted: this is what was measured until then.")
