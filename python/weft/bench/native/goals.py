"""What the threading core has set out to reach, each goal with what was measured in this run beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from ..results import Results
from .campaign import value
from .catalog import ARGOBOTS_ULT, CHILD_FIRST, COUNTS, DEVIATIONS, PARENT_FIRST, fork_join_case


@dataclass(frozen=True)
class Verdict:
    measured: str
    others: str = ""
    reached: bool | None = None  # None: not measured


@dataclass(frozen=True)
class Goal:
    pattern: str
    text: str
    judge: Callable[[Results], Verdict]


NOT_MEASURED = Verdict("not measured")
AUTO_CASES = tuple(dict.fromkeys([*((4096, d) for d in DEVIATIONS), *((n, d) for d in (0, 100) for n in COUNTS)]))
SMALL_COUNTS = (64, 256, 1024, 4096)


def number(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.1f}"


def of(results: Results, pattern: str, config: str, name: str) -> float | None:
    return value(results.of(pattern, config, name))


def best(results: Results, pattern: str, config: str, names: Iterable[str]) -> tuple[float, str] | None:
    """The lowest of what was measured, and whose it is."""
    found = [(amount, name) for name in names if (amount := of(results, pattern, config, name)) is not None]
    return min(found, default=None)


def fraction_of(
    subject: str, others: Sequence[str], cases: Sequence[tuple[int, int]], most: float, pattern: str = "techniques"
) -> Callable[[Results], Verdict]:
    """At most so many times the best of the others, in each of the cases (N, D) of the techniques; shows the worst."""

    def judge(results: Results) -> Verdict:
        ratios = []
        for n, d in cases:
            config = fork_join_case(n, d).config
            mine, theirs = of(results, pattern, config, subject), best(results, pattern, config, others)
            if mine is not None and theirs is not None:
                ratios.append((mine / theirs[0], mine, *theirs, n, d))
        if not ratios:
            return NOT_MEASURED
        ratio, mine, theirs, name, n, d = max(ratios)
        where = f", N = {n}" if len(cases) > 1 else ""
        where += f", D = {d}" if len({d for _, d in cases}) > 1 else ""
        return Verdict(f"{ratio:.2f}x: {number(mine)}{where}", f"{number(theirs)} {name}", ratio <= most)

    return judge


def at_most(
    pattern: str, config: str, subjects: Sequence[str], limit: float, others: Sequence[str] = ()
) -> Callable[[Results], Verdict]:
    """At most so many ns or bytes, by the best of weft's variants that count."""

    def judge(results: Results) -> Verdict:
        mine, theirs = best(results, pattern, config, subjects), best(results, pattern, config, others)
        beside = f"{number(theirs[0])} {theirs[1]}" if theirs else ""
        if mine is None:
            return Verdict("not measured", beside)
        name = f" {mine[1]}" if len(subjects) > 1 else ""
        ratio = f"{mine[0] / theirs[0]:.2f}x: " if theirs else ""
        return Verdict(f"{ratio}{number(mine[0])}{name}", beside, mine[0] <= limit)

    return judge


def no_more_than(pattern: str, config: str, subjects: Sequence[str], rival: str) -> Callable[[Results], Verdict]:
    """At most what the rival takes, by the best of weft's variants that count."""

    def judge(results: Results) -> Verdict:
        mine, theirs = best(results, pattern, config, subjects), of(results, pattern, config, rival)
        if mine is None or theirs is None:
            return NOT_MEASURED
        ratio = mine[0] / theirs
        return Verdict(f"{ratio:.2f}x: {number(mine[0])} {mine[1]}", f"{number(theirs)} {rival}", ratio <= 1)

    return judge


def speedup(pattern: str, one: str, two: str, subjects: Sequence[str], least: float) -> Callable[[Results], Verdict]:
    """Of the variant that is best on one worker."""

    def judge(results: Results) -> Verdict:
        alone = best(results, pattern, one, subjects)
        if alone is None:
            return NOT_MEASURED
        together = of(results, pattern, two, alone[1])
        if not together:
            return NOT_MEASURED
        gain = alone[0] / together
        return Verdict(f"{gain:.2f}x: {number(alone[0])} to {number(together)} {alone[1]}", "", gain >= least)

    return judge


_ULT = tuple(ARGOBOTS_ULT)
_CHILD_FIRST = tuple(f"weft {name}" for name in CHILD_FIRST.values())
_PARENT_FIRST = tuple(f"weft {name}" for name in PARENT_FIRST.values())
_SMALL = tuple((n, 0) for n in SMALL_COUNTS)
_SYNC_PEERS = ("Argobots", "Argobots, private pool", "MassiveThreads", "Qthreads", "Go", "Pthreads")
_SYNC = ("weft", "weft, private pool")
_YIELD_PEERS = ("Argobots", "Argobots, shared pool", "MassiveThreads", "Go")


def _sync(text: str, config: str, limit: float) -> Goal:
    return Goal("sync", text, at_most("sync", config, _SYNC, limit, _SYNC_PEERS))


def _many(name: str, others: Sequence[str], most: float) -> Goal:
    """Of the goal before it, where all are created and joined at once, as Argobots' ULTs are in its best setting."""
    return Goal("techniques", f"the same, many at once: {most}x", fraction_of(f"weft {name}", others, _SMALL, most))


GOALS: tuple[Goal, ...] = (
    Goal(
        "techniques",
        "stackless, private pool, N = 64..4096: 0.5x Argobots' tasklet",
        fraction_of("weft stackless", ("Argobots tasklet",), _SMALL, 0.5),
    ),
    _many("stackless, many", ("Argobots tasklet",), 0.5),
    Goal(
        "techniques",
        "RoC-L, private pool, D = 0: 0.35x Argobots' ULT, best setting",
        fraction_of("weft RoC-L", _ULT, _SMALL, 0.35),
    ),
    _many("RoC-L, many", _ULT, 0.35),
    Goal(
        "techniques",
        "RoC-L, private pool, D = 0: below Argobots' tasklet",
        fraction_of("weft RoC-L", ("Argobots tasklet",), _SMALL, 1.0),
    ),
    Goal(
        "techniques",
        "RoC-L, default (stealable) pool, D = 0: 0.45x Argobots' ULT, best setting",
        fraction_of("weft RoC-L, stealable", _ULT, _SMALL, 0.45),
    ),
    _many("RoC-L, stealable, many", _ULT, 0.45),
    Goal(
        "techniques",
        "Full, D = 100, N = 4096: 0.5x Argobots' ULT, best setting",
        fraction_of("weft Full", _ULT, ((4096, 100),), 0.5),
    ),
    Goal(
        "techniques",
        "auto, any D and N: within 10 % of the best parent-first technique",
        fraction_of("weft auto", _PARENT_FIRST, AUTO_CASES, 1.1),
    ),
    Goal(
        "grid",
        "auto, any D and N: within 10 % of the best parent-first technique",
        fraction_of("weft auto", _PARENT_FIRST, tuple((n, d) for n in COUNTS for d in DEVIATIONS), 1.1, "grid"),
    ),
    Goal(
        "fib",
        "child-first fib(32), 1 worker, per spawn: libfork's",
        no_more_than("fib", "n=32,workers=1", _CHILD_FIRST, "libfork"),
    ),
    Goal(
        "fib",
        "fib(32), 2 workers: 1.95 times as fast as 1",
        speedup("fib", "n=32,workers=1", "n=32,workers=2", _CHILD_FIRST, 1.95),
    ),
    Goal(
        "producer",
        "one producer, 2 workers, N = 4096: 60 ns per unit",
        at_most(
            "producer",
            "n=4096,workers=2",
            ("weft auto", "weft RoC-L"),
            60,
            (
                "Argobots ULT, shared pool",
                "Argobots ULT, stealable",
                "oneTBB task",
                "Go",
                "MassiveThreads, parent-first",
            ),
        ),
    ),
    Goal(
        "yield",
        "yield between two ULTs: 16 ns",
        at_most("yield", "kind=yield", ("weft", "weft, private pool"), 16, _YIELD_PEERS),
    ),
    Goal("yield", "yield_to: 13 ns", at_most("yield", "kind=to", ("weft", "weft, private pool"), 13, ("Argobots",))),
    _sync("mutex, uncontended: 12 ns", "kind=mutex,workers=1", 12),
    _sync("mutex, 64 ULTs on 2 workers: 100 ns per lock", "kind=mutex,units=64,workers=2", 100),
    _sync("condition variable, 1 worker: 35 ns per hand-over", "kind=condition,workers=1", 35),
    _sync("condition variable, 2 workers: 120 ns per hand-over", "kind=condition,workers=2", 120),
    _sync("barrier of 64 ULTs, 1 worker: 1,600 ns", "kind=barrier,units=64,workers=1", 1600),
    _sync("barrier of 64 ULTs, 2 workers: 4,000 ns", "kind=barrier,units=64,workers=2", 4000),
    Goal(
        "memory",
        "suspended ULT: 4,400 bytes",
        at_most(
            "memory", "kind=suspended,n=100000", ("weft",), 4400, ("Argobots ULT", "MassiveThreads", "Qthreads", "Go")
        ),
    ),
    Goal(
        "memory",
        "pending unit: 128 bytes",
        at_most("memory", "kind=pending,n=1000000", ("weft",), 128, ("Argobots tasklet",)),
    ),
)


def goals_table(results: Results, patterns: Iterable[str]) -> Table | None:
    """The goals of these patterns; None if they have none."""
    names = set(patterns)
    goals = [goal for goal in GOALS if goal.pattern in names]
    if not goals:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what weft has to reach")
    table.add_column("measured", justify="right")
    table.add_column("best of the others", justify="right")
    table.add_column("reached", justify="right")
    words = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "-"}
    for goal in goals:
        verdict = goal.judge(results)
        table.add_row(goal.text, verdict.measured, verdict.others, words[verdict.reached])
    return table
