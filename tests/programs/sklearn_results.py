#!/usr/bin/env python3
"""Prints results of scikit-learn estimators whose native code opens OpenMP regions, one "KEY NUMBERS" per line.

    sklearn_results.py PART...

Parts: kmeans, boosting, pairwise, threads, processes, fork. Part "fork" compares the results of forked children with
those of their parent itself, and is not for the stock libgomp, which hangs in a child whose parent had regions.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
import threading
import warnings

import numpy
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

Results = dict[str, list[float] | str]


def digest(array: numpy.ndarray) -> str:
    return hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).hexdigest()[:20]


def summary(array: numpy.ndarray) -> list[float]:
    flat = numpy.asarray(array, dtype=float).ravel()
    return [float(flat.sum()), float(numpy.abs(flat).max()), float((flat * numpy.cos(numpy.arange(flat.size))).sum())]


def fit_kmeans(algorithm: str, seed: int, samples: int = 3000) -> Results:
    points, _ = make_blobs(samples, centers=8, n_features=6, random_state=seed)
    starts = points[:: samples // 8][:8]
    model = KMeans(8, init=starts, n_init=1, algorithm=algorithm, max_iter=50).fit(points)
    name = f"kmeans_{algorithm}_{seed}"
    return {
        f"{name}_labels": digest(model.labels_.astype(numpy.int32)),
        f"{name}_inertia": [float(model.inertia_)],
        f"{name}_centers": summary(model.cluster_centers_),
        f"{name}_predicted": digest(model.predict(points[::3] + 0.01).astype(numpy.int32)),
    }


def fit_classifier(seed: int, samples: int = 2000) -> Results:
    points, classes = make_classification(samples, 12, n_informative=8, n_classes=3, random_state=seed)
    model = HistGradientBoostingClassifier(max_iter=15, random_state=0).fit(points, classes)
    return {
        f"classifier_{seed}_probabilities": summary(model.predict_proba(points)),
        f"classifier_{seed}_score": [model.score(points, classes)],
    }


def fit_regressor(seed: int, samples: int = 2000) -> Results:
    points, values = make_regression(samples, 10, noise=0.3, random_state=seed)
    model = HistGradientBoostingRegressor(max_iter=15, random_state=0).fit(points, values)
    return {f"regressor_{seed}": summary(model.predict(points))}


def kmeans() -> Results:
    results: Results = {}
    for seed in range(3):
        for algorithm in ("lloyd", "elkan"):
            results |= fit_kmeans(algorithm, seed)
    return results


def boosting() -> Results:
    return fit_classifier(1) | fit_regressor(1) | fit_classifier(2) | fit_regressor(2)


def pairwise() -> Results:
    random = numpy.random.default_rng(7)
    left, right = random.normal(size=(900, 15)), random.normal(size=(700, 15))
    thin = sparse.random(300, 40, density=0.2, random_state=3, format="csr")
    nearest, distances = pairwise_distances_argmin_min(left, right)
    neighbours = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(right)
    found, which = neighbours.kneighbors(left)
    within = NearestNeighbors(radius=3.5, algorithm="brute").fit(right).radius_neighbors(left, sort_results=True)
    voted = KNeighborsClassifier(7, algorithm="brute").fit(right, numpy.arange(700) % 3).predict_proba(left)
    return {
        "euclidean": summary(pairwise_distances(left, right)),
        "manhattan": summary(pairwise_distances(left, right, metric="manhattan")),
        "sparse_manhattan": summary(manhattan_distances(thin, thin)),
        "cosine_in_threads": summary(pairwise_distances(left, right, metric="cosine", n_jobs=4)),
        "chebyshev_in_threads": summary(pairwise_distances(left, right, metric="chebyshev", n_jobs=4)),
        "kernel_rbf": summary(pairwise_kernels(left, right, metric="rbf")),
        "kernel_laplacian": summary(pairwise_kernels(left, right, metric="laplacian", n_jobs=2)),
        "kernel_polynomial": summary(pairwise_kernels(left, right, metric="polynomial")),
        "argmin": digest(nearest.astype(numpy.int32)),
        "argmin_distances": summary(distances),
        "neighbours": digest(which.astype(numpy.int32)),
        "neighbour_distances": summary(found),
        "within_radius": digest(numpy.concatenate(within[1]).astype(numpy.int32)),
        "votes": summary(voted),
    }


def fit_some(seed: int) -> Results:
    kind = seed % 4
    if kind == 0:
        return fit_classifier(seed, 600)
    if kind == 1:
        return fit_regressor(seed, 600)
    return fit_kmeans("lloyd" if kind == 2 else "elkan", seed, 1500)


def merged(parts: list[Results]) -> Results:
    return {key: value for part in parts for key, value in part.items()}


def append_fit(parts: list[Results], seed: int) -> None:
    parts.append(fit_some(seed))


def threads() -> Results:
    """Several Python threads, each opening regions; then threads that come and go."""
    results = merged(Parallel(n_jobs=4, backend="threading")(delayed(fit_some)(seed) for seed in range(10, 34)))
    for round_number in range(3):
        parts: list[Results] = []
        workers = [threading.Thread(target=append_fit, args=(parts, 40 + 10 * round_number + i)) for i in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if len(parts) != len(workers):
            raise SystemExit("a thread ended without a result")
        results |= merged(parts)
    return results


def processes() -> Results:
    """Processes of joblib's default backend, started while this one has regions behind it."""
    results = fit_some(2)
    results |= merged(Parallel(n_jobs=2, backend="loky")(delayed(fit_some)(seed) for seed in range(70, 78)))
    return results


def fork_results(seeds: range, queue: multiprocessing.SimpleQueue) -> None:
    queue.put([fit_some(seed) for seed in seeds])


def fork() -> Results:
    seeds = range(90, 98)
    expected = [fit_some(seed) for seed in seeds]
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        queue = context.SimpleQueue()
        children = [context.Process(target=fork_results, args=(seeds, queue)) for _ in range(2)]
        for child in children:
            child.start()
        got = [queue.get() for _ in children]
        for child in children:
            child.join(60)
            if child.exitcode != 0:
                raise SystemExit(f"a forked child ended with {child.exitcode}")
        for parts in got:
            for mine, theirs in zip(expected, parts, strict=True):
                check_equal(mine, theirs)
    with context.Pool(3) as pool:
        for mine, theirs in zip(expected, pool.map(fit_some, seeds), strict=True):
            check_equal(mine, theirs)
    return merged(expected)


def check_equal(mine: Results, theirs: Results) -> None:
    for key, value in mine.items():
        same = theirs[key] == value
        if isinstance(value, list):
            same = numpy.allclose(value, theirs[key], rtol=1e-6, atol=0)
        if not same:
            raise SystemExit(f"{key} is {theirs[key]} in a forked child and {value} in its parent")


PARTS = {
    "kmeans": kmeans,
    "boosting": boosting,
    "pairwise": pairwise,
    "threads": threads,
    "processes": processes,
    "fork": fork,
}


def main() -> None:
    warnings.simplefilter("ignore")
    for part in sys.argv[1:]:
        for key, value in sorted(PARTS[part]().items()):
            print(key, value if isinstance(value, str) else " ".join(f"{number:.12g}" for number in value))


if __name__ == "__main__":
    main()
