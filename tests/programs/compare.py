#!/usr/bin/env python3
"""Runs a program on the stock OpenMP runtime and on the drop-in, and compares what it prints.

    compare.py --dropin FOLDER [options] -- PROGRAM [ARGUMENTS]

A program prints lines "KEY VALUE..." in any order; numbers may differ by the relative tolerance, everything else must
be equal. With --bytes its whole output must be equal. That the second run really used the drop-in is seen by a
witness (witness.c), preloaded before the runtime, or with --launcher from the report that the runtime prints.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


class Failure(Exception):
    pass


@dataclass
class Witnessed:
    """What the witness wrote, over all processes of a run."""

    runtimes: set[str] = field(default_factory=set)
    regions: dict[int, int] = field(default_factory=dict)
    members: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Witnessed:
        seen = cls()
        for line in file.read_text().splitlines() if file.exists() else []:
            words = line.split()
            if words[0] == "runtime":
                seen.runtimes.add(os.path.realpath(line.split(" ", 1)[1]))
            else:
                level, regions, members = int(words[1]), int(words[3]), int(words[5])
                seen.regions[level] = seen.regions.get(level, 0) + regions
                seen.members[level] = seen.members.get(level, 0) + members
        return seen

    def __str__(self) -> str:
        return ", ".join(
            f"level {level}: {self.regions[level]} regions of {self.members[level] / self.regions[level]:.1f} members"
            for level in sorted(self.regions)
        )


def run(command: list[str], environment: dict[str, str], options: argparse.Namespace) -> tuple[bytes, str]:
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=options.directory,
        start_new_session=True,
    ) as process:
        try:
            output, error_output = process.communicate(timeout=options.timeout)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)  # the shell of a command line, and what it started
            raise Failure(f"did not end in {options.timeout} s") from late
    errors = error_output.decode(errors="replace")
    if process.returncode != options.status:
        raise Failure(f"ended with {process.returncode}, must be {options.status}; standard error:\n{errors[-3000:]}")
    if options.output:
        return Path(options.directory or ".", options.output).read_bytes(), errors
    return output, errors


def stock_environment(base: dict[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in base.items()
        if name not in ("LD_PRELOAD", "LD_LIBRARY_PATH") and not name.startswith("WEFT_")
    }


def run_dropin(base: dict[str, str], options: argparse.Namespace) -> tuple[bytes, str]:
    """Runs on the drop-in; the second result says what was seen of it."""
    library = str(Path(options.dropin, "libgomp.so.1").resolve())
    if not Path(library).exists():
        raise Failure(f"there is no {library}")
    if options.launcher:
        environment = {**stock_environment(base), "WEFT_REPORT": "1"}
        command = [options.launcher, "run"]
        if options.workers:
            command += ["--workers", str(options.workers)]
        output, errors = run([*command, *options.command], environment, options)
        regions = [int(n) for n in re.findall(r"weft: report: regions\S*[ :=]+(\d+)", errors)]
        if not any(regions):
            raise Failure(f"no report that says that the drop-in opened a region; standard error:\n{errors[-3000:]}")
        return output, f"{sum(regions)} regions"
    with tempfile.TemporaryDirectory() as folder:
        witness = Path(folder, "witness")
        environment = {
            **base,
            "LD_LIBRARY_PATH": options.dropin,
            "LD_PRELOAD": f"{options.witness} {library}",
            "WITNESS": str(witness),
        }
        if options.workers:
            environment["WEFT_NUM_WORKERS"] = str(options.workers)
        output, _ = run(options.command, environment, options)
        seen = Witnessed.read(witness)
    if seen.runtimes != {library}:
        raise Failure(f"the regions were served by {sorted(seen.runtimes) or 'nothing'}, must be by {library}")
    for level, size in options.expect_level:
        if seen.regions.get(level, 0) == 0 or seen.members[level] < size * seen.regions[level]:
            raise Failure(f"at level {level} must be regions of {size} members; seen: {seen}")
    return output, str(seen)


def lines_by_key(output: bytes) -> dict[str, str]:
    pairs = [line.split(maxsplit=1) for line in output.decode().splitlines() if line.strip()]
    result = {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}
    if len(result) != len(pairs):
        raise Failure("the program prints a key twice")
    return result


def same(stock: str, dropin: str, tolerance: float) -> bool:
    if stock == dropin:
        return True
    a, b = stock.split(), dropin.split()
    try:
        return len(a) == len(b) and all(
            x == y or abs(float(x) - float(y)) <= tolerance * max(abs(float(x)), abs(float(y)))
            for x, y in zip(a, b, strict=True)
        )
    except ValueError:
        return False


def compare(stock: bytes, dropin: bytes, options: argparse.Namespace) -> str:
    if options.bytes:
        if stock != dropin:
            raise Failure(f"the output differs: {len(stock)} and {len(dropin)} bytes")
        return f"{len(stock)} bytes, SHA-256 {hashlib.sha256(stock).hexdigest()[:16]}"
    expected, actual = lines_by_key(stock), lines_by_key(dropin)
    if not expected:
        raise Failure("the program printed nothing to compare")
    if expected.keys() != actual.keys():
        raise Failure(f"only one run printed {sorted(expected.keys() ^ actual.keys())[:5]}")
    for key, value in expected.items():
        if not same(value, actual[key], options.tolerance):
            raise Failure(f"{key} is {actual[key]} on the drop-in and {value} on the stock runtime")
    return f"{len(expected)} results"


def level_and_size(text: str) -> tuple[int, float]:
    level, size = text.split(":")
    return int(level), float(size)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dropin", required=True, help="the folder of the drop-in")
    parser.add_argument("--witness", help="the witness library")
    parser.add_argument("--launcher", help="the command weft, used instead of LD_PRELOAD")
    parser.add_argument("--workers", type=int, help="workers of the drop-in")
    parser.add_argument("--tolerance", type=float, default=0.0, help="relative difference allowed")
    parser.add_argument("--bytes", action="store_true", help="compare the output byte for byte")
    parser.add_argument("--output", help="compare this file, which the program writes, not its standard output")
    parser.add_argument("--directory", help="where to run the program")
    parser.add_argument("--status", type=int, default=0, help="exit status that both runs must have")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="environment of both runs")
    parser.add_argument(
        "--expect-level",
        action="append",
        default=[],
        type=level_and_size,
        metavar="LEVEL:SIZE",
        help="regions must be opened inside LEVEL others, of SIZE members at least on average",
    )
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if not options.launcher and not options.witness:
        parser.error("one of --witness and --launcher is needed")
    return options


def main() -> int:
    options = parse()
    base = {**os.environ, **dict(setting.split("=", 1) for setting in options.set)}
    what = "on the stock runtime"
    try:
        stock, _ = run(options.command, stock_environment(base), options)
        what = "on the drop-in"
        dropin, seen = run_dropin(base, options)
        what = "comparison"
        result = compare(stock, dropin, options)
    except Failure as failure:
        print(f"FAILED {' '.join(options.command)}: {what}: {failure}", file=sys.stderr)
        return 1
    print(f"{result} equal; {seen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
