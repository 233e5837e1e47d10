"""What can be measured: one `Benchmark` per figure or pattern, each a list of cases of one program of bench/."""

import importlib.util
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.machine import affinity, may_make_cgroup

from . import mkl, places
from .runtimes import Runtime, Setting


@dataclass(frozen=True)
class Case:
    """One configuration of a benchmark. `config` is what its program is given, `label` what a reader sees."""

    config: str
    label: str
    main: bool = True  # part of the main job
    quick: bool = False  # part of --quick
    group: str = ""  # a plot joins the cases of one group; the rest of the label tells them apart

    @property
    def short(self) -> str:
        return self.label.removeprefix(self.group).removesuffix(self.group).strip(", ")


MANY = 1 << 30  # threads: more than there are CPUs


@dataclass(frozen=True)
class Benchmark:
    name: str
    title: str
    program: str
    cases: tuple[Case, ...]
    time_ms: int = 60  # measured time of one case in one round
    warm_ms: int = 15
    timeout_s: float = 20  # until the next case must have been printed
    rounds: int | None = None  # fewer than asked for, where more would show nothing
    effort: int = 1  # so many times the rounds asked for, where the noise of the machine takes them
    in_main: bool = True
    needs: tuple[str, ...] = field(default=())  # Python modules
    has_clang: bool = False  # its program is built by clang too, where that is installed
    threads: int = MANY  # at most, of its cases
    uses_mkl: bool = False
    makes_cgroup: bool = False

    def command(self, clang: bool = False) -> list[str]:
        if self.program.endswith(".py"):
            return [sys.executable, str(places.scripts_dir() / self.program)]
        return [str(places.programs_dir() / (f"{self.program}-clang" if clang else self.program))]

    def runs_on(self, runtime: Runtime) -> bool:
        if runtime.only and self.name not in runtime.only:
            return False
        return not runtime.clang or (self.has_clang and Path(self.command(clang=True)[0]).exists())

    @property
    def crowded(self) -> bool:
        return self.threads > len(affinity())

    def settings_of(self, runtime: Runtime) -> tuple[Setting, ...]:
        settings = tuple(setting for setting in runtime.settings if not (setting.spins and self.crowded))
        return mkl.layered(runtime, settings) if self.uses_mkl else settings

    def environment(self) -> dict[str, str]:
        return mkl.environment() if self.uses_mkl else {}

    def why_not(self) -> str | None:
        """One line that says why this benchmark cannot run here, or None."""
        program = Path(self.command()[-1])
        if not program.exists():
            return f"{self.name}: {program} is not built (make build; its library may be missing)"
        missing = [module for module in self.needs if importlib.util.find_spec(module) is None]
        if missing:
            return f"{self.name}: Python module {', '.join(missing)} is not installed"
        if self.makes_cgroup and not may_make_cgroup():
            return (
                f"{self.name}: no cgroup can be made here (that takes root, or a group that is delegated to the user)"
            )
        return mkl.why_not() if self.uses_mkl else None


def _flat(quick: tuple[int, ...], main: tuple[int, ...], rest: tuple[int, ...]) -> tuple[Case, ...]:
    return tuple(Case(f"members={n}", f"{n} members", n in main, n in quick) for n in sorted({*quick, *main, *rest}))


def _square(sizes: tuple[int, ...], quick: tuple[int, ...]) -> tuple[Case, ...]:
    return tuple(Case(f"outer={n},inner={n}", f"{n} x {n}", quick=n in quick) for n in sizes)


def _insufficient() -> tuple[Case, ...]:
    return tuple(
        Case(
            f"outer={outer},inner={inner}",
            f"{outer} x {inner}",
            outer <= 8,
            (outer, inner) == (4, 28),
            group=f"x {inner}",
        )
        for inner in (8, 28)
        for outer in (1, 2, 4, 8, 16, 28)
    )


def _fft() -> tuple[Case, ...]:
    kinds = ((2, 64, 8, "8 x 2D 64"), (2, 64, 56, "56 x 2D 64"), (3, 32, 4, "4 x 3D 32"))
    return tuple(
        Case(
            f"dim={dim},n={n},outer={outer},inner={inner}",
            f"{label}, inner {inner}",
            quick=outer == 8 and inner in (1, 8),
            group=label,
        )
        for dim, n, outer, label in kinds
        for inner in (1, 2, 4, 8)
    )


# (processes, members, cycles of work of all, of the master alone, other processes that compute, how nice these are)
NEIGHBOURS = (
    (2, 2, 500_000, 0, 0, 0),
    (2, 4, 500_000, 0, 0, 0),
    (2, 2, 50_000, 500_000, 0, 0),
    (2, 4, 50_000, 500_000, 0, 0),
    (2, 4, 5_000, 50_000, 0, 0),
    (1, 2, 500_000, 0, 1, 0),
    (1, 2, 50_000, 500_000, 1, 0),
    (1, 2, 500_000, 0, 2, 19),
    (1, 2, 500_000, 500_000, 2, 19),
)


def _neighbours() -> tuple[Case, ...]:
    def case(processes: int, members: int, region: int, serial: int, hogs: int, nice: int) -> Case:
        config = f"processes={processes},members={members},region={region},serial={serial},hogs={hogs}"
        beside = f" beside {hogs} busy" if hogs else ""
        if nice:
            config, beside = f"{config},nice={nice}", f"{beside}, nice {nice}"
        label = f"{processes} x {members}{beside}, {region // 1000}k + {serial // 1000}k"
        return Case(config, label, quick=(processes, members, serial) == (2, 4, 0))

    return tuple(case(*of) for of in NEIGHBOURS)


def _quota() -> tuple[Case, ...]:
    kinds = ((0.5, 2), (0.5, 8), (1, 1), (1, 2), (1, 4), (1, 8), (1.5, 2), (1.5, 8))
    return tuple(
        Case(
            f"cpus={cpus:g},members={members}",
            f"{cpus:g} CPU{'' if cpus == 1 else 's'}, {members} member{'' if members == 1 else 's'}",
            quick=(cpus, members) == (1, 8),
        )
        for cpus, members in kinds
    )


WAITING_KINDS = (
    "plain",
    "pause",
    "count",
    "backoff",
    "timestamps",
    "wtime",
    "clock",
    "sched_yield",
    "condition",
    "compute",
    "chase",
)

CATALOG: tuple[Benchmark, ...] = (
    Benchmark(
        "flat",
        "Fig. 4.8a: one region, members without work",
        "regions",
        _flat((2, 56), (2, 8, 28, 56), (4, 16)),
    ),
    Benchmark(
        "nested",
        "Figs. 4.7-4.8b: L x N nested regions, members without work",
        "regions",
        _square((2, 8, 28, 56), (8, 56)),
        timeout_s=60,
    ),
    Benchmark(
        "insufficient",
        "Fig. 4.10: few outer members (L x N, 20,000 cycles each)",
        "insufficient",
        _insufficient(),
    ),
    Benchmark(
        "imbalance",
        "Fig. 4.11: 56 x 56 members, unbalanced work",
        "imbalance",
        tuple(Case(f"alpha={a:g}", f"alpha {a:g}", a in (0.1, 1, 10), a == 1) for a in (0.1, 0.2, 0.5, 1, 2, 5, 10)),
        time_ms=100,
        timeout_s=60,
    ),
    Benchmark(
        "deep",
        "Fig. 4.13: four members a level, 4^5 x 20,000 cycles in all",
        "deep",
        tuple(Case(f"depth={d}", f"depth {d}", quick=d == 4) for d in range(6)),
        time_ms=80,
        timeout_s=60,
    ),
    Benchmark(
        "fft",
        "Fig. 5.5: FFTW transforms inside a parallel loop, each with inner threads",
        "fft_nest",
        _fft(),
        timeout_s=60,
    ),
    Benchmark(
        "blis",
        "BLIS dgemm inside a parallel loop, each with inner threads",
        "blis_nest",
        tuple(
            Case(f"n=256,outer=4,inner={i}", f"4 x dgemm 256, inner {i}", quick=i in (1, 2), group="4 x dgemm 256")
            for i in (1, 2, 4, 8)
        ),
        timeout_s=60,
    ),
    Benchmark(
        "dgemm",
        "OpenBLAS dgemm of 1000, flat",
        "dgemm_flat",
        (Case("n=1000", "dgemm 1000", quick=True),),
        time_ms=400,
        warm_ms=60,
        effort=3,  # as KMeans
    ),
    Benchmark(
        "kmeans",
        "scikit-learn KMeans, flat",
        "kmeans.py",
        (Case("samples=100000,features=32,clusters=20", "KMeans 100,000 x 32", quick=True),),
        time_ms=800,
        timeout_s=90,
        effort=3,  # whole processes are half as slow again as others, on every runtime
        needs=("numpy", "sklearn"),
    ),
    Benchmark(
        "waiting",
        "8 members that wait for each other in loops of their own, 10 times; or that only compute, 10 rounds",
        "waiting",
        tuple(Case(f"kind={kind}", kind, quick=kind in ("plain", "compute")) for kind in WAITING_KINDS),
        time_ms=300,
        warm_ms=300,  # until the looks of weft's watchdog come as often as they will
        timeout_s=60,
        in_main=False,
    ),
    Benchmark(
        "neighbours",
        "Processes beside each other on the same CPUs (processes x members, cycles of work by all + by the master)",
        "neighbours",
        _neighbours(),
        timeout_s=120,
        in_main=False,
    ),
    Benchmark(
        "quota",
        "In a cgroup with a CPU quota, as containers have it: 500 regions of 10 loops, 0.2 ms of work each",
        "quota",
        _quota(),
        time_ms=1500,
        warm_ms=600,  # until the kernel has stopped the group a few times
        timeout_s=60,
        in_main=False,
        makes_cgroup=True,
    ),
    Benchmark(
        "idle",
        "CPU time of the process in one second of sleep after a region",
        "idle",
        (Case("members=2", "2 members"), Case("members=8", "8 members", quick=True)),
        time_ms=1,
        rounds=1,
    ),
    Benchmark(
        "startup",
        "A process that loads the runtime and does not use it, from start to exit",
        "startup",
        (Case("child=unused", "start and exit", quick=True),),
        time_ms=150,
    ),
)


def _with_taskloops(name: str) -> Benchmark:
    """The same work with taskloops in place of the inner regions, which a thread for each CPU executes."""
    regions = next(benchmark for benchmark in CATALOG if benchmark.name == name)
    return replace(
        regions,
        name=f"{name}_taskloop",
        title=f"{regions.title}; taskloops for the inner regions",
        cases=tuple(replace(case, config=f"{case.config},taskloop=1") for case in regions.cases),
        in_main=False,
        threads=1,  # for each CPU
    )


TASKLOOPS = tuple(_with_taskloops(name) for name in ("nested", "insufficient", "imbalance", "deep"))

# --- the constructs of OpenMP, one by one ----------------------------------------------------------------------------

CONSTRUCT_KINDS = (
    "parallel",
    "for",
    "parallel_for",
    "barrier",
    "single",
    "critical",
    "lock",
    "ordered",
    "atomic",
    "reduction",
    "reduction_array",
)
SCHEDULES = (
    ("block", 0),
    ("static", 1),
    ("static", 16),
    ("dynamic", 1),
    ("dynamic", 8),
    ("dynamic", 64),
    ("monotonic", 1),
    ("guided", 1),
    ("guided", 8),
    ("taskloop", 1),
    ("taskloop", 16),
)
TASK_KINDS = (
    "parallel",
    "parallel_depend",
    "master",
    "master_depend",
    "busy",
    "conditional",
    "taskwait",
    "barrier",
    "nested",
    "nested_master",
    "branch",
    "leaf",
)
TASK_PROGRAMS = ("fib", "queens", "sort", "strassen", "sparselu", "uts")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _kinds(kinds: tuple[str, ...], threads: int, quick: tuple[str, ...]) -> tuple[Case, ...]:
    return tuple(Case(f"kind={kind},threads={threads}", _words(kind), quick=kind in quick) for kind in kinds)


def _schedules(threads: int) -> tuple[Case, ...]:
    return tuple(
        Case(
            f"kind={kind},chunk={chunk},threads={threads}" if chunk else f"kind=block,threads={threads}",
            f"{kind} {chunk}" if chunk else "static",
            quick=(kind, chunk) == ("dynamic", 1),
        )
        for kind, chunk in SCHEDULES
    )


def _of_epcc(name: str, title: str, program: str, cases: dict[int, tuple[Case, ...]]) -> tuple[Benchmark, ...]:
    return tuple(
        Benchmark(
            f"{name}{threads}",
            f"EPCC, {title}, {threads} threads: overhead",
            program,
            of_threads,
            time_ms=40,
            timeout_s=60,
            in_main=False,
            has_clang=True,
            threads=threads,
        )
        for threads, of_threads in cases.items()
    )


CONSTRUCTS: tuple[Benchmark, ...] = (
    *_of_epcc(
        "constructs",
        "regions and synchronisation",
        "constructs",
        {n: _kinds(CONSTRUCT_KINDS, n, ("parallel", "barrier")) for n in (2, 8)},
    ),
    *_of_epcc(
        "schedules",
        "loops of 128 iterations a thread, schedule and chunk",
        "schedules",
        {n: _schedules(n) for n in (2, 8)},
    ),
    *_of_epcc("tasks", "tasks", "tasks", {n: _kinds(TASK_KINDS, n, ("parallel", "taskwait")) for n in (2, 8)}),
    *(
        Benchmark(
            f"task_{name}",
            f"task program {name}, 2 threads",
            f"task_{name}",
            (Case("threads=2", name, quick=name == "fib"),),
            time_ms=100,
            timeout_s=60,
            in_main=False,
            has_clang=True,
            threads=2,
        )
        for name in TASK_PROGRAMS
    ),
    *(
        Benchmark(
            name,
            f"Fig. 5.15: KMeans by tasks that take locks, r for each cluster, {members} threads",
            "kmeans_locks",
            tuple(
                Case(f"members={members},replicas={r}", f"r = {r}", quick=r in (1, members))
                for r in (1, 2, 4, 8, 16, 32, 64)
                if r <= members
            ),
            time_ms=150,
            timeout_s=60,
            in_main=False,
            has_clang=True,
            threads=members,
        )
        for name, members in (("kmeans_locks", 64), ("kmeans_locks2", 2))
    ),
    Benchmark(
        "barriers",
        "Fig. 4.8: nested regions with a barrier in each inner one",
        "regions",
        (
            *(Case(f"outer={n},inner={n},barrier=1", f"{n} x {n}, a barrier", quick=n == 8) for n in (8, 56)),
            Case("outer=64,inner=2,barrier=1,task=1", "64 x 2, a barrier, 64 tasks"),
        ),
        timeout_s=60,
        in_main=False,
    ),
)
# In the last one, MKL waits in barriers of its own.
MKL_NESTS = (("dgemv", 600, 3), ("dgemv", 600, 4), ("dgemm", 256, 3), ("dgemm", 256, 4), ("dgemm", 1000, 4))
MKL = Benchmark(
    mkl.BENCHMARK,
    "Figs. 5.3-5.4: MKL calls inside a parallel loop, each with inner threads",
    "mkl_nest",
    tuple(
        Case(
            f"kind={kind},n={n},outer={outer},inner={inner}",
            f"{outer} x {kind} {n}, inner {inner}",
            quick=outer == 3 and inner in (1, 2),
            group=f"{outer} x {kind} {n}",
        )
        for kind, n, outer in MKL_NESTS
        for inner in (1, 2, 4, 8)
    ),
    timeout_s=60,
    in_main=False,
    uses_mkl=True,
)
OPENMP_FIGURES = ("flat", "nested", "insufficient", "imbalance", "deep", "fft", "blis")
ALL = (*CATALOG, *TASKLOOPS, *CONSTRUCTS, MKL)


def find(name: str) -> Benchmark | None:
    return next((benchmark for benchmark in ALL if benchmark.name == name), None)


def has_aims(name: str) -> bool:
    """Whether it is compared with runtimes that are tuned, and has aims, where it is measured by its own name."""
    return name in (mkl.BENCHMARK, "blis") or name in (benchmark.name for benchmark in CONSTRUCTS)


def openmp_group() -> list[Benchmark]:
    """What `weft bench openmp` measures."""
    names = (name for figure in OPENMP_FIGURES for name in (figure, f"{figure}_taskloop"))
    figures = (find(name) for name in names)
    return [*CONSTRUCTS, *(benchmark for benchmark in figures if benchmark is not None), MKL]


def chosen_cases(benchmark: Benchmark, *, main: bool, quick: bool) -> list[Case]:
    """The cases of a run: all of them when asked for by name, fewer in the main job, fewest with --quick."""
    if main and not quick:
        return [case for case in benchmark.cases if case.main]
    fewest = [case for case in benchmark.cases if case.quick]
    return fewest if quick and (fewest or main) else list(benchmark.cases)
