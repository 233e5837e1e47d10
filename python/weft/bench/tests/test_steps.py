"""weft bench steps: which settings each step runs with, and the tables and the plot of what was measured."""

from pathlib import Path

import pytest
from rich.console import Console

from weft.bench import places, steps
from weft.bench.results import Measurement, Outcome, Results
from weft.bench.runtimes import Runtime

WEFT = Runtime("weft", "this checkout's", Path("/nowhere/libgomp.so.1"))
LIBGOMP = Runtime("libgomp", "GCC's", None)


def off(variant: steps.Variant) -> set[str]:
    return set(filter(None, variant.env.get("WEFT_EXPERIMENT", "").split(",")))


def test_each_step_switches_one_thing_on() -> None:
    variants = steps.in_turn()
    assert off(variants[0]) == set(steps.SWITCHES)
    for before, after, name in zip(variants, variants[1:], steps.SWITCHES, strict=False):
        assert off(before) - off(after) == {name}
    assert variants[-1].env == {"OMP_PLACES": "threads", "OMP_PROC_BIND": "spread,unset"}


def test_each_switch_is_off_alone_once() -> None:
    usual, *changed = steps.one_off()
    assert usual.env == {}
    assert [off(v) for v in changed if off(v)] == [*({name} for name in steps.SWITCHES), {"place-pools"}]


def test_names_are_unlike() -> None:
    names = [variant.name for variant in (*steps.in_turn(), *steps.one_off())]
    assert len(set(names)) == len(names)


def measured() -> Results:
    results = Results()
    runtimes = [LIBGOMP, *(steps.as_runtime(WEFT, v) for v in (*steps.in_turn(), *steps.one_off()))]
    for index, runtime in enumerate(runtimes):
        for case in steps.CASES:
            sample = Measurement(steps.NAME, case.config, Outcome.OK, samples=[100.0 / (index + 1)])
            sample.runtime, sample.setting = runtime.name, "default"
            results.add([sample])
    return results


def test_tables_and_plot(tmp_path: Path) -> None:
    console = Console(width=160, record=True)
    for table in steps.tables(measured(), [LIBGOMP], WEFT, True):
        console.print(table)
    text = console.export_text()
    assert "team-aware management" in text
    assert "0.67x" in text  # the second step over the first: 100 / 3 over 100 / 2
    steps.write_plot(tmp_path / "steps.png", measured(), [LIBGOMP], "a machine")
    assert (tmp_path / "steps.png").stat().st_size > 0


def test_says_so_where_the_program_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "programs_dir", lambda: tmp_path)
    console = Console(record=True)
    assert steps.run(console, 1, True, tmp_path / "out.json", tmp_path / "out.png") == 1
    assert "not built" in console.export_text()
