"""What of the settings of the user's shell the measured programs do not get."""

import os
from collections.abc import Mapping

# They would tune one runtime or library, or turn nesting off. What a benchmark needs of these it sets itself.
_DROPPED = (
    "OMP_",
    "KMP_",
    "LIBOMP_",
    "WEFT_",
    "BLIS_",
    "OPENBLAS_",
    "MKL_",
    "ABT_",
    "MYTH_",
    "QT_",
    "QTHREAD_",
    "TBB_",
    "GO",  # GOMP_*, and Go's own
    "LD_PRELOAD",
)


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Of the user's shell, or of `base`, what measured programs get."""
    return {key: text for key, text in (os.environ if base is None else base).items() if not key.startswith(_DROPPED)}
