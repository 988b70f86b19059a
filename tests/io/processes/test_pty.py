"""A terminal that we hold: its size from the first moment, what is typed, what is shown, and its end."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman.io.processes import pty as held
from dragoman.io.processes.pty import Pty, open_pty
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.daemons import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture
async def supervisors() -> AsyncIterator[SupervisorPool]:
    async with SupervisorPool() as supervisors:
        yield supervisors


async def shown_until(pty: Pty, text: bytes) -> bytes:
    seen = b""
    with anyio.fail_after(10 * PATIENCE):
        async for data in pty.shown():
            seen += data
            if text in seen:
                break
    return seen


async def test_a_program_has_the_size_asked_for_and_reads_what_is_typed(supervisors: SupervisorPool) -> None:
    argv = ["sh", "-c", "stty size; read line; echo got $line; exit 3"]
    async with open_pty(supervisors, argv, dict(os.environ), Path("/"), rows=40, columns=120) as pty:
        assert b"40 120" in await shown_until(pty, b"40 120")
        assert await pty.type(b"words\r")
        await shown_until(pty, b"got words")
        assert (await pty.wait()).code == 3
        assert [data async for data in pty.shown() if b"never" in data] == []


async def test_control_c_reaches_what_runs_in_front(supervisors: SupervisorPool) -> None:
    argv = ["bash", "--norc", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done"]
    async with open_pty(supervisors, argv, dict(os.environ), Path("/"), rows=24, columns=80) as pty:
        await shown_until(pty, b"ready")
        await pty.type(b"\x03")
        assert (await pty.wait()).code == 7


async def test_nothing_of_it_is_left_after_the_block(supervisors: SupervisorPool) -> None:
    leaves_a_child = "import os, sys, time\nif os.fork(): print(os.getpid(), flush=True)\ntime.sleep(600)"
    async with open_pty(
        supervisors, [sys.executable, "-c", leaves_a_child], dict(os.environ), Path("/"), rows=24, columns=80
    ) as pty:
        await shown_until(pty, b"\n")
        family = [pty.pid, *(child.pid for child in psutil.Process(pty.pid).children())]
        assert len(family) == 2
    assert not any(psutil.pid_exists(pid) for pid in family)


async def test_a_program_that_never_reads_holds_nobody_up(
    supervisors: SupervisorPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "TYPED_WITHIN_S", 0.2)
    deaf = ["sh", "-c", "stty raw -echo; echo deaf; exec sleep 600"]
    async with open_pty(supervisors, deaf, dict(os.environ), Path("/"), rows=24, columns=80) as pty:
        await shown_until(pty, b"deaf")
        assert not await pty.type(b"x" * 1_000_000)
