"""Where things stand: the checkout, its build tree, and what the benchmarks write."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]


def build_dir() -> Path:
    return Path(os.environ.get("WEFT_BUILD_DIR", CHECKOUT / "build")).resolve()


def programs_dir() -> Path:
    return build_dir() / "bench" / "bin"


def results_dir() -> Path:
    return build_dir() / "bench"


def scripts_dir() -> Path:
    return CHECKOUT / "bench"
