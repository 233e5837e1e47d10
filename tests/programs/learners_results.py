#!/usr/bin/env python3
"""Prints results of Python packages whose native code opens OpenMP regions, one "KEY NUMBERS" per line.

    learners_results.py [--time] PART...

Parts: xgboost, lightgbm, faiss, numba, lammps, threads (16 Python threads that call faiss), fork. With --time
the wall-clock seconds of each part, as a line on standard error. A package that is not there ends it with status 77.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))

Results = dict[str, list[float]]


def package(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed", file=sys.stderr)
        sys.exit(77)


def table(rows: int, columns: int, seed: int = 1):
    numpy = package("numpy")
    random = numpy.random.default_rng(seed)
    data = random.normal(size=(rows, columns)).astype("float32")
    return data, (data[:, 0] * data[:, 1] + numpy.sin(data[:, 2]) > 0).astype("int32")


def summary(array) -> list[float]:
    numpy = package("numpy")
    flat = numpy.asarray(array, dtype=float).ravel()
    return [float(flat.sum()), float(numpy.abs(flat).max()), float((flat * numpy.cos(numpy.arange(flat.size))).sum())]


def with_xgboost() -> Results:
    xgboost = package("xgboost")
    data, classes = table(20000, 20)
    settings = {"max_depth": 6, "objective": "binary:logistic", "tree_method": "hist", "nthread": THREADS, "seed": 0}
    model = xgboost.train(settings, xgboost.DMatrix(data, classes, nthread=THREADS), 40)
    return {"xgboost": summary(model.predict(xgboost.DMatrix(data, nthread=THREADS)))}


def with_lightgbm() -> Results:
    lightgbm = package("lightgbm")
    data, classes = table(20000, 20)
    settings = {
        "objective": "binary",
        "num_threads": THREADS,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
        "seed": 0,
    }
    model = lightgbm.train(settings, lightgbm.Dataset(data, classes), 60)
    return {"lightgbm": summary(model.predict(data, num_threads=THREADS))}


def with_faiss(seed: int = 1, rows: int = 30000) -> Results:
    faiss = package("faiss")
    data, _ = table(rows, 32, seed)
    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(32)
    index.add(data)
    distances, neighbours = index.search(data[:500], 5)
    clusters = faiss.Kmeans(32, 16, niter=8, seed=3)
    clusters.train(data[:8000])
    return {
        f"faiss_{seed}_distances": summary(distances),
        f"faiss_{seed}_neighbours": summary(neighbours),
        f"faiss_{seed}_centroids": summary(clusters.centroids),
    }


def numba_kernel():
    os.environ["NUMBA_THREADING_LAYER"] = "omp"
    numba = package("numba")
    numpy = package("numpy")

    @numba.njit(parallel=True)
    def smooth(grid, steps):
        for _ in range(steps):
            next_grid = grid.copy()
            for i in numba.prange(1, grid.shape[0] - 1):
                for j in range(1, grid.shape[1] - 1):
                    next_grid[i, j] = (grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]) / 4
            grid = next_grid
        return grid

    start = numpy.zeros((400, 400))
    start[0, :] = 100.0
    start[:, 0] = numpy.arange(400)
    result = smooth(start, 2)
    assert numba.threading_layer() == "omp"
    return smooth, start, result


def with_numba() -> Results:
    smooth, start, _ = numba_kernel()
    return {"numba": summary(smooth(start, 200))}


LIQUID = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
thermo 50
run 200
"""


def with_lammps() -> Results:
    lammps = package("lammps")
    settings = ["-screen", "none", "-log", "none", "-sf", "omp", "-pk", "omp", str(THREADS)]
    try:
        ctypes.CDLL(f"{sys.prefix}/lib/libmpi.so.12")  # of the package mpich: LAMMPS does not look for it there
        simulation = lammps.lammps(cmdargs=settings)
    except OSError as problem:
        print(f"lammps: {problem}", file=sys.stderr)
        sys.exit(77)
    assert "OPENMP" in simulation.installed_packages
    simulation.commands_string(LIQUID)
    return {"lammps": [simulation.get_thermo(key) for key in ("etotal", "temp", "press")]}


def with_threads() -> Results:
    found: dict[int, Results] = {}
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            found[number] = with_faiss(number, 3000)
        except BaseException as problem:
            failed.append(problem)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(1, 17)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise failed[0]
    return {key: value for number in sorted(found) for key, value in found[number].items()}


def with_fork() -> Results:
    """Regions in the parent, then in children of it: the same results."""
    expected = with_faiss(2, 2000)
    for _ in range(4):
        child = os.fork()
        if child == 0:
            os._exit(0 if with_faiss(2, 2000) == expected else 1)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise RuntimeError(f"a forked child ended with {status}")
    return expected


PARTS: dict[str, Callable[[], Results]] = {
    "xgboost": with_xgboost,
    "lightgbm": with_lightgbm,
    "faiss": with_faiss,
    "numba": with_numba,
    "lammps": with_lammps,
    "threads": with_threads,
    "fork": with_fork,
}


def main() -> int:
    timed = "--time" in sys.argv
    for part in (word for word in sys.argv[1:] if word != "--time"):
        if timed and part == "numba":
            numba_kernel()  # compiles, as the first call does
        start = time.perf_counter()
        for key, values in PARTS[part]().items():
            print(key, *(f"{value:.9g}" for value in values))
        if timed:
            print(f"seconds {part} {time.perf_counter() - start:.4f}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
