from dataclasses import replace

from weft.bench.aims import at_most, verdicts
from weft.bench.pace import Paces
from weft.bench.report import cell_text
from weft.bench.results import Measurement, Results

from . import test_results


def measurement(us: float | None, *looks: float) -> Measurement:
    return replace(test_results.measurement(us), line_ns=list(looks))


def results_of(*measurements: Measurement) -> Results:
    results = Results()
    results.add(list(measurements))
    return results


def test_one_pace_leaves_everything_as_it_is():
    results = results_of(measurement(1, 100, 110), measurement(2, 140, 100), measurement(3, 120, 120))
    paces = results.settle_paces()
    assert results.of("b", "c", "r").medians == [1, 2, 3]
    assert paces.text() == ""


def test_of_two_paces_the_more_frequent_one_counts():
    slow = [measurement(5, 400, 500), measurement(6, 450, 450)]
    results = results_of(measurement(1, 100, 100), *slow)
    paces = results.settle_paces()
    assert results.of("b", "c", "r").medians == [5, 6]
    assert "2 of 3" in paces.text() and "100 to 500 ns" in paces.text() and "slow" in paces.text()


def test_who_saw_the_pace_change_does_not_count():
    results = results_of(measurement(1, 100, 100), measurement(2, 100, 100), measurement(9, 100, 500))
    results.settle_paces()
    assert results.of("b", "c", "r").medians == [1, 2]


def test_where_there_is_nothing_at_that_pace_the_rest_is_shown():
    results = results_of(measurement(5, 500, 500))
    results.measurements += [measurement(us, 100, 100) for us in (1, 2)]
    results.measurements[0].config = "other"
    results.settle_paces()
    cell = results.of("b", "other", "r")
    assert cell.medians == [5]
    assert cell_text(cell) == "~5.00"
    assert not results.of("b", "c", "r").at_other_pace


def test_no_aim_is_judged_by_cells_of_two_paces():
    results = results_of(measurement(5, 500, 500), *[measurement(us, 100, 100) for us in (1, 2)])
    results.measurements[0].config = "other"
    results.settle_paces()
    own, other = results.of("b", "c", "r"), results.of("b", "other", "r")
    aim = at_most(3)
    assert verdicts(aim, {"weft": own}, lambda _: {}) == {"weft": True}
    assert verdicts(aim, {"weft": own, "libgomp": other}, lambda _: {}) == {"weft": None}


def test_failures_count_at_any_pace():
    results = results_of(measurement(None, 500, 500), measurement(1, 100, 100), measurement(2, 100, 100))
    results.settle_paces()
    assert len(results.of("b", "c", "r").failures) == 1


def test_a_pace_that_cannot_be_told_is_no_pace():
    results = results_of(measurement(1, 0, 0), measurement(2, 0, 0))
    assert "could not be told" in results.settle_paces().text()
    assert results.of("b", "c", "r").medians == [1, 2]
    assert Paces([]).text() == ""
