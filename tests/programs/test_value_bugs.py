"""The bugs of `bench/value` whose test runners take seconds to start: each test fails, and passes with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.value.bugs import load_all
from tests.bench.fixed_bugs import failures


@pytest.mark.parametrize("language", ["javascript", "go"])
@pytest.mark.timeout(180)
def test_each_bug_makes_its_test_fail_and_its_fix_makes_it_pass(language: str, tmp_path: Path) -> None:
    bugs = [it for it in load_all() if it.language == language]
    assert failures(bugs, tmp_path) == {it.name: (True, False) for it in bugs}
