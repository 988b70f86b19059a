"""A canvas on a journal of its own, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dragoman.canvas.service import STORES, CanvasService
from dragoman.core.clock import Clock
from dragoman.journal import Journal
from tests.support.clocks import VirtualClock


@asynccontextmanager
async def studio(folder: Path, clock: Clock | None = None) -> AsyncIterator[tuple[CanvasService, Journal]]:
    async with Journal.open(folder, stores=STORES) as journal:
        service = CanvasService(journal, clock or VirtualClock())
        await service.load()
        yield service, journal
