"""What a run leaves behind: a JSON file with everything that was measured."""

import json
from pathlib import Path
from typing import Any

from .results import Results


def write_record(path: Path, machine: dict[str, Any], rounds: int, measured: dict[str, Any]) -> None:
    record = {"format": 1, "machine": machine, "rounds": rounds, **measured}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def write_json(path: Path, machine: dict[str, Any], rounds: int, results: Results) -> None:
    measured = {
        "chosen_settings": [
            {"benchmark": b, "config": c, "runtime": r, "setting": s} for (b, c, r), s in results.chosen.items()
        ],
        "measurements": [measurement.as_json() for measurement in results.measurements],
    }
    write_record(path, machine, rounds, measured)
