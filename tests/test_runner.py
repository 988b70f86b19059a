"""The runner over small tests of its own: parts beside each other, a second attempt, the status it ends with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol

import pytest

from tests import durations, runner
from tests.run_report import RunReport
from tests.runner import Part, PartResult

STEADY = "def test_steady(): pass\n"
BROKEN = "def test_broken(): assert False\n"
# As a race that was lost once: the second attempt finds what the first left.
UNSTEADY = """
from pathlib import Path

def test_unsteady():
    mark = Path(__file__).with_suffix(".mark")
    first = not mark.exists()
    mark.touch()
    assert not first
"""
PATIENCE_IS = "import os\n\ndef test_patience(): assert os.environ['TEST_PATIENCE'] == '{}'\n"


class Make(Protocol):
    def __call__(self, name: str, text: str, *, patience: int = 2) -> Part: ...


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A part with one file, and the reports of this run apart from those of the run that we are in."""
    monkeypatch.setattr(runner, "FOLDER", tmp_path / "runs")
    monkeypatch.setattr(runner, "read_list", list)
    monkeypatch.setattr(runner, "on_ci", bool)
    monkeypatch.setattr(runner, "unrecorded", lambda *_, **__: [])
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider -p tests.conftest\n")
    monkeypatch.chdir(tmp_path)
    paths = [str(durations.ROOT), str(durations.ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))

    def part(name: str, text: str, *, patience: int = 2) -> Part:
        file = Path(f"test_{name}.py")
        file.write_text(text)
        return Part(name, (str(file),), patience)

    return part


def run(monkeypatch: pytest.MonkeyPatch, *stages: list[Part], strict: bool = False) -> bool:
    monkeypatch.setattr(runner, "stages", lambda _: list(stages))
    return runner.run([], strict=strict).passed


def test_parts_beside_each_other_are_shown_one_after_another_and_their_times_at_the_end(
    make: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, [make("front", STEADY), make("back", STEADY)])
    output = capfd.readouterr().out
    assert re.search(r"==== front ====.*1 passed.*==== back ====.*1 passed.*==== summary ====", output, re.DOTALL)
    assert re.search(r"front: 0:\d\d, 1 files\nback: 0:\d\d, 1 files\nall: 0:\d\d\npassed\n$", output)


def test_what_failed_in_a_part_in_the_background_fails_the_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(monkeypatch, [make("front", STEADY), make("back", BROKEN)])


@pytest.mark.parametrize("strict", [False, True])
def test_what_passes_alone_is_named_last_of_all(
    make: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], strict: bool
) -> None:
    assert run(monkeypatch, [make("one", UNSTEADY)], [make("two", STEADY)], strict=strict) is not strict
    output = capfd.readouterr().out
    assert "1 NEW unsteady tests" in output[output.index("==== summary") :]
    assert "[[test]]\nname = '" in output
    assert output.rstrip().splitlines()[-1].startswith("FAILED: 1 passed only" if strict else "passed, with 1 at")


def test_a_part_that_ends_before_it_is_done_fails_the_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(monkeypatch, [make("ends", "import os\n\ndef test_ends(): os._exit(0)\n")])


def test_a_part_that_leaves_tests_out_fails_the_run_whatever_its_status(
    make: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    leaves = "import pytest\n\ndef test_one(): pytest.exit('enough', 0)\n\ndef test_two(): pass\n"
    assert not run(monkeypatch, [make("leaves", leaves)])
    assert "leaves: only 0 of 2 tests ran" in capfd.readouterr().out


def test_a_part_without_tests_fails_the_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(monkeypatch, [make("empty", "")])


def test_every_test_file_is_in_exactly_one_part() -> None:
    files = [str(path.relative_to(durations.ROOT)) for path in (durations.ROOT / "tests").rglob("test_*.py")]
    places = [*runner.UNIT, *runner.WHOLE, *runner.EDITOR, *runner.APART]
    counts = {file: sum(file == place or file.startswith(f"{place}/") for place in places) for file in files}
    assert {file for file, count in counts.items() if count != 1} == set()


def test_a_failure_beside_tests_that_ci_lacks_does_not_hide_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "on_ci", lambda: True)
    report = RunReport(failed={"a": False}, skipped=["b"])
    sentence = "whole: 1 tests did not run, and CI and STRICT=1 need them all"
    assert list(PartResult("whole", 1, 1.0, report).faults()) == [sentence]


def test_a_strict_run_passes_only_if_every_test_ran(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    skips = "import pytest\n\n@pytest.mark.skip(reason='no peer')\ndef test_it(): pass\n"
    monkeypatch.delenv("CI", raising=False)  # there, every test must run, strict or not
    assert run(monkeypatch, [make("skips", skips)])
    assert not run(monkeypatch, [make("skips", skips)], strict=True)


def test_each_part_has_the_machine_alone_and_comes_in_its_order() -> None:
    assert [[part.name for part in stage] for stage in runner.stages(["editor", "whole", "unit"])] == [
        ["unit"],
        ["whole"],
        ["editor"],
    ]


def test_a_slow_file_of_the_fast_folders_is_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "tests/journal/test_kill.py"
    monkeypatch.setattr(runner, "recorded", lambda: {slow: durations.SLOW_S, "tests/journal/test_tail.py": 1})
    monkeypatch.setattr(durations, "unrecorded", lambda *_: [])
    assert f"--ignore={slow}" in runner.unit().arguments
    assert slow in runner.whole(4).arguments
    monkeypatch.setattr(runner, "recorded", lambda: {slow: durations.SLOW_S - 1})
    assert (slow in runner.whole(4).arguments, f"--ignore={slow}" in runner.unit().arguments) == (False, False)


def test_only_tests_that_share_the_machine_with_daemons_have_longer_deadlines(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (runner.unit().patience, runner.whole(3).patience, runner.editor().patience) == (1, 3, 2)
    monkeypatch.delenv("TEST_PATIENCE", raising=False)
    assert run(monkeypatch, [make("quiet", PATIENCE_IS.format(1), patience=1), make("busy", PATIENCE_IS.format(2))])


def test_a_recording_keeps_what_was_not_measured_and_drops_what_is_gone() -> None:
    before = {"tests/test_stalls.py": 3, "tests/gone.py": 7, "tests/test_runner.py": 1}
    after = durations.merged(before, {"tests/test_runner.py": 4.4})
    assert after == {"tests/test_runner.py": 4, "tests/test_stalls.py": 3}


def test_a_file_without_a_record_is_estimated_from_its_nearest_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durations, "ROOT", tmp_path)
    counts = {"e2e/test_slow.py": 2, "e2e/life/test_new.py": 3, "core/test_fast.py": 4, "core/test_new.py": 2}
    for file, count in counts.items():
        (tmp_path / "tests" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / file).write_text("async def test_it(): ...\n" * count)
    recorded = {"tests/e2e/test_slow.py": 20, "tests/core/test_fast.py": 4}
    estimates = {"tests/e2e/life/test_new.py": 30, "tests/core/test_new.py": 2}
    assert durations.with_estimates(recorded) == {**recorded, **estimates}
    assert durations.with_estimates({})["tests/core/test_new.py"] == durations.UNKNOWN_S
    assert durations.unrecorded(recorded, without=["tests/e2e"]) == ["tests/core/test_new.py"]


def test_an_estimated_slow_file_leaves_the_fast_part(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "tests/journal/test_kill.py"
    monkeypatch.setattr(runner, "recorded", dict)
    monkeypatch.setattr(runner, "with_estimates", lambda _: {slow: durations.SLOW_S})
    assert f"--ignore={slow}" in runner.unit().arguments
    assert slow in runner.whole(2).arguments


def test_nearly_every_file_has_a_record() -> None:
    missing = durations.unrecorded(durations.recorded(), without=runner.APART)
    assert len(missing) <= durations.MOST_UNRECORDED, f"run `make test` and `make durations`: {missing}"


def test_the_record_is_sorted_and_in_whole_seconds() -> None:
    recorded = durations.recorded()
    assert list(recorded) == sorted(recorded)
    assert {type(seconds) for seconds in recorded.values()} == {int}
