"""Debugging real Ruby programs through the engine and rdbg."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.debug.adapters import RUBY
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("ruby")]

LANGUAGE = Language("ruby", RUBY, "ruby/main.rb", computes=2, calls=10, prints=11, ends_of_twice=(4,))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestRuby(Behaviours):
    """What every language does."""
