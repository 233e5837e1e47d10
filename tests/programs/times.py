#!/usr/bin/env python3
"""Runs real programs on the stock runtime and on weft in turn, and prints a table: results, medians of the seconds.

    times.py --python PYTHON [--mkl FOLDER] [--rounds N] [--threads N] [--build FOLDER] [NAME...]

PYTHON is an interpreter with the packages of learners_results.py, FOLDER the one of libmkl_rt.so (PyPI: mkl). Programs
that are not there are left out. A row's time is what the program itself says, or that of its whole process.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
TOLERANCE = 1e-5  # as in the tests of these programs


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple[str, ...]
    keep: str = ""  # of its output, lines with this pattern are the result; empty: all of it
    seconds: str = r"^seconds \S+ (\S+)"  # in what it prints; the last one counts
    environment: tuple[tuple[str, str], ...] = ()
    stock: bool = True  # False: the stock runtime hangs


def programs(options: argparse.Namespace, folder: Path) -> list[Program]:
    found: list[Program] = []
    if options.python:
        script = str(HERE / "learners_results.py")
        for part in ("xgboost", "lightgbm", "faiss", "numba", "lammps", "threads", "fork"):
            found.append(Program(part, (options.python, script, "--time", part), stock=part != "fork"))
    if shutil.which("gmx"):
        tpr = prepare_gromacs(folder)
        command = (
            f"cd {folder} && gmx mdrun -s {tpr} -ntmpi 1 -ntomp {options.threads} -nb cpu -reprod -pin off -deffnm md"
        )
        shell = ("sh", "-c", f"{command} >/dev/null 2>&1 && cat md.log")
        found.append(
            Program("gromacs", shell, r"^ +-?\d\.\d+e[+-]\d\d( +-?\d\.\d+e[+-]\d\d)+$", r"^ +Time: +\S+ +(\S+)")
        )
    binary = options.build / "tests" / "programs"
    found.append(Program("regions_change", (str(binary / "regions_change"), "100")))
    if options.mkl:
        library = next(Path(options.mkl).glob("libmkl_rt.so*"))
        for layer in ("INTEL", "GNU"):
            for kind, size, repeats in (("dgemv", 600, 200), ("dgemm", 256, 20), ("dpotrf", 300, 20)):
                for inner in (1, 2, 4, 8):
                    command = (str(binary / "mkl_nest"), str(library), kind, str(size), "4", str(inner), str(repeats))
                    settings = (
                        ("MKL_THREADING_LAYER", layer),
                        ("MKL_DYNAMIC", "false"),
                        ("OMP_MAX_ACTIVE_LEVELS", "4"),
                        ("LD_LIBRARY_PATH", options.mkl),
                    )
                    found.append(Program(f"mkl {layer} {kind} inner {inner}", command, environment=settings))
    return [p for p in found if not options.names or any(p.name.startswith(name) for name in options.names)]


def prepare_gromacs(folder: Path) -> str:
    """A box of 510 molecules of water, 400 steps."""
    (folder / "topol.top").write_text(
        '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n[ system ]\nwater\n[ molecules ]\n'
    )
    (folder / "md.mdp").write_text(
        "integrator=md\nnsteps=400\ndt=0.001\nnstenergy=40\nnstlog=40\ncoulombtype=PME\nrcoulomb=1.0\nrvdw=1.0\n"
        "cutoff-scheme=Verlet\ngen-vel=yes\ngen-seed=7\nconstraints=h-bonds\n"
    )
    for command in (
        "gmx solvate -cs spc216 -box 2.5 2.5 2.5 -o conf.gro -p topol.top",
        "gmx grompp -f md.mdp -c conf.gro -p topol.top -o run.tpr -maxwarn 3",
    ):
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return "run.tpr"


def run(program: Program, on_weft: bool, options: argparse.Namespace) -> tuple[str, float, str]:
    """Result, seconds, and what went wrong."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_"))}
    environment |= {"OMP_NUM_THREADS": str(options.threads), **dict(program.environment)}
    command = [str(CHECKOUT / "weft"), "run", *program.command] if on_weft else list(program.command)
    start = time.perf_counter()
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "", float("nan"), "hang"
    taken = time.perf_counter() - start
    if done.returncode != 0:
        return "", float("nan"), f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"
    said = re.findall(program.seconds, done.stderr + "\n" + done.stdout, re.MULTILINE)
    lines = [line for line in done.stdout.splitlines() if not program.keep or re.search(program.keep, line)]
    return "\n".join(lines), float(said[-1]) if said else taken, ""


def same(one: str, other: str) -> str:
    if one == other:
        return "equal"
    a, b = one.split(), other.split()
    try:
        worst = max(
            abs(float(x) - float(y)) / max(abs(float(x)), abs(float(y)), 1e-300)
            for x, y in zip(a, b, strict=True)
            if x != y
        )
    except ValueError:
        return "DIFFERENT"
    return f"within {worst:.0e}" if worst <= TOLERANCE else "DIFFERENT"


def measure(program: Program, options: argparse.Namespace) -> str:
    seconds: dict[bool, list[float]] = {False: [], True: []}
    results: dict[bool, str] = {}
    for number in range(options.rounds):
        for on_weft in (False, True) if number % 2 == 0 else (True, False):
            if not on_weft and not program.stock:
                continue
            result, taken, problem = run(program, on_weft, options)
            if problem:
                return f"| {program.name} | {'weft' if on_weft else 'stock'}: {problem} | | | |"
            seconds[on_weft].append(taken)
            results.setdefault(on_weft, result)
    weft = statistics.median(seconds[True])
    if not program.stock:
        return f"| {program.name} | as in the parent | - | {weft:.4f} | - |"
    stock = statistics.median(seconds[False])
    verdict = same(results[False], results[True]) if results[False] else "NOTHING TO COMPARE"
    return f"| {program.name} | {verdict} | {stock:.4g} | {weft:.4g} | {stock / weft:.2f} |"


def check(options: argparse.Namespace) -> None:
    """Ends with one line where something is named that is not there."""
    problem = None
    if options.python is not None and shutil.which(options.python) is None:
        problem = f"--python {options.python}: there is no such program"
    elif options.mkl is not None and not any(Path(options.mkl).glob("libmkl_rt.so*")):
        problem = f"--mkl {options.mkl}: there is no libmkl_rt.so"
    elif not (options.build / "tests" / "programs").is_dir():
        problem = f"--build {options.build}: its tests are not built"
    if problem:
        sys.exit(f"times.py: {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python")
    parser.add_argument("--mkl")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--build", type=Path, default=CHECKOUT / "build")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    check(options)
    folder = options.build / "tests" / "programs" / "times"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print("| program | results | stock, s | weft, s | stock / weft |\n| --- | --- | --- | --- | --- |")
    wrong = False
    for program in programs(options, folder):
        line = measure(program, options)
        wrong = wrong or "DIFFERENT" in line or "weft:" in line
        print(line, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
