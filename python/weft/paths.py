"""Where things lie in a checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DROPIN_FOLDER = ROOT / "build" / "dropin"
DROPIN = DROPIN_FOLDER / "libgomp.so.1"
