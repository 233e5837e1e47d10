import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from weft.bench.app import app
from weft.bench.native import campaign, catalog, command, goals, instructions, plot, report
from weft.bench.results import Measurement, Outcome, Results
from weft.bench.runner import parse_line

LINE = (
    '{{"name": "p", "config": "{config}", "params": {{"library": "x", "operations": 100}}, "unit": "us", "batch": 1, '
    '"samples": [{us}], "checks": {{"ok": true}}, "runtime": "/lib/x.so"}}'
)

# A program like those of bench/: 2 us for 100 operations, twice as long with slow=1, and one way to fail.
PROGRAM = f"""#!/bin/sh
for config; do :; done
case "$config" in *fail=1*) exit 3;; *slow=1*) us=4;; *) us=2;; esac
cat <<END
{LINE.format(config="$config", us="$us")}
END
"""

FAST = catalog.Variant("weft fast", "weft")
SLOW = catalog.Variant("Slow", "argobots", "slow=1")
FAILING = catalog.Variant("Failing", "argobots", "fail=1")
ABSENT = catalog.Variant("Absent", "qthreads")
CASES = (catalog.Case("n=1,d=0", "one", True), catalog.Case("n=1,d=100", "two"))


def pattern(*variants: catalog.Variant) -> catalog.Pattern:
    return catalog.Pattern("p", "title", "p", (catalog.Section("", CASES),), variants)


def shown(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=150)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEFT_BUILD_DIR", str(tmp_path))
    folder = tmp_path / "bench" / "bin"
    folder.mkdir(parents=True)
    for library in ("weft", "argobots"):
        program = folder / f"p-{library}"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
    return folder


def measured(*variants: catalog.Variant, rounds: int = 2) -> Results:
    results = Results()
    campaign.run_plan(campaign.Plan([(pattern(*variants), CASES)], rounds), results, lambda _: None)
    return results


def with_values(name: str, values: dict[str, float], pattern_name: str = "techniques") -> Results:
    results = Results()
    for config, ns in values.items():
        one = Measurement(pattern_name, config, Outcome.OK, [ns / 1000], params={"operations": 1}, runtime=name)
        results.add([one])
    return results


def merged(*parts: Results) -> Results:
    results = Results()
    for part in parts:
        results.add(part.measurements)
    return results


def test_a_value_is_the_time_of_one_operation_or_bytes():
    line = parse_line("p", LINE.format(config="n=1", us="2.0"))
    assert line is not None and line.unit == "us"
    results = Results()
    results.add([line])
    assert campaign.value(results.of("p", "n=1", "")) == 20
    line.unit, line.params["operations"] = "bytes", 1
    assert campaign.value(results.of("p", "n=1", "")) == 2


@pytest.mark.usefixtures("programs")
def test_every_variant_is_measured_in_every_round_under_the_case_it_was_asked_for():
    results = measured(FAST, SLOW, ABSENT)
    assert campaign.value(results.of("p", "n=1,d=0", "weft fast")) == 20
    assert campaign.value(results.of("p", "n=1,d=0", "Slow")) == 40
    assert len(results.of("p", "n=1,d=100", "Slow").measurements) == 2
    assert not results.of("p", "n=1,d=0", "Absent").measurements


@pytest.mark.usefixtures("programs")
def test_variants_of_a_case_follow_each_other_and_take_turns_at_being_first():
    order = [(m.round, m.config, m.runtime) for m in measured(FAST, SLOW).measurements]
    assert order[:4] == [
        (0, "n=1,d=0", "weft fast"),
        (0, "n=1,d=0", "Slow"),
        (0, "n=1,d=100", "weft fast"),
        (0, "n=1,d=100", "Slow"),
    ]
    assert [entry[2] for entry in order[4:6]] == ["Slow", "weft fast"]


@pytest.mark.usefixtures("programs")
def test_a_failure_and_an_absent_library_are_visible_in_the_table():
    results = measured(FAST, FAILING, ABSENT, rounds=3)
    assert len(results.of("p", "n=1,d=0", "Failing").failures) == campaign.FAILURES_ENOUGH
    p = pattern(FAST, FAILING, ABSENT)
    text = shown(report.section_table(p, p.sections[0], CASES, results, show_spread=False))
    assert "crash" in text and "Qthreads: not built" in text and "20.0" in text
    assert any("exit status 3" in line for line in report.failure_lines(results))


def test_a_variant_is_not_asked_for_what_it_cannot_do():
    tasklet = catalog.Variant("t", "argobots", deviates=False, workers=(1,), most=100, without="kind=to")
    assert tasklet.takes(catalog.Case("n=100,d=0", ""))
    for config in ("n=100,d=10", "n=101,d=0", "n=1,workers=2", "kind=to"):
        assert not tasklet.takes(catalog.Case(config, ""))


def test_the_names_and_configs_of_a_pattern_are_unique():
    for one in catalog.ALL_PATTERNS:
        names = [variant.name for variant in one.variants]
        assert len(set(names)) == len(names)
        assert len({case.config for case in one.cases}) == len(one.cases)


def test_every_goal_is_measured_by_its_pattern_also_with_quick():
    for quick in (False, True):
        results = Results()
        for one in catalog.ALL_PATTERNS:
            for case in catalog.chosen_cases(one, quick=quick):
                for variant in one.variants:
                    if variant.takes(case):
                        part = with_values(variant.name, {case.config: 1.0}, one.name)
                        results.add(part.measurements)
        open_goals = [goal.text for goal in goals.GOALS if goal.judge(results).reached is None]
        assert open_goals == []
        assert "no" in shown(goals.goals_table(results, [one.name for one in catalog.ALL_PATTERNS]))


def test_a_ratio_is_judged_by_its_worst_case():
    judge = goals.fraction_of("weft", ("Other",), ((64, 0), (4096, 0)), 0.5)
    others = with_values("Other", {"n=64,d=0": 20, "n=4096,d=0": 20})
    assert judge(merged(others, with_values("weft", {"n=64,d=0": 9, "n=4096,d=0": 10}))).reached is True
    verdict = judge(merged(others, with_values("weft", {"n=64,d=0": 11, "n=4096,d=0": 5})))
    assert verdict.reached is False
    assert "0.55x" in verdict.measured and "N = 64" in verdict.measured
    assert judge(others).reached is None


def test_a_speedup_is_that_of_the_variant_that_is_best_alone():
    judge = goals.speedup("fib", "1", "2", ("a", "b"), 1.95)
    results = merged(with_values("a", {"1": 20, "2": 10}, "fib"), with_values("b", {"1": 30, "2": 10}, "fib"))
    assert judge(results).reached is True
    assert "2.00x" in judge(results).measured


def test_the_phases_are_read_from_what_callgrind_writes():
    dumps = [
        "desc: Trigger: --dump-before=phase_create\ntotals: 999999\n",
        "desc: Trigger: --dump-before=phase_run\ntotals: 5000\n",
        "desc: Trigger: --dump-before=phase_join\ntotals: 3000\n",
        "desc: Trigger: --dump-before=phase_end\ntotals: 1000\n",
        "desc: Trigger: Program termination\ntotals: 7\n",
    ]
    per_unit = instructions.read_dumps(dumps, 100)
    assert per_unit == {"create": 50, "run": 30, "join": 10}
    count = instructions.Count(catalog.Variant("weft RoC-L", "weft"), instructions.CASES[0], per_unit)
    text = shown(instructions.counts_table([count]))
    assert "90" in text and "weft RoC-L" in text


@pytest.mark.usefixtures("programs")
def test_the_plots_are_pngs(tmp_path: Path):
    techniques = catalog.find("techniques")
    assert techniques is not None
    patterns = [(techniques, techniques.cases), (pattern(FAST, SLOW, FAILING), CASES)]
    written = plot.write_plots(tmp_path / "core.png", patterns, measured(FAST, SLOW, FAILING), "caption")
    assert [path.name for path in written] == ["core-techniques.png", "core.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_sections_without_a_quick_case_are_left_out_of_the_quick_plot(tmp_path: Path, programs: Path):
    techniques = catalog.find("techniques")
    assert techniques is not None
    (programs / "p-weft").rename(programs / "techniques-weft")
    cases = [case for case in techniques.cases if case.quick]
    plans = campaign.Plan([(techniques, cases)], 1)
    results = Results()
    campaign.run_plan(plans, results, lambda _: None)
    assert any(not set(section.cases) & set(cases) for section in techniques.sections)
    plot.write_plots(tmp_path / "quick.png", plans.patterns, results, "caption")
    assert (tmp_path / "quick.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("programs")
def test_the_command_prints_the_table_and_keeps_the_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "PATTERNS", (pattern(FAST, SLOW, ABSENT),))
    console = Console(file=io.StringIO(), width=150)
    plan = command.make_plan(["core"], 1, True, 1.0)
    assert command.run(console, plan, tmp_path / "p.json", tmp_path / "p.png", False) == 0
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Slow" in text and "Qthreads: not built" in text
    assert (tmp_path / "p.json").exists() and (tmp_path / "p.png").exists()


@pytest.mark.usefixtures("programs")
def test_the_json_is_there_before_instructions_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_: Console) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "PATTERNS", (pattern(FAST),))
    monkeypatch.setattr(command, "_count_instructions", interrupted)
    plan = command.make_plan(["core"], 1, True, 1.0)
    with pytest.raises(KeyboardInterrupt):
        command.run(Console(file=io.StringIO()), plan, tmp_path / "p.json", tmp_path / "p.png", True)
    assert (tmp_path / "p.json").exists()


def test_core_patterns_are_listed_and_not_mixed_with_openmp_ones():
    listed = CliRunner().invoke(app, [])
    assert all(name in listed.output for name in (*command.NAMES, command.GROUP))
    mixed = CliRunner().invoke(app, ["nested", "techniques"])
    assert mixed.exit_code == 2
    assert "techniques" in mixed.output


# The others were measured, and the exit status was 0.
def test_a_pattern_that_is_left_out_is_told_at_the_end(programs: Path, tmp_path: Path):
    def run(*patterns: catalog.Pattern) -> tuple[int, str]:
        console = Console(file=io.StringIO(), width=150)
        plan = campaign.Plan([(chosen, CASES) for chosen in patterns], 1)
        status = command.run(console, plan, tmp_path / "a.json", tmp_path / "a.png", False)
        return status, console.file.getvalue()  # type: ignore[attr-defined]

    absent = catalog.Pattern("q", "title", "q", (catalog.Section("", CASES),), (ABSENT,))
    assert run(pattern(FAST))[0] == 0
    status, said = run(pattern(FAST), absent)
    assert status == 1
    assert "not measured: q: no program of it is built" in said
