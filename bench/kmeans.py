"""Flat parallelism in a Python program: scikit-learn's KMeans, whose loops are OpenMP regions built by gcc.

Speaks the protocol of the C programs (bench/common.h). A sample is one whole fit, timed inside the process. The
inertia of the result is printed as `reference`: it must be the same on every runtime.
"""

import argparse
import ctypes
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy
from sklearn.cluster import KMeans

CONFIGS = ["samples=100000,features=32,clusters=20"]


class DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def runtime_path() -> str:
    """The runtime that stands first in the global scope, else the copy that the wheel brought along."""
    process = ctypes.CDLL(None)
    try:
        entry = ctypes.cast(process.GOMP_parallel, ctypes.c_void_p)
    except AttributeError:
        found = re.search(r"/\S*libgomp\S*", Path("/proc/self/maps").read_text(encoding="utf-8"))
        return os.path.realpath(found.group()) if found else "unknown"
    info = DlInfo()
    process.dladdr(entry, ctypes.byref(info))
    return os.path.realpath(os.fsdecode(info.file or b"unknown"))


def blobs(samples: int, features: int, clusters: int) -> numpy.ndarray:
    random = numpy.random.default_rng(1)
    centers = random.uniform(-10, 10, (clusters, features))
    return centers[random.integers(0, clusters, samples)] + random.normal(0, 3, (samples, features))


def run(config: str, options: argparse.Namespace) -> None:
    params = {key: int(value) for key, value in (item.split("=") for item in config.split(","))}
    data = blobs(params["samples"], params["features"], params["clusters"])
    model = KMeans(params["clusters"], init=data[: params["clusters"]], n_init=1, max_iter=40, tol=0)
    model.fit(data)
    samples: list[float] = []
    start = time.perf_counter()
    while (time.perf_counter() - start) * 1e3 < options.time or len(samples) < options.min:
        before = time.perf_counter()
        model.fit(data)
        samples.append((time.perf_counter() - before) * 1e6)
    result = {
        "name": "kmeans",
        "config": config,
        "params": params,
        "unit": "us",
        "batch": 1,
        "samples": samples,
        "checks": {"ok": bool(numpy.isfinite(model.inertia_)), "reference": float(model.inertia_)},
        "runtime": runtime_path(),
    }
    print(json.dumps(result), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=float, default=200)
    parser.add_argument("--warm", type=float, default=50)
    parser.add_argument("--min", type=int, default=3)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("configs", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CONFIGS))
        return 0
    for config in options.configs or CONFIGS:
        run(config, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
