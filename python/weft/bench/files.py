"""What a run leaves behind: a JSON file with everything that was measured, and plots."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer import BadParameter

from . import places
from .results import Results

PLOT_FORMATS = ("png", "pdf", "svg", "eps", "ps", "jpg", "jpeg", "tif", "tiff", "webp")


def _plot_format(path: Path) -> str:
    return path.suffix.removeprefix(".").lower() or "png"


def _has_working_folder() -> bool:
    try:
        return Path.cwd().is_dir()
    except FileNotFoundError:
        return False


def _why_not(path: Path) -> str | None:
    """One line that says why this file cannot be written, or None."""
    if not path.is_absolute() and not _has_working_folder():
        return "the working folder has been deleted"
    if path.is_dir():
        return "is a directory"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "permission denied"
    return None


def _check_build_dir() -> None:
    """Bug: a misspelt name made folders."""
    folder = places.build_dir()
    if not folder.is_dir():
        why = "see WEFT_BUILD_DIR" if os.environ.get("WEFT_BUILD_DIR") else "run `make build`"
        raise BadParameter(f"there is no folder {folder}: {why}")


def _are_one_file(one: Path, other: Path) -> bool:
    """Not where what is written is kept by neither, as in /dev/null."""
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)
    return one.resolve() == other.resolve()


def find_outputs(stem: str, json_file: Path | None, png_file: Path | None) -> tuple[Path, Path]:
    """Where the JSON and the plot go; BadParameter if they cannot be written there, before anything is measured."""
    _check_build_dir()
    folder = places.results_dir()
    if json_file is None or png_file is None:
        folder.mkdir(exist_ok=True)
    json_path = json_file or folder / f"{stem}.json"
    png_path = png_file or folder / f"{stem}.png"
    for option, given, path in (("--json", json_file, json_path), ("--png", png_file, png_path)):
        if reason := _why_not(path):
            hint = "" if given is not None else f"; {option} FILE puts it elsewhere"
            raise BadParameter(f"{option}: {path}: {reason}{hint}")
    if _are_one_file(json_path, png_path):
        raise BadParameter(f"--json and --png: {json_path} and {png_path} are one file")
    if _plot_format(png_path) not in PLOT_FORMATS:
        raise BadParameter(f"--png: {png_path}: its name must end in one of .{', .'.join(PLOT_FORMATS)}")
    return json_path, png_path


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An error of writing says which file it was: on a full disk the kernel's does not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def save_figure(figure: Any, path: Path) -> None:
    with _naming(path):
        figure.savefig(path, dpi=130, format=_plot_format(path))


def write_record(path: Path, machine: dict[str, Any], rounds: int, measured: dict[str, Any]) -> None:
    record = {"format": 1, "machine": machine, "rounds": rounds, **measured}
    with _naming(path):
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def write_json(path: Path, machine: dict[str, Any], rounds: int, results: Results) -> None:
    measured = {
        "chosen_settings": [
            {"benchmark": b, "config": c, "runtime": r, "setting": s} for (b, c, r), s in results.chosen.items()
        ],
        "measurements": [measurement.as_json() for measurement in results.measurements],
    }
    write_record(path, machine, rounds, measured)
