"""A step with its snapshot, and the first stop, against debugpy as shipped, in one run.

The baseline is the same requests to the same adapter without the cure for small-packet delay: what a plain DAP client
pays. Ours goes through the service, as a tool does.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from bench.claims import Claim
from dragoman.clock import SystemClock
from dragoman.debug.model import Stop
from dragoman.debug.service import Client, DebugService, Wish
from dragoman.debug.starting import AdapterStarter
from dragoman.journal import Journal
from dragoman.transport.nodelay import NoDelay
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointBook

_PROGRAM = "total = 0\nfor n in range(1000):\n    total += n\n    total -= 1\n    total += 2\nprint(total)\n"
_RUNS = 3
_STEPS = 15


def run() -> list[Claim]:
    ours, stock = anyio.run(_measured)
    return [
        Claim("step with snapshot, to stock debugpy", ours[1] / stock[1], "x", 0.08, "lower"),
        Claim("first stop, to stock debugpy", ours[0] / stock[0], "x", 0.80, "lower"),
        Claim("step with snapshot", ours[1] * 1000, "ms", 15, "lower"),
    ]


async def _measured() -> tuple[tuple[float, float], tuple[float, float]]:
    """Taken in turn, so that a busy moment of the machine meets both."""
    ours, stock = [], []
    for _ in range(_RUNS):
        ours.append(await _session())
        with _uncured():
            stock.append(await _session())
    return _medians(ours), _medians(stock)


def _medians(runs: list[tuple[float, float]]) -> tuple[float, float]:
    firsts, steps = zip(*runs, strict=True)
    return statistics.median(firsts), statistics.median(steps)


class _uncured:  # noqa: N801  used as a statement
    def __enter__(self) -> None:
        self._real = NoDelay.cure
        NoDelay.cure = lambda *_: 0  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        NoDelay.cure = self._real  # type: ignore[method-assign]


async def _session() -> tuple[float, float]:
    """Seconds to the first stop, and the median of the steps after it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        (workspace / "main.py").write_text(_PROGRAM)
        path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
        client = Client("bench", workspace, workspace, {"PATH": path}, trusts_workspace=True)
        async with _service(workspace) as service:
            await service.set_breakpoint(client, Breakpoint(id=0, path=str(workspace / "main.py"), line=3))
            begun = time.perf_counter()
            started = await service.start(client, Wish(program="main.py"), within_s=60)
            first = time.perf_counter() - begun
            assert isinstance(started.outcome, Stop)
            steps = [await _step(service, client) for _ in range(_STEPS)]
    return first, statistics.median(steps)


async def _step(service: DebugService, client: Client) -> float:
    begun = time.perf_counter()
    await service.step(client, "", "over", thread_id=None, within_s=60)
    return time.perf_counter() - begun


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[DebugService]:
    async with (
        Journal.open(folder / "journal", stores=[STORE]) as journal,
        Supervisors() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointBook(journal, SystemClock())
        yield DebugService(group, book, AdapterStarter(supervisors, group), journal, SystemClock())
        group.cancel_scope.cancel()
