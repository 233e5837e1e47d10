"""Where things lie in a checkout, or an installation, which has a part of that."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DROPIN_FOLDER = ROOT / "build" / "dropin"
DROPIN = DROPIN_FOLDER / "libgomp.so.1"


IN_INSTALLATION = "an installation has `weft run` and `weft ctl`; the other commands belong to a checkout"


def is_checkout() -> bool:
    return (ROOT / "Makefile").exists()


def put_link(link: Path, target: Path) -> None:
    """Makes a symbolic link, or leads it there; it is never missing to others who use it."""
    if link.is_symlink() and link.readlink() == target:
        return
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)
