"""What can be measured: patterns, the cases of each, and the variants that each is measured on.

A variant is a library with some settings. Its program is build/bench/bin/PATTERN-LIBRARY, built from one source for all
libraries (bench/native.h); the settings are more keys of the config that the program is given.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import places

LIBRARIES = {
    "argobots": "Argobots",
    "massivethreads": "MassiveThreads",
    "qthreads": "Qthreads",
    "tbb": "oneTBB",
    "libfork": "libfork",
    "go": "Go",
    "pthreads": "Pthreads",
    "weft": "weft",
}


@dataclass(frozen=True)
class Case:
    """One configuration of a pattern. `config` is what its program is given, `label` what a reader sees."""

    config: str
    label: str
    quick: bool = False

    @cached_property
    def keys(self) -> dict[str, str]:
        return dict(part.split("=", 1) for part in self.config.split(","))

    def number(self, key: str, otherwise: int) -> int:
        return int(self.keys.get(key, otherwise))


@dataclass(frozen=True)
class Variant:
    name: str
    library: str
    options: str = ""
    deviates: bool = True  # its units can yield
    workers: tuple[int, ...] = (1, 2)
    most: int = 1 << 30  # units that it can be asked for
    only: str = ""  # a key=value that a case must have
    without: str = ""  # one that it must not have

    def takes(self, case: Case) -> bool:
        parts = case.config.split(",")
        return (
            (self.deviates or case.number("d", 0) == 0)
            and case.number("workers", 1) in self.workers
            and case.number("n", 0) <= self.most
            and (not self.only or self.only in parts)
            and (not self.without or self.without not in parts)
        )

    def config(self, case: Case) -> str:
        return f"{case.config},{self.options}" if self.options else case.config


@dataclass(frozen=True)
class Section:
    """One table: some cases side by side."""

    title: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Pattern:
    name: str
    title: str
    program: str
    sections: tuple[Section, ...]
    variants: tuple[Variant, ...]
    unit: str = "ns"
    time_ms: int = 25  # measured time of one case in one round
    warm_ms: int = 8
    timeout_s: float = 60
    rounds: int | None = None  # fewer than asked for, where more would show nothing

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(dict.fromkeys(case for section in self.sections for case in section.cases))

    def program_of(self, variant: Variant) -> Path:
        return places.programs_dir() / f"{self.program}-{variant.library}"

    def missing(self) -> list[str]:
        """The libraries that this pattern has no program for."""
        libraries = dict.fromkeys(variant.library for variant in self.variants)
        absent = {v.library for v in self.variants if not self.program_of(v).exists()}
        return [LIBRARIES[library] for library in libraries if library in absent]

    def present(self) -> list[Variant]:
        return [variant for variant in self.variants if self.program_of(variant).exists()]


# --- techniques -----------------------------------------------------------------------------------------------------

DEVIATIONS = (0, 10, 25, 50, 75, 100)
FEW = (1, 2, 4)
COUNTS = (16, 64, 256, 1024, 4096, 16384, 65536)

PARENT_FIRST = {
    "full": "Full",
    "full_l": "Full-L",
    "roc": "RoC",
    "roc_l": "RoC-L",
    "ss": "SS",
    "ss_l": "SS-L",
    "sc": "SC",
}
CHILD_FIRST = {"c_full": "C-Full", "c_full_e": "C-Full-E", "c_roc": "C-RoC", "c_roc_e": "C-RoC-E"}

ARGOBOTS_ULT = {
    "Argobots ULT": "pool=priv",
    "Argobots ULT, LIFO": "pool=priv_lifo",
    "Argobots ULT, LIFO, many": "pool=priv_lifo,many=1",
    "Argobots ULT, stealable": "pool=steal",
    "Argobots ULT, stealable, many": "pool=steal,many=1",
}


def fork_join_case(n: int, d: int) -> Case:
    return Case(f"n={n},d={d}", f"N={n}, D={d}", quick=n == 4096 and d in (0, 100))


def _sections() -> tuple[Section, ...]:
    def over_n(d: int) -> tuple[Case, ...]:
        return tuple(fork_join_case(n, d) for n in COUNTS)

    return (
        Section("over D (%), N = 4096", tuple(fork_join_case(4096, d) for d in DEVIATIONS)),
        Section("over N, D = 0", over_n(0)),
        Section("over N, D = 100 %", over_n(100)),
        Section("few, D = 0", tuple(fork_join_case(n, 0) for n in FEW)),
    )


def _private(technique: str) -> str:
    """SC's units run on the scheduler's stack, and take no size of their own. Child-first techniques have no private
    form here: the creator waits in the worker's deque."""
    return f"technique={technique},pool=priv" + (",stack=0" if technique == "sc" else "")


def _techniques() -> tuple[Variant, ...]:
    return (
        Variant("Argobots tasklet", "argobots", "unit=tasklet", deviates=False),
        *(Variant(name, "argobots", options) for name, options in ARGOBOTS_ULT.items()),
        Variant("Argobots ULT, child-first", "argobots", "first=child"),
        Variant("MassiveThreads", "massivethreads", "first=child"),
        Variant("MassiveThreads, parent-first", "massivethreads", "first=parent"),
        Variant("Qthreads", "qthreads"),
        Variant("oneTBB task", "tbb", deviates=False),
        Variant("Go", "go"),
        Variant("Pthreads", "pthreads", most=256),
        Variant("weft stackless", "weft", "technique=stackless,pool=priv", deviates=False),
        *(Variant(f"weft {name}", "weft", _private(key)) for key, name in PARENT_FIRST.items()),
        *(Variant(f"weft {name}", "weft", f"technique={key}") for key, name in CHILD_FIRST.items()),
        Variant("weft auto", "weft", "technique=auto,pool=priv"),
        Variant("weft stackless, many", "weft", "technique=stackless,pool=priv,many=1", deviates=False),
        Variant("weft RoC-L, many", "weft", "technique=roc_l,pool=priv,many=1"),
        Variant("weft stackless, stealable", "weft", "technique=stackless", deviates=False),
        Variant("weft RoC-L, stealable", "weft", "technique=roc_l"),
        Variant("weft RoC-L, stealable, many", "weft", "technique=roc_l,many=1"),
        Variant("weft Full, stealable", "weft", "technique=full"),
        Variant("weft auto, stealable", "weft", "technique=auto"),
    )


def _grid() -> tuple[Section, ...]:
    return tuple(Section(f"over D (%), N = {n}", tuple(fork_join_case(n, d) for d in DEVIATIONS)) for n in COUNTS)


def _own_techniques() -> tuple[Variant, ...]:
    return tuple(v for v in _techniques() if v.library == "weft" and v.name.count(",") == 0)


# --- the others -----------------------------------------------------------------------------------------------------


def _trees() -> tuple[Variant, ...]:
    return (
        Variant("Argobots, child-first", "argobots", "pool=steal,first=child"),
        Variant("Argobots, parent-first", "argobots", "pool=steal"),
        Variant("MassiveThreads", "massivethreads", "first=child"),
        Variant("MassiveThreads, parent-first", "massivethreads", "first=parent"),
        Variant("Qthreads", "qthreads", most=11),  # fib(32) takes it a minute
        Variant("oneTBB", "tbb"),
        Variant("libfork", "libfork"),
        Variant("Go", "go"),
        *(Variant(f"weft {name}", "weft", f"technique={key}") for key, name in CHILD_FIRST.items()),
        *(Variant(f"weft {PARENT_FIRST[key]}", "weft", f"technique={key}") for key in ("full", "roc_l")),
        Variant("weft auto", "weft"),
    )


def _tree_cases(n: tuple[int, ...], name: str) -> tuple[Case, ...]:
    return tuple(
        Case(
            f"n={i},workers={workers}",
            f"{name}({i}),\n{workers} worker{'s' if workers > 1 else ''}",
            quick=i == n[0],
        )
        for i in n
        for workers in (1, 2)
    )


def _producers() -> tuple[Variant, ...]:
    return (
        Variant("Argobots tasklet, shared pool", "argobots", "unit=tasklet,pool=shared"),
        Variant("Argobots ULT, shared pool", "argobots", "pool=shared"),
        Variant("Argobots ULT, stealable", "argobots", "pool=steal"),
        Variant("MassiveThreads, parent-first", "massivethreads", "first=parent"),
        Variant("MassiveThreads", "massivethreads", "first=child"),
        Variant("Qthreads", "qthreads"),
        Variant("oneTBB task", "tbb"),
        Variant("Go", "go"),
        Variant("weft stackless", "weft", "technique=stackless"),
        Variant("weft RoC-L", "weft", "technique=roc_l"),
        Variant("weft RoC-L, many", "weft", "technique=roc_l,many=1"),
        Variant("weft auto", "weft"),
        Variant("weft auto, from a root", "weft", "from=root"),
    )


def _yields() -> tuple[Variant, ...]:
    return (
        Variant("Argobots", "argobots", "pool=priv"),
        Variant("Argobots, shared pool", "argobots", "pool=shared"),
        Variant("MassiveThreads", "massivethreads", without="kind=to"),
        Variant("Qthreads", "qthreads", without="kind=to"),
        Variant("Go", "go", without="kind=to"),
        Variant("Pthreads", "pthreads", without="kind=to"),
        Variant("weft, private pool", "weft", "technique=full,pool=priv"),
        Variant("weft", "weft", "technique=full"),
        Variant("weft auto", "weft"),
    )


def _syncs() -> tuple[Variant, ...]:
    return (
        Variant("Argobots", "argobots", "pool=shared"),
        Variant("Argobots, private pool", "argobots", "pool=priv", workers=(1,)),
        Variant("MassiveThreads", "massivethreads"),
        Variant("Qthreads", "qthreads", without="kind=condition"),
        Variant("Go", "go"),
        Variant("Pthreads", "pthreads"),
        Variant("weft, private pool", "weft", "pool=priv", workers=(1,)),
        Variant("weft", "weft"),
    )


def _memories() -> tuple[Variant, ...]:
    return (
        Variant("Argobots ULT", "argobots", only="kind=suspended"),
        Variant("Argobots tasklet", "argobots", "unit=tasklet", only="kind=pending"),
        Variant("MassiveThreads", "massivethreads", only="kind=suspended"),
        Variant("Qthreads", "qthreads", only="kind=suspended"),
        Variant("Go", "go"),
        Variant("weft", "weft"),
        Variant("weft Full", "weft", "technique=full", only="kind=suspended"),
    )


SYNC_CASES = (
    Case("kind=mutex,workers=1", "mutex,\nalone", True),
    Case("kind=mutex,units=64,workers=2", "mutex, 64\non 2", True),
    Case("kind=condition,workers=1", "condition,\n1 worker", True),
    Case("kind=condition,workers=2", "condition,\n2 workers", True),
    Case("kind=barrier,units=64,workers=1", "barrier\n64 on 1", True),
    Case("kind=barrier,units=64,workers=2", "barrier\n64 on 2", True),
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "techniques",
        "Figs. 3.28-3.33: N units created and joined, D % of them yield once; ns per unit, 1 worker",
        "techniques",
        _sections(),
        _techniques(),
    ),
    Pattern(
        "fib",
        "recursive Fibonacci, one unit per call; ns per unit",
        "fib",
        (Section("", _tree_cases((32,), "fib")),),
        _trees(),
        time_ms=50,
        rounds=3,
    ),
    Pattern(
        "queens",
        "all placements of n queens, one unit per queen placed; ns per unit",
        "queens",
        (Section("", _tree_cases((10, 11), "queens")),),
        _trees(),
        time_ms=30,
    ),
    Pattern(
        "producer",
        "one producer creates and joins 4096 empty units, 2 workers; ns per unit",
        "producer",
        (Section("", (Case("n=4096,workers=2", "N=4096", True),)),),
        _producers(),
        time_ms=40,
    ),
    Pattern(
        "yield",
        "two units on one worker yield to each other; ns per yield",
        "yield",
        (Section("", (Case("kind=yield", "yield", True), Case("kind=to", "yield_to", True))),),
        _yields(),
    ),
    Pattern(
        "sync",
        "synchronisation: ns per lock, per hand-over of a turn, per meeting of 64",
        "sync_latency",
        (Section("", SYNC_CASES),),
        _syncs(),
    ),
    Pattern(
        "memory",
        "resident memory: bytes per unit",
        "unit_memory",
        (
            Section(
                "",
                (
                    Case("kind=suspended,n=100000", "suspended,\nof 100,000", True),
                    Case("kind=pending,n=1000000", "pending,\nof 1,000,000", True),
                ),
            ),
        ),
        _memories(),
        unit="bytes",
        rounds=2,
    ),
)


# Not of the group: the lines of `techniques` through it say most.
GRID = Pattern(
    "grid",
    "Figs. 3.28-3.33, each D with each N: weft's techniques; ns per unit, 1 worker",
    "techniques",
    _grid(),
    _own_techniques(),
)
ALL_PATTERNS = (*PATTERNS, GRID)


def find(name: str) -> Pattern | None:
    return next((pattern for pattern in ALL_PATTERNS if pattern.name == name), None)


def chosen_cases(pattern: Pattern, *, quick: bool) -> list[Case]:
    return [case for case in pattern.cases if case.quick or not quick]
