"""What it costs that every stop is kept, and what a test costs under the debugger."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from bench.agent import PROGRAMS, agent_in, home_with_daemon
from bench.claims import Claim
from dragoman.core.clock import SystemClock
from dragoman.core.redaction import Redactor
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.debug.stops.history import store
from dragoman.debug.stops.history.stop_history import StopHistory, compare_stops
from dragoman.debug.stops.history.store import (
    FrameRecord,
    RecordStop,
    StopContents,
    StopRecord,
    VariableRecord,
    record_nothing,
    stop_recorder,
)
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller

_STOPS = 10_000
_VARIABLES = 50
_BATCH = 100
_ASKED = 50
_STEPS = 150
_ROUNDS = 3
_TEST = "def test_sum():\n    basket = {'n': 2}\n    assert 1 - basket['n'] == 3\n"


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        size_mb, at_ms, diff_ms = anyio.run(_kept, Path(folder) / "kept")
        ratio = anyio.run(_step_ratio, Path(folder) / "steps")
    return [
        Claim("10,000 stops of 50 variables on disk", size_mb, "MB", 50, "lower"),
        Claim("`at`: one of them read", at_ms, "ms", 20, "lower"),
        Claim("`diff`: two of them compared", diff_ms, "ms", 20, "lower"),
        Claim("a step that is kept, of one that is not", ratio, "x", 1.1, "lower"),
        Claim("debug_test on a failing pytest test less 1 s, of plain pytest", _test_ratio(), "x", 2.0, "lower"),
    ]


# Kept stops.


async def _kept(folder: Path) -> tuple[float, float, float]:
    chance = random.Random(1)
    async with Journal.open(folder, stores=[store.STORE]) as journal:
        for first in range(0, _STOPS, _BATCH):
            stops = [_stop(number, chance) for number in range(first + 1, first + _BATCH + 1)]
            await journal.append([], writes=[it for stop in stops for it in store.STORE.add(stop)])
        history = StopHistory(journal, SystemClock())

        async def at() -> None:
            await history.at("/w", f"s:{chance.randint(1, _STOPS)}")

        async def diff() -> None:
            one, other = [await history.at("/w", f"s:{chance.randint(1, _STOPS)}") for _ in range(2)]
            assert compare_stops(one, other)

        at_ms, diff_ms = await _median_ms(at), await _median_ms(diff)
    return _size_mb(folder), at_ms, diff_ms


def _size_mb(folder: Path) -> float:
    return sum(it.stat().st_size for it in folder.rglob("*") if it.is_file()) / 1e6


def _stop(number: int, chance: random.Random) -> StopRecord:
    """Numbers, texts and containers, as programs have them; most are other ones than at the stop before."""
    values = [_value(kind, chance) for kind in range(_VARIABLES)]
    variables = tuple(VariableRecord(f"variable_{at}", value, type) for at, (value, type) in enumerate(values))
    frames = tuple(FrameRecord(f"function_{at}", f"/w/package/module_{at}.py", 10 + at) for at in range(8))
    seen = StopContents(frames, variables, tuple(it.name for it in variables[:10]))
    return StopRecord(
        session="s", number=number, at_ns=number, title="app.py", workspace="/w", reason="step", seen=seen
    )


def _value(kind: int, chance: random.Random) -> tuple[str, str]:
    ways: list[tuple[Callable[[], object], str]] = [
        (lambda: chance.randint(0, 10**6), "int"),
        (chance.random, "float"),
        (lambda: f"order {chance.randint(0, 9999)} of customer {chance.randint(0, 99)}", "str"),
        (lambda: {"id": chance.randint(0, 10**6), "kind": "book", "price": round(chance.random() * 100, 2)}, "dict"),
        (lambda: [chance.randint(0, 1000) for _ in range(12)], "list"),
    ]
    make, type = ways[kind % len(ways)]
    return repr(make()), type


async def _median_ms(ask: Callable[[], Awaitable[None]]) -> float:
    took = []
    for _ in range(_ASKED):
        begun = time.perf_counter()
        await ask()
        took.append(time.perf_counter() - begun)
    return statistics.median(took) * 1000


# Steps, with and without.


async def _step_ratio(folder: Path) -> float:
    ways = (stop_recorder(Redactor().value), record_nothing)
    took: dict[RecordStop, list[float]] = {way: [] for way in ways}
    for number in range(_ROUNDS):
        for way in ways:
            took[way].append(await _steps_s(folder / f"{number}{ways.index(way)}", way))
    return min(took[ways[0]]) / min(took[ways[1]])


async def _steps_s(folder: Path, way: RecordStop) -> float:
    client = Caller("bench", PROGRAMS, PROGRAMS, environment=dict(os.environ), trusts_workspace=True)
    async with _service(folder, way) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(PROGRAMS / "squares.py"), line=7))
        started = await service.start(client, LaunchRequest(program="squares.py"), within_s=60)
        begun = time.perf_counter()
        for _ in range(_STEPS):
            await service.step(client, started.session.id, "over", thread_id=None, within_s=10)
        took = time.perf_counter() - begun
        await service.stop(client, started.session.id)
    return took


@asynccontextmanager
async def _service(folder: Path, way: RecordStop) -> AsyncIterator[DebugService]:
    clock = SystemClock()
    async with (
        Journal.open(folder, stores=[STORE, store.STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        yield DebugService(group, book, AdapterStarter(supervisors, group), journal, clock, record_stop=way)
        group.cancel_scope.cancel("measured")


# A test under the debugger.


def _test_ratio() -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sum.py"]
    plain, debugged = [], []
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        (Path(folder) / "test_sum.py").write_text(_TEST)
        with agent_in(environment, Path(folder)) as agent:
            for _ in range(_ROUNDS + 1):  # the first is what warms up
                begun = time.perf_counter()
                subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
                plain.append(time.perf_counter() - begun)
                answer = agent.call("debug_test", command=" ".join(command))
                assert answer["failures"][0]["frames"][0]["locals"]["basket"] == "{'n': 2}", answer
                debugged.append(agent.took_s)
    return (statistics.median(debugged[1:]) - 1) / statistics.median(plain[1:])
