"""The command `weft bench`."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from weft.console import make_console

from . import machine, mkl, preempt, steps
from .campaign import DEFAULT_ROUNDS, QUICK_ROUNDS, QUICK_SCALE, Plan
from .catalog import (
    ALL,
    CATALOG,
    CONSTRUCTS,
    MKL,
    TASKLOOPS,
    Benchmark,
    Case,
    chosen_cases,
    find,
    has_aims,
    openmp_group,
)
from .files import find_outputs, write_json
from .goals import goals_table
from .native import command as native
from .plot import write_plot
from .progress import run_behind_bar, tell_reservations
from .report import WIDE, WIDTH, aims_summary, aims_table, benchmark_table, failure_lines, legend
from .results import Results
from .runtimes import WEFT, NoRuntime, Runtime, available, tuned

app = typer.Typer(add_completion=False, rich_markup_mode=None)

OPENMP = "openmp"  # the constructs and the figures, with aims, against runtimes that are tuned

MAIN_JOB = (
    "OpenMP programs whose parallel regions nest, unmodified, on {names}. Flat and nested regions without work show "
    "what a region costs. The figures with 20,000 cycles of work per member show how near each runtime comes to the "
    "ideal: all the work spread over {cpus} CPUs. FFTW and BLIS called from a parallel loop are real programs that "
    "nest; that their inner level really opens is counted. dgemm and KMeans do not nest, and must not become slower. "
    "{rounds} rounds, for dgemm and KMeans three times as many, the runtimes in turn{duration}."
)


def _list(console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name")
    table.add_column("what it measures")
    table.add_column("cases", justify="right")
    for benchmark in CATALOG:
        table.add_row(benchmark.name, benchmark.title, str(len(benchmark.cases)))
    table.add_row("main", "the job of `make run`: the cases of the figures that show most, and the goals", "")
    table.add_row("all", "everything above, every case", "")
    for benchmark in (*TASKLOOPS, *CONSTRUCTS, MKL):
        table.add_row(benchmark.name, benchmark.title, str(len(benchmark.cases)))
    table.add_row(OPENMP, "every construct of OpenMP, task programs and figures, with what each has to reach", "")
    for pattern in native.ALL_PATTERNS:
        table.add_row(pattern.name, pattern.title, str(len(pattern.cases)))
    table.add_row(native.GROUP, "the seven patterns of the threading core, on weft and other libraries", "")
    table.add_row(preempt.NAME, preempt.TITLE, "")
    table.add_row(steps.NAME, steps.TITLE, str(len(steps.CASES)))
    console.print(table)


def _check_names(names: list[str]) -> None:
    known = ["main", "all", OPENMP, *(b.name for b in ALL), *native.NAMES, native.GROUP, preempt.NAME, steps.NAME]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no benchmark '{name}'; there are {', '.join(known)}")


def _select(names: list[str], quick: bool) -> list[tuple[Benchmark, list[Case]]]:
    """The benchmarks and cases that are meant."""
    chosen: dict[str, tuple[Benchmark, list[Case]]] = {}
    for name in names:
        if name in ("main", "all"):
            for benchmark in CATALOG:
                if name == "all" or benchmark.in_main:
                    chosen[benchmark.name] = (benchmark, chosen_cases(benchmark, main=name == "main", quick=quick))
        elif name == OPENMP:
            for benchmark in openmp_group():
                chosen[benchmark.name] = (benchmark, chosen_cases(benchmark, main=False, quick=quick))
        elif benchmark := find(name):
            chosen[name] = (benchmark, chosen_cases(benchmark, main=False, quick=quick))
    return list(chosen.values())


def _folders(also: list[str]) -> dict[str, Path]:
    folders = {}
    for entry in also:
        name, separator, folder = entry.partition("=")
        if not separator or not name or not folder:
            raise typer.BadParameter(f"--also: '{entry}': expected NAME=FOLDER")
        if name in folders:
            raise typer.BadParameter(f"--also: '{name}' is there twice")
        folders[name] = Path(folder)
    return folders


def _pick_runtimes(console: Console, wanted: str | None, also: list[str], tune: bool) -> list[Runtime]:
    try:
        found, missing = available(_folders(also))
    except NoRuntime as error:
        raise typer.BadParameter(f"--also: {error}") from None
    if intel := mkl.libiomp5():
        found.insert(next((i for i, r in enumerate(found) if r.name == "weft"), len(found)), intel)
    if tune:
        found = tuned(found)
    if wanted is None:
        for line in missing:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return found
    picked: list[Runtime] = []
    for name in dict.fromkeys(wanted.split(",")):
        runtime = next((r for r in found if r.name == name), None)
        if runtime is None:
            none = f"there is no such runtime, only {', '.join(r.name for r in found)}"
            reason = next((line for line in missing if line.startswith(f"{name}:")), none)
            raise typer.BadParameter(f"runtime '{name}': {reason}")
        picked.append(runtime)
    return picked


def _print_results(console: Console, plan: Plan, results: Results, with_goals: bool, with_aims: bool) -> None:
    wide = console.width >= WIDE
    for benchmark, cases in plan.benchmarks:
        console.print()
        console.print(f"{benchmark.name}: {benchmark.title}", style="bold", markup=False, highlight=False)
        table = aims_table if with_aims else benchmark_table
        shown = [runtime for runtime in plan.runtimes if benchmark.runs_on(runtime)]
        console.print(table(benchmark, cases, shown, results, show_spread=wide))
    for line in legend(plan.runtimes):
        console.print(line, style="dim", markup=False)
    if MKL in (benchmark for benchmark, _ in plan.benchmarks):
        console.print(mkl.LEGEND, style="dim", markup=False)
    for line in failure_lines(results):
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if with_aims:
        console.print(aims_summary(plan.benchmarks, plan.runtimes, results), markup=False, highlight=False)
    if with_goals and any(r.name == "weft" for r in plan.runtimes):
        console.print()
        console.print(goals_table(results))


def _rounds(text: str | int) -> int:
    if re.fullmatch(r"0*[1-9][0-9]{0,5}", str(text), re.ASCII) is None:
        raise typer.BadParameter(f"'{text}' is not a whole number from 1 to 999999")
    return int(text)


def _path(text: str | Path) -> Path:
    if not str(text):  # Bug: it was taken for the working folder
        raise typer.BadParameter("an empty name")
    return Path(text)


@app.command()
def bench(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="benchmarks, or main, or all; none: list them")
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(
            parser=_rounds,
            metavar="N",
            help="how often everything is measured in turn (dgemm, kmeans: three times that)",
        ),
    ] = DEFAULT_ROUNDS,
    quick: Annotated[bool, typer.Option("--quick", help="fewest cases, two short rounds")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", parser=_path, metavar="FILE", help="where the JSON goes")
    ] = None,
    png_file: Annotated[
        Path | None, typer.Option("--png", parser=_path, metavar="FILE", help="where the plot goes")
    ] = None,
    runtimes: Annotated[str | None, typer.Option(metavar="NAMES", help="only these, separated by commas")] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FOLDER", help="one more runtime, a folder with a libgomp.so.1")
    ] = None,
    mkl_folder: Annotated[
        Path | None,
        typer.Option(
            "--mkl",
            parser=_path,
            metavar="FOLDER",
            envvar=mkl.VARIABLE,
            help="mkl, openmp: the folder of Intel MKL's libmkl_rt.so",
        ),
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="techniques: also count instructions, with valgrind")
    ] = False,
) -> None:
    """Measure OpenMP runtimes, and libweft beside other threading libraries."""
    console = make_console(WIDTH, plain=False)
    if not names:
        if any(_is_on_command_line(context, option) for option in context.params):
            raise typer.BadParameter("options without a benchmark: name one, or main; `weft bench` alone lists them")
        _list(console)
        return
    _check_names(names)
    if mkl_folder is not None and _is_on_command_line(context, "mkl_folder"):
        _use_mkl(mkl_folder, names, quick)
    others = [name for name in names if name in (preempt.NAME, steps.NAME, native.GROUP, *native.NAMES)]
    if others and (runtimes is not None or also):
        compare = "does not compare" if len(others) == 1 else "do not compare"
        raise typer.BadParameter(f"--runtimes and --also: {', '.join(others)} {compare} runtimes of OpenMP")
    if instructions and not {native.GROUP, "techniques"} & set(names):
        raise typer.BadParameter("--instructions: only techniques counts them")
    alone = next((module for module in (preempt, steps) if module.NAME in names), None)
    if alone is not None and len(names) > 1:
        raise _apart([alone.NAME])
    of_core = [name for name in names if name in native.NAMES or name == native.GROUP]
    if of_core and len(names) > len(of_core):
        raise _apart(of_core)

    rounds = min(rounds, QUICK_ROUNDS) if quick else rounds
    json_path, png_path = find_outputs("-".join(names), json_file, png_file)
    if alone is not None:
        raise typer.Exit(alone.run(console, rounds, quick, json_path, png_path))
    if of_core:
        plan = native.make_plan(of_core, rounds, quick, QUICK_SCALE if quick else 1.0)
        raise typer.Exit(native.run(console, plan, json_path, png_path, instructions))
    _measure_openmp(console, names, rounds, quick, json_path, png_path, runtimes, also)


def _is_on_command_line(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _apart(names: list[str]) -> typer.BadParameter:
    own, compare = ("its own", "it compares") if len(names) == 1 else ("their own", "they compare")
    return typer.BadParameter(f"measure {', '.join(names)} in a run of {own}: {compare} other things")


def _use_mkl(folder: Path, names: list[str], quick: bool) -> None:
    if not any(benchmark.uses_mkl for benchmark, _ in _select(names, quick)):
        raise typer.BadParameter(f"--mkl: only {mkl.BENCHMARK} and {OPENMP} use it")
    if not mkl.is_in(folder):
        raise typer.BadParameter(f"--mkl: there is no libmkl_rt.so in {folder}; {mkl.GET_IT}")
    os.environ[mkl.VARIABLE] = str(folder)


def _measure_openmp(
    console: Console,
    names: list[str],
    rounds: int,
    quick: bool,
    json_path: Path,
    png_path: Path,
    runtimes: str | None,
    also: list[str] | None,
) -> None:
    selected, left_out = [], []
    tune = any(name == OPENMP or has_aims(name) for name in names)
    picked = _pick_runtimes(console, runtimes, also or [], tune)
    for benchmark, cases in _select(names, quick):
        reason = benchmark.why_not()
        if not reason and not any(benchmark.runs_on(runtime) for runtime in picked):
            reason = f"{benchmark.name}: it does not run on {', '.join(runtime.name for runtime in picked)}"
        if reason:
            console.print(reason, markup=False, highlight=False, soft_wrap=True)
            if benchmark.name in names:
                left_out.append(reason)
        elif cases:
            selected.append((benchmark, cases))
    picked = [runtime for runtime in picked if any(benchmark.runs_on(runtime) for benchmark, _ in selected)]
    if not selected or not picked:
        console.print("nothing to measure")
        raise typer.Exit(1)
    plan = Plan(selected, picked, rounds, QUICK_SCALE if quick else 1.0)
    is_main = "main" in names or "all" in names
    about = machine.describe(picked)
    if is_main:
        duration = "; about five minutes" if (rounds, quick) == (DEFAULT_ROUNDS, False) else ""
        text = MAIN_JOB.format(
            names=", ".join(r.name for r in picked), cpus=about["cpus"], rounds=rounds, duration=duration
        )
        console.print(text, markup=False, highlight=False)

    results = Results()
    clock = machine.CpuClock()
    complete = run_behind_bar(console, plan, results)
    about["cpu_time_of_others"] = clock.share_of_others()
    paces = results.settle_paces()
    _print_results(console, plan, results, is_main, tune)
    if paces.text():
        console.print(paces.text(), markup=False, highlight=False)
    tell_reservations(console, about, complete)

    write_json(json_path, about, rounds, results)
    caption = machine.caption(about, rounds)
    write_plot(png_path, selected, picked, results, caption)
    console.print(f"JSON: {json_path}", soft_wrap=True, markup=False, highlight=False)
    console.print(f"plot: {png_path}", soft_wrap=True, markup=False, highlight=False)
    if not complete:
        raise typer.Exit(130)
    for reason in left_out:  # once more: it may be long ago
        console.print(f"not measured: {reason}", markup=False, highlight=False, soft_wrap=True)
    if left_out or any(cell.failures for cell in _weft_cells(plan, results)):
        raise typer.Exit(1)


def _weft_cells(plan: Plan, results: Results):
    for benchmark, cases in plan.benchmarks:
        for case in cases:
            for runtime in plan.runtimes:
                if runtime.name in WEFT:
                    yield results.of(benchmark.name, case.config, runtime.name)


if __name__ == "__main__":
    app()
