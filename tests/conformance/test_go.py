"""Debugging real Go programs through the engine and Delve."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.debug.adapters import GO
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("go")]

LANGUAGE = Language("go", GO, "go/main.go", computes=10, calls=21, prints=22)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestGo(Behaviours):
    """What every language does."""
