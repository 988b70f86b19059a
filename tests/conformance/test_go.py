"""Debugging real Go programs through the engine and Delve."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.debug.adapters import GO
from tests.conformance.scenario import PROGRAMS, Language, Stage, walk
from tests.conformance.test_python import service_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("go")]

LANGUAGE = Language("go", GO, "go/main.go", computes=10, calls=21, prints=22)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


async def test_a_program_is_stopped_stepped_looked_into_and_run_to_its_end(stage: Stage) -> None:
    async with service_in(stage.workspace, GO) as service:
        await walk(service, stage)
