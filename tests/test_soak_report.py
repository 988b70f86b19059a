"""The report of a soak: one row for each part, the last result of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import soak
from tests.sizes import SOAK, VARIABLE, sized


def test_what_was_not_run_this_time_keeps_its_last_result() -> None:
    first, second, third = soak.PARTS[:3]
    before = soak.report([soak.Outcome(first.name, 5, 5, 1.0, run="then"), soak.Outcome(second.name, 1, 2, 1.0)], "")
    failed = soak.Outcome(second.name, 7, 9, 2.0, "AssertionError: a\n| b", "now")
    after = soak.report([failed, soak.Outcome(third.name, 3, 3, 1.0, run="now")], before)
    rows = [line for line in after.splitlines() if line.startswith("| ")][2:]
    assert rows == [
        f"| {first.name} | 5 | 5 | 1 | then | passed |",
        f"| {second.name} | 7 | 9 | 2 | now | FAILED: AssertionError: a \\| b |",
        f"| {third.name} | 3 | 3 | 1 | now | passed |",
    ]
    assert soak.report([], after) == after


def test_the_soak_has_its_five_hundred_kills_of_daemon_wrapper_and_shell() -> None:
    goals = {part.steps: part.goal for part in soak.PARTS}
    assert goals[soak.record_kills] + goals[soak.shell_kills] >= 500


def test_a_test_that_a_soak_runs_in_full_is_run_by_its_name_with_the_larger_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "test_sized.py"
    file.write_text(
        "import os\n\ndef test_it():\n    assert os.environ['TEST_SIZE'] == 'soak'\n\ndef test_no(): assert 0\n"
    )
    monkeypatch.setattr(soak, "ROOT", tmp_path)
    assert list(soak.full_test(f"{file}::test_it", counts=3)(5, 0)) == [3, 3]
    with pytest.raises(AssertionError, match="test_no"):
        next(soak.full_test(f"{file}::test_no")(1, 0))


def test_the_tests_that_a_soak_runs_in_full_are_there() -> None:
    for name in (soak._FORKS, soak._RACES, soak._EIGHT, soak._CROSSED, soak._BOMB):
        file, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}" in (soak.ROOT / file).read_text()


def test_a_size_is_the_larger_one_in_a_soak_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert sized(brief=5, soak=8) == 5
    monkeypatch.setenv(VARIABLE, SOAK)
    assert sized(brief=5, soak=8) == 8
