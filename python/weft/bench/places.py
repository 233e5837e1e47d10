"""Where things stand: the checkout, its build tree, and what the benchmarks write."""

import os
from pathlib import Path

from weft.paths import ROOT


def build_dir() -> Path:
    return Path(os.environ.get("WEFT_BUILD_DIR") or ROOT / "build").resolve()


def programs_dir() -> Path:
    return build_dir() / "bench" / "bin"


def results_dir() -> Path:
    return build_dir() / "bench"


def scripts_dir() -> Path:
    return ROOT / "bench"
