"""One column of the table: every behaviour on one adapter. Imported by a test file a column, for `LANGUAGE` there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.conformance.table import breakpoints, call_traces, ends, kinds, looking, processes, running, starts, threads
from tests.conformance.table.languages import Language
from tests.conformance.table.rows import BEHAVIOURS
from tests.conformance.table.stage import CannotError, Stage, stage_in
from tests.peers import give_adapters

__all__ = ["MODULES", "adapters", "anyio_backend", "cells", "marks", "stage", "test_cell"]

MODULES = (breakpoints, kinds, running, looking, call_traces, threads, ends, starts, processes)
RESULTS = "CONFORMANCE_RESULTS"
"""The folder where a run leaves what it found, for `tests.conformance.report`."""


def marks(language: Language) -> list[pytest.MarkDecorator]:
    return [pytest.mark.anyio, pytest.mark.timeout(60), pytest.mark.needs(*language.needs)]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def adapters(home: Path) -> None:
    give_adapters(home)


@pytest.fixture(scope="module")
async def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    language: Language = request.module.LANGUAGE
    assert set(language.cannot) <= set(BEHAVIOURS)
    async with stage_in(tmp_path_factory.mktemp("walk"), language) as made:
        yield made


@pytest.fixture(scope="module")
def cells(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    found: dict[str, str] = {}
    yield found
    if folder := os.environ.get(RESULTS):
        language: Language = request.module.LANGUAGE
        column = {"language": language.name, "adapter": language.adapter, "cells": found}
        (Path(folder) / f"{request.module.__name__.rpartition('_')[2]}.json").write_text(json.dumps(column))


@pytest.mark.parametrize("title", BEHAVIOURS)
async def test_cell(stage: Stage, cells: dict[str, str], title: str) -> None:
    """Passes, or cannot as declared; what is declared and can after all is a fault of the table."""
    evidence = ""
    try:
        await BEHAVIOURS[title].prove(stage)
    except CannotError as cannot:
        evidence = " ".join(str(cannot).replace(f"{stage.workspace}/", "").split())
    declared = stage.language.cannot.get(title)
    if declared is None:
        assert not evidence, f"not declared: {evidence}"
    else:
        assert evidence, "declared as impossible, and it can"
        assert re.search(declared, evidence), evidence
    cells[title] = evidence or "pass"
