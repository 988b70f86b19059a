"""A second attempt hides nothing: it is named, counted and, beyond a few, a failure."""

from __future__ import annotations

import ast
import tomllib
from datetime import date
from pathlib import Path

import pytest

from tests.durations import ROOT
from tests.run_report import RunRecorder
from tests.stalls import Stall
from tests.verdict import MOST_RETRIED, TOLERATED, UnsteadyTest, judge, read_list, worth_retrying

DAY = date(2026, 11, 17)
NAMES = [f"tests/a.py::test_{letter}" for letter in "abcd"]
LISTED = [UnsteadyTest(name, DAY, "a race") for name in NAMES]


def failed(*names: str, stalled: bool = False) -> dict[str, bool]:
    return dict.fromkeys(names, stalled)


def test_three_known_unsteady_tests_are_tolerated_and_a_fourth_is_not() -> None:
    assert judge(failed(*NAMES[:TOLERATED]), set(), LISTED).passed
    assert not judge(failed(*NAMES[: TOLERATED + 1]), set(), LISTED).passed


@pytest.mark.parametrize(("known", "new", "passed"), [(0, 3, True), (2, 1, True), (3, 1, False), (0, 4, False)])
def test_one_that_is_not_in_the_list_is_reported_as_new_and_counts_too(known: int, new: int, passed: bool) -> None:
    verdict = judge(failed(*NAMES[: known + new]), set(), LISTED[:known])
    assert (len(verdict.known), len(verdict.new), verdict.passed) == (known, new, passed)


def test_what_fails_alone_too_fails_the_run_though_it_is_in_the_list() -> None:
    verdict = judge(failed(NAMES[0]), {NAMES[0]}, LISTED)
    assert (verdict.broken, verdict.known, verdict.passed) == ([NAMES[0]], [], False)


def test_what_failed_while_the_machine_stalled_is_named_apart_and_does_not_count() -> None:
    verdict = judge(failed(*NAMES, stalled=True), set(), [])
    assert (verdict.stalled, verdict.new, verdict.passed) == (NAMES, [], True)
    assert not judge(failed(*NAMES, stalled=True), {NAMES[0]}, []).passed


@pytest.mark.parametrize("stalled", [False, True])
def test_a_strict_run_tolerates_no_second_attempt(stalled: bool) -> None:
    assert not judge(failed(NAMES[0], stalled=stalled), set(), LISTED, strict=True).passed
    assert judge({}, set(), LISTED, strict=True).passed


def test_a_run_with_a_fault_of_its_own_does_not_pass() -> None:
    assert not judge({}, set(), [], faults=["unit: pytest ended with status 3"]).passed


def test_the_summary_names_each_unsteady_test_and_what_to_add_to_the_list() -> None:
    new = "tests/a.py::test_it[kill -STOP $$ 'now']"
    lines = "\n".join(judge(failed(NAMES[0], new), set(), LISTED).lines(DAY))
    [entry] = tomllib.loads(lines[lines.index("[[test]]") :].partition("\n\n")[0])["test"]
    assert (entry["name"], entry["since"]) == (new, DAY)
    assert f"  {NAMES[0]}\n" in lines
    assert lines.endswith("\npassed, with 2 at the second attempt")


def test_an_entry_covers_its_test_with_all_parameters_or_with_one() -> None:
    assert UnsteadyTest("a.py::test_it", DAY, "why").covers("a.py::test_it[x[1]]")
    assert UnsteadyTest("a.py::test_it[one]", DAY, "why").covers("a.py::test_it[one]")
    assert not UnsteadyTest("a.py::test_it[one]", DAY, "why").covers("a.py::test_it[two]")
    assert not UnsteadyTest("a.py::test_it", DAY, "why").covers("a.py::test_it_again")


@pytest.mark.parametrize("lacking", ["since", "cause", "name"])
def test_an_entry_without_its_day_or_cause_is_refused(tmp_path: Path, lacking: str) -> None:
    fields = {"name": "name = 'a.py::test_it'", "since": "since = 2026-11-17", "cause": "cause = 'a race'"}
    (tmp_path / "list.toml").write_text("[[test]]\n" + "\n".join(fields.values()))
    assert len(read_list(tmp_path / "list.toml")) == 1
    fields[lacking] = f"{lacking} = ''"
    (tmp_path / "list.toml").write_text("[[test]]\n" + "\n".join(fields.values()))
    with pytest.raises(ValueError, match="needs a name, a day and a cause"):
        read_list(tmp_path / "list.toml")


def test_each_entry_of_the_list_names_a_test_that_there_is() -> None:
    for entry in read_list():
        file, _, name = entry.name.partition("[")[0].partition("::")
        functions = {
            it.name for it in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(it, ast.FunctionDef)
        }
        assert name.rpartition("::")[2] in functions, entry


def test_many_failures_are_not_run_again() -> None:
    many = [f"tests/a.py::test_{number}" for number in range(MOST_RETRIED + 1)]
    assert not worth_retrying(failed(*many))
    assert worth_retrying(failed(*many[1:]))
    assert worth_retrying(failed(*many, stalled=True))
    assert not worth_retrying({})


class Reported:
    def __init__(self, nodeid: str, start: float, stop: float) -> None:
        self.nodeid, self.start, self.stop = nodeid, start, stop


def test_a_failure_outside_every_pause_is_not_excused_by_a_second_one_within() -> None:
    recorder = RunRecorder()
    recorder.watch.stalls = [Stall(100, 110)]
    report = recorder.report(
        [Reported("a", 10, 20), Reported("b", 105, 120), Reported("a", 105, 120), object_without_times("c")], []
    )
    assert report.failed == {"a": False, "b": True, "c": False}


def object_without_times(nodeid: str) -> object:
    """As a file that could not be collected is reported."""
    reported = Reported(nodeid, 0, 0)
    del reported.start, reported.stop
    return reported
