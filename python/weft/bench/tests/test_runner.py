"""The runner must turn every way a program can fail into a measurement of its own."""

import json
import os
import sys

import pytest

from weft.bench.results import Outcome
from weft.bench.runner import parse_line, run_cases

PROGRAM = """
import json, os, sys, time
for config in sys.argv[1:]:
    if config == "crash": os.abort()
    if config == "exit": sys.exit("went wrong")
    if config == "hang": time.sleep(60)
    print("a line that is no result")
    print(json.dumps({"name": "x", "config": config, "params": {}, "unit": "us", "samples": [1.0, 3.0],
                      "checks": {"ok": config != "wrong"}, "runtime": "/lib/x"}), flush=True)
    if config == "late": os.abort()
"""


def outcomes(*configs: str, timeout_s: float = 20) -> list[tuple[str, Outcome]]:
    command = [sys.executable, "-c", PROGRAM]
    return [(m.config, m.outcome) for m in run_cases("x", command, configs, os.environ, timeout_s)]


def test_cases_after_a_crash_still_run():
    assert outcomes("a", "crash", "b") == [("a", Outcome.OK), ("crash", Outcome.CRASH), ("b", Outcome.OK)]


def test_a_case_that_says_nothing_is_a_hang():
    assert outcomes("hang", "b", timeout_s=8) == [("hang", Outcome.HANG), ("b", Outcome.OK)]


def test_a_failed_check_is_wrong_and_has_no_median():
    (measurement,) = run_cases("x", [sys.executable, "-c", PROGRAM], ["wrong"], os.environ, 20)
    assert measurement.outcome is Outcome.WRONG
    assert measurement.median is None


def test_a_crash_after_the_last_case_is_not_lost():
    assert outcomes("late") == [("late", Outcome.CRASH)]


def test_the_detail_of_a_crash_names_status_and_last_words():
    (crash,) = run_cases("x", [sys.executable, "-c", PROGRAM], ["exit"], os.environ, 20)
    assert crash.detail == "exit status 1: went wrong"


@pytest.mark.parametrize("line", ["", "[]", "{}", json.dumps({"config": "a"}), "3"])
def test_other_output_is_no_measurement(line: str):
    assert parse_line("x", line) is None
