"""What each row of `weft bench openmp` has to reach on a machine of two CPUs, and whether it did.

Others are all runtimes but weft. A limit is one for weft on the program that gcc has built, and, where clang has built
it too, for weft on that. A median of zero or less is noise: nothing is judged by it, nor by a row of which a cell was
measured at another pace (pace.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .catalog import MKL_NESTS
from .results import Cell
from .runtimes import OF_CLANG, WEFT

Cells = Mapping[str, Cell]  # by runtime
RowCells = Callable[[str], Cells]  # of another row of the same benchmark, by its config

Measure = Callable[[Cells, str, RowCells], float | None]


def _own_median(cells: Cells, name: str, _row: RowCells) -> float | None:
    return cells[name].median


@dataclass(frozen=True)
class Aim:
    text: str
    limit: Measure  # us, for this one of WEFT; None: it cannot be told
    measured: Measure = _own_median  # what must be within it


def _is_of_clang(name: str) -> bool:
    return name.endswith(OF_CLANG)


def _least(medians: Iterable[float | None]) -> float | None:
    """Of those that are clear."""
    return min((median for median in medians if median is not None and median > 0), default=None)


def _best_of_others(cells: Cells, only_clang: bool = False) -> float | None:
    return _least(
        cell.median for name, cell in cells.items() if name not in WEFT and (_is_of_clang(name) or not only_clang)
    )


def at_most(us: float) -> Aim:
    return Aim(f"{us:g} us", lambda _cells, _name, _row: us)


def of_best(factor: float = 1.0) -> Aim:
    def limit(cells: Cells, _name: str, _row: RowCells) -> float | None:
        best = _best_of_others(cells)
        return None if best is None else factor * best

    return Aim("the best" if factor == 1 else f"the best / {1 / factor:g}", limit)


def of_best_with_same_code(factor: float = 1.0) -> Aim:
    """For programs that do something: what clang makes of their loops may be slower, or faster, than what gcc makes of
    them, on any runtime. So its programs are compared with each other."""

    def limit(cells: Cells, name: str, _row: RowCells) -> float | None:
        best = _best_of_others(cells, only_clang=_is_of_clang(name))
        return None if best is None else factor * best

    return Aim(of_best(factor).text, limit)


def over_ideal(factor: float) -> Aim:
    def limit(cells: Cells, name: str, _row: RowCells) -> float | None:
        ideal = cells[name].ideal
        return None if ideal is None else factor * ideal

    return Aim(f"{factor:g} ideal", limit)


def over_row(factor: float, config: str, text: str) -> Aim:
    """Relative to weft itself in another row."""

    def limit(_cells: Cells, name: str, row: RowCells) -> float | None:
        cell = row(config).get(name)
        return None if cell is None or cell.median is None or cell.is_unclear else factor * cell.median

    return Aim(f"{factor:g} {text}", limit)


def best_of_rows(configs: Sequence[str], text: str) -> Aim:
    """The best of several rows against the best of the others in all of them."""

    def limit(_cells: Cells, _name: str, row: RowCells) -> float | None:
        return _least(_best_of_others(row(config)) for config in configs)

    def measured(_cells: Cells, name: str, row: RowCells) -> float | None:
        return _least(row(config)[name].median for config in configs if name in row(config))

    return Aim(text, limit, measured)


def _over_inner(benchmark: str, nest: str) -> dict[tuple[str, str], Aim]:
    configs = [f"{nest},inner={inner}" for inner in (1, 2, 4, 8)]
    return {(benchmark, configs[0]): best_of_rows(configs, "best of all")}


_LIMITS: dict[tuple[str, str], Aim] = {
    ("flat", "members=2"): at_most(0.3),
    ("flat", "members=56"): at_most(3),
    ("nested", "outer=8,inner=8"): at_most(5),
    ("nested", "outer=56,inner=56"): at_most(100),
    ("barriers", "outer=56,inner=56,barrier=1"): of_best(1 / 5),
    ("constructs2", "kind=parallel,threads=2"): of_best(1 / 2),
    ("constructs2", "kind=reduction,threads=2"): of_best(1 / 2),
    ("tasks2", "kind=parallel,threads=2"): at_most(0.03),
    ("tasks2", "kind=nested,threads=2"): at_most(0.03),
    ("tasks2", "kind=leaf,threads=2"): at_most(0.03),
    ("tasks2", "kind=taskwait,threads=2"): at_most(0.1),
    ("tasks2", "kind=master_depend,threads=2"): at_most(0.6),
    ("task_fib", "threads=2"): of_best_with_same_code(1 / 3),
    ("deep", "depth=4"): over_ideal(1.03),
    ("deep", "depth=5"): over_ideal(1.06),
    **{("insufficient", f"outer={o},inner={i}"): over_ideal(1.05) for o in (1, 2, 4, 8) for i in (8, 28)},
    **{
        ("fft", f"dim=2,n=64,outer={o},inner=8"): over_row(1.3, f"dim=2,n=64,outer={o},inner=1", "inner 1")
        for o in (8, 56)
    },
    **_over_inner("blis", "n=256,outer=4"),
    **{
        key: aim
        for kind, n, outer in MKL_NESTS
        for key, aim in _over_inner("mkl", f"kind={kind},n={n},outer={outer}").items()
    },
}
_ALL_ROWS: dict[str, Aim] = {"imbalance": over_ideal(1.05)}
_BEST = ("constructs", "schedules", "tasks", "barriers")
_BEST_PROGRAM = ("task_", "kmeans_locks")


def aim_of(benchmark: str, config: str) -> Aim | None:
    aim = _LIMITS.get((benchmark, config)) or _ALL_ROWS.get(benchmark)
    if aim is None and benchmark.startswith(_BEST_PROGRAM):
        return of_best_with_same_code()
    return of_best() if aim is None and benchmark.startswith(_BEST) else aim


def verdicts(aim: Aim, cells: Cells, row: RowCells) -> dict[str, bool | None]:
    """For each weft that was measured: whether it is within the limit; None: it cannot be told."""
    found: dict[str, bool | None] = {}
    for name in WEFT:
        if name in cells and cells[name].measurements:
            median, limit = aim.measured(cells, name, row), aim.limit(cells, name, row)
            compared_at_two_paces = any(cell.at_other_pace for cell in cells.values())
            if limit is None or compared_at_two_paces or (median is not None and median <= 0):
                found[name] = None
            else:
                found[name] = median is not None and median <= limit
    return found
