"""Debugging real Ruby programs through the engine and rdbg."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.debug.adapters import RUBY
from tests.conformance.scenario import PROGRAMS, Language, Stage, walk
from tests.conformance.test_python import service_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("ruby")]

LANGUAGE = Language("ruby", RUBY, "ruby/main.rb", computes=2, calls=10, prints=11, ends_of_twice=(4,))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


async def test_a_program_is_stopped_stepped_looked_into_and_run_to_its_end(stage: Stage) -> None:
    async with service_in(stage.workspace, RUBY) as service:
        await walk(service, stage)
