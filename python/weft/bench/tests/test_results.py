import pytest

from weft.bench.results import Measurement, Outcome, Results


def measurement(us: float | None, setting: str = "default", round_number: int = 0) -> Measurement:
    return Measurement(
        "b",
        "c",
        Outcome.CRASH if us is None else Outcome.OK,
        samples=[] if us is None else [us],
        runtime="r",
        setting=setting,
        round=round_number,
    )


def test_a_cell_is_the_median_of_the_rounds():
    results = Results()
    results.add([measurement(us) for us in (1, 2, 3, 4, 100)])
    cell = results.of("b", "c", "r")
    assert cell.median == 3
    assert cell.spread == pytest.approx((4 - 2) / 2 / 3)


def test_failures_stand_beside_the_median():
    results = Results()
    results.add([measurement(5), measurement(None)])
    cell = results.of("b", "c", "r")
    assert cell.median == 5
    assert [m.outcome for m in cell.failures] == [Outcome.CRASH]


def test_the_better_setting_counts_and_a_failed_one_loses():
    results = Results()
    results.add([measurement(9, "passive"), measurement(None, "active")])
    assert results.choose_setting("b", "c", "r", ["active", "passive"]) == "passive"
    assert results.of("b", "c", "r").median == 9


def test_a_setting_that_seems_to_cost_less_than_nothing_loses_to_a_clear_one():
    results = Results()
    results.add([measurement(-30, "bound"), measurement(9, "passive"), measurement(None, "active")])
    assert results.choose_setting("b", "c", "r", ["active", "bound", "passive"]) == "passive"
    assert results.choose_setting("b", "c", "r", ["active", "bound"]) == "bound"


def test_the_spread_of_a_cost_below_nothing_is_no_negative_number():
    results = Results()
    results.add([measurement(us) for us in (-10, -30)])
    assert results.of("b", "c", "r").is_unclear
    assert results.of("b", "c", "r").spread == pytest.approx(5 / 20)
