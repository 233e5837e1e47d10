"""Where Intel's MKL is, and which of its threading layers suits which runtime.

A layer says whose compiler has built what MKL runs: INTEL calls the entry points of LLVM's and Intel's runtimes, GNU
those of libgomp. MKL comes with Intel's own runtime, libiomp5.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .runtimes import Runtime, Setting, as_libgomp, hot_teams

VARIABLE = "WEFT_BENCH_MKL"
BENCHMARK = "mkl"
GET_IT = (
    f"python3 -m venv /tmp/mkl && /tmp/mkl/bin/pip install mkl, then --mkl /tmp/mkl/lib (or {VARIABLE}=/tmp/mkl/lib)"
)

LEGEND = "mkl: MKL's layer INTEL (I) or GNU (G), and the setting, are chosen per row in the first round."
_BOTH = ("INTEL", "GNU")
_LAYERS = {"libgomp": ("GNU",), "libomp": ("INTEL",), "libiomp5": ("INTEL",)}


def named_folder() -> Path:
    """What the user has named, else where the environment that runs this keeps its libraries."""
    return Path(os.environ.get(VARIABLE) or Path(sys.prefix) / "lib")


def is_in(folder: Path) -> bool:
    return any(folder.glob("libmkl_rt.so*"))


def why_not() -> str | None:
    """One line that says why MKL cannot be used, or None."""
    folder = named_folder()
    if is_in(folder):
        return None
    if os.environ.get(VARIABLE):
        return f"{BENCHMARK}: there is no libmkl_rt.so in {folder}; {GET_IT}"
    return f"{BENCHMARK}: no folder with libmkl_rt.so is named: {GET_IT}"


def environment() -> dict[str, str]:
    return {VARIABLE: str(named_folder().resolve()), "MKL_DYNAMIC": "false"}


def layered(runtime: Runtime, settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Each setting with each of the layers that the runtime may serve."""
    return tuple(
        replace(
            setting,
            name=layer if len(settings) == 1 else f"{layer} {setting.name}",
            env={**setting.env, "MKL_THREADING_LAYER": layer},
        )
        for layer in _LAYERS.get(runtime.name, _BOTH)
        for setting in settings
    )


def libiomp5() -> Runtime | None:
    """Intel's runtime, if it is there; for MKL alone."""
    library = named_folder() / "libiomp5.so"
    if why_not() or not library.exists():
        return None
    return Runtime(
        "libiomp5", "Intel's, nested hot teams", library, as_libgomp(library), hot_teams(), only=(BENCHMARK,)
    )
