"""What weft has set out to reach, each goal with the number measured in this run."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from rich import box
from rich.table import Table

from .report import number, ratio
from .results import Results


@dataclass(frozen=True)
class Verdict:
    measured: str
    reached: bool | None  # None: not measured
    is_clear: bool = True  # not so if another draw of the same rounds could have given the other answer


@dataclass(frozen=True)
class Goal:
    text: str
    judge: Callable[[Results], Verdict]


NOT_MEASURED = Verdict("not measured", None)
DRAWS = 1000
UNLIKELY = 0.025  # of the draws, at either end


def likely_range(over: Sequence[float], under: Sequence[float]) -> tuple[float, float]:
    """In which 19 of 20 ratios of the medians lie when the rounds of both are drawn anew (bootstrap)."""
    if min(under) <= 0:
        return 0, inf
    chance = random.Random(0)  # the same answer for the same numbers
    ratios = sorted(
        median(chance.choices(over, k=len(over))) / median(chance.choices(under, k=len(under))) for _ in range(DRAWS)
    )
    return ratios[int(DRAWS * UNLIKELY)], ratios[int(DRAWS * (1 - UNLIKELY)) - 1]


def faster(benchmark: str, config: str, at_least: float) -> Callable[[Results], Verdict]:
    """At least so many times faster than libgomp."""

    def judge(results: Results) -> Verdict:
        cells = [results.of(benchmark, config, name) for name in ("libgomp", "weft")]
        stock, weft = (cell.median for cell in cells)
        if stock is None or not weft:
            return NOT_MEASURED
        measured = f"{ratio(stock / weft)} ({number(stock)} / {number(weft)} us)"
        low, high = likely_range(*(cell.medians for cell in cells))
        return Verdict(measured, stock / weft >= at_least, not low < at_least <= high)

    return judge


def below(benchmark: str, config: str, limit_us: float) -> Callable[[Results], Verdict]:
    def judge(results: Results) -> Verdict:
        weft = results.of(benchmark, config, "weft").median
        return NOT_MEASURED if weft is None else Verdict(f"{number(weft)} us", weft < limit_us)

    return judge


def near_ideal(benchmark: str, config: str, factor: float) -> Callable[[Results], Verdict]:
    def judge(results: Results) -> Verdict:
        cell = results.of(benchmark, config, "weft")
        if cell.median is None or not cell.ideal:
            return NOT_MEASURED
        over = cell.median / cell.ideal
        low, high = likely_range(cell.medians, [cell.ideal])
        measured = f"{over:.3f} times the ideal ({number(cell.median)} / {number(cell.ideal)} us)"
        return Verdict(measured, over <= factor, not low <= factor < high)

    return judge


def started_within(limit_ms: float) -> Callable[[Results], Verdict]:
    def judge(results: Results) -> Verdict:
        checks = results.of("startup", "child=unused", "weft").checks
        if "difference_ms" not in checks:
            return NOT_MEASURED
        extra, threads = checks["difference_ms"], checks["threads"]
        count = "1 thread, the program's own" if threads == 1 else f"{threads} threads"
        return Verdict(f"{extra:.3f} ms more than libgomp, {count}", extra < limit_ms and threads == 1)

    return judge


# The first lines are those of the project's first milestone, word for word; the last two belong to its second point.
GOALS: tuple[Goal, ...] = (
    Goal("56 x 56 empty members: 500 times faster than libgomp", faster("nested", "outer=56,inner=56", 500)),
    Goal("56 x 56 empty members: under 400 us", below("nested", "outer=56,inner=56", 400)),
    Goal("flat region of 2 members: no slower than libgomp", faster("flat", "members=2", 1)),
    Goal("flat region of 56 members: 10 times faster than libgomp", faster("flat", "members=56", 10)),
    Goal("OpenBLAS dgemm 1000: within 3 % of libgomp", faster("dgemm", "n=1000", 1 / 1.03)),
    Goal(
        "scikit-learn KMeans: within 3 % of libgomp",
        faster("kmeans", "samples=100000,features=32,clusters=20", 1 / 1.03),
    ),
    Goal(
        "4 x 28 members of 20,000 cycles: within 10 % of the ideal", near_ideal("insufficient", "outer=4,inner=28", 1.1)
    ),
    Goal("loaded but unused: under 1 ms, no thread", started_within(1)),
    Goal("idle: under 5 ms of CPU time in the second after a region", below("idle", "members=8", 5000)),
)


def goals_table(results: Results, goals: Sequence[Goal] = GOALS) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what weft has to reach")
    table.add_column("measured", justify="right")
    table.add_column("reached", justify="right")
    words = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "-"}
    for goal in goals:
        verdict = goal.judge(results)
        doubt = "" if verdict.is_clear else "[yellow], within noise[/yellow]"
        table.add_row(goal.text, verdict.measured, words[verdict.reached] + doubt)
    return table
