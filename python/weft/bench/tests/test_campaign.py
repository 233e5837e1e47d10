from weft.bench.campaign import FAILURES_ENOUGH, Plan, _judge, steps_of_round
from weft.bench.catalog import Benchmark, Case
from weft.bench.results import Measurement, Outcome, Results
from weft.bench.runtimes import Runtime, Setting

ONE = Runtime("one", "", None)
TWO = Runtime("two", "", None, settings=(Setting("passive", {}), Setting("active", {})))
BENCHMARK = Benchmark("b", "title", "program", (Case("x", "x"), Case("y", "y")))
PLAN = Plan([(BENCHMARK, BENCHMARK.cases)], [ONE, TWO], rounds=5)


def ok(config: str, runtime: str, setting: str, us: float) -> Measurement:
    return Measurement("b", config, Outcome.OK, [us], runtime=runtime, setting=setting)


def test_the_first_round_tries_every_setting():
    steps = list(steps_of_round(PLAN, Results(), 0))
    assert [(s.runtime.name, s.setting.name) for s in steps] == [
        ("one", "default"),
        ("two", "passive"),
        ("two", "active"),
    ]


def test_later_rounds_use_the_better_setting_of_each_case_and_rotate():
    results = Results()
    for config, passive, active in (("x", 1, 2), ("y", 2, 1)):
        results.add([ok(config, "two", "passive", passive), ok(config, "two", "active", active)])
        results.add([ok(config, "one", "default", 1)])
    steps = list(steps_of_round(PLAN, results, 1))
    assert [(s.runtime.name, s.setting.name, s.configs) for s in steps] == [
        ("two", "passive", ("x",)),
        ("two", "active", ("y",)),
        ("one", "default", ("x", "y")),
    ]


def test_a_case_that_keeps_failing_is_left_alone():
    results = Results()
    failed = Measurement("b", "x", Outcome.HANG, runtime="one", setting="default")
    results.add([failed] * FAILURES_ENOUGH)
    steps = [s for s in steps_of_round(PLAN, results, 2) if s.runtime is ONE]
    assert [s.configs for s in steps] == [("y",)]


def judged(loaded: str, reference: float, references: dict) -> Measurement:
    step = next(steps_of_round(PLAN, Results(), 0))
    measurement = Measurement("b", "x", Outcome.OK, [1.0], checks={"ok": True, "reference": reference}, loaded=loaded)
    _judge(measurement, step, references)
    return measurement


def test_a_result_that_differs_between_runtimes_is_wrong():
    references: dict = {}
    assert judged("/lib/libgomp.so.1", 1.0, references).outcome is Outcome.OK
    assert judged("/lib/libgomp.so.1", 1.0 + 1e-9, references).outcome is Outcome.OK
    assert judged("/lib/libgomp.so.1", 1.1, references).outcome is Outcome.WRONG


def test_a_program_that_ran_on_another_runtime_is_wrong():
    assert judged("/lib/libother.so", 1.0, {}).outcome is Outcome.WRONG
