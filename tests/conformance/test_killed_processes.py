"""An adapter or a program that is killed or frozen, in each state: the truth in time, and nothing left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import PYTHON, AdapterSpec
from dragoman.debug.backends.adapters.javascript import JAVASCRIPT
from dragoman.debug.model import LaunchRequest, ProgramEnd
from dragoman.debug.service import DebugService
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import client_of, eventually, service_in, stop_of
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
def adapters(home: Path) -> None:
    give_adapters(home)


@dataclass(frozen=True)
class Language:
    spec: AdapterSpec
    file: str
    program: str
    adapters_word: str
    """In the command line of the adapter, and of no other process."""


PY = Language(PYTHON, "main.py", "import time\nwhile True:\n    time.sleep(0.01)\n", "debugpy_entry")
JS = Language(JAVASCRIPT, "main.js", "setInterval(() => {\n  let x = 1;\n}, 10);\n", "vsDebugServer")
LINE = {"main.py": 3, "main.js": 2}
LANGUAGES = pytest.mark.parametrize(
    "language",
    [pytest.param(PY, id="python"), pytest.param(JS, id="javascript", marks=pytest.mark.needs("javascript"))],
)
STATES = pytest.mark.parametrize("state", ["running", "stopped"])
VICTIMS = pytest.mark.parametrize("victim", ["adapter", "program"])


@dataclass(frozen=True)
class Scene:
    service: DebugService
    client: Caller
    started: DebugOutcome
    adapter: psutil.Process
    program: psutil.Process

    def victim(self, name: str) -> psutil.Process:
        return self.adapter if name == "adapter" else self.program


@asynccontextmanager
async def scene(workspace: Path, language: Language, state: str) -> AsyncIterator[Scene]:
    (workspace / language.file).write_text(language.program)
    client = client_of(workspace)
    before = set(psutil.Process().children(recursive=True))
    async with service_in(workspace, language.spec) as service:
        if state == "stopped":
            path = str(workspace / language.file)
            await service.set_breakpoint(client, Breakpoint(id=0, path=path, line=LINE[language.file]))
        started = await service.start(
            client, LaunchRequest(program=language.file), within_s=30 if state == "stopped" else 0
        )
        if state == "stopped":
            stop_of(started)
        await eventually(lambda: started.session.state.value.lower() == state)
        yield Scene(service, client, started, *processes(language))
    await eventually(lambda: not {it for it in children() if it.status() != psutil.STATUS_ZOMBIE} - before)


def children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def processes(language: Language) -> tuple[psutil.Process, psutil.Process]:
    by_command = {process: process.cmdline() for process in children()}
    (adapter,) = [it for it, words in by_command.items() if any(language.adapters_word in word for word in words)]
    programs = [it for it, words in by_command.items() if any(word.endswith(language.file) for word in words)]
    return adapter, max(programs, key=lambda it: it.create_time())


@LANGUAGES
@STATES
@VICTIMS
async def test_a_killed_adapter_or_program_is_the_end_and_leaves_nothing(
    tmp_path: Path, language: Language, state: str, victim: str
) -> None:
    async with scene(tmp_path, language, state) as it:
        os.kill(it.victim(victim).pid, signal.SIGKILL)
        with anyio.fail_after(15):
            happened = await it.service.wait(it.client, it.started.session.id, within_s=12)
        assert isinstance(happened.outcome, ProgramEnd)
        if victim == "program":
            assert happened.outcome.signal == "SIGKILL"
        with pytest.raises(DragomanError) as caught:
            await it.service.resume(it.client, it.started.session.id, thread_id=None, within_s=2)
        assert caught.value.code == "already_ended"


@LANGUAGES
@STATES
@VICTIMS
async def test_a_frozen_adapter_or_program_keeps_nobody_waiting_and_can_be_stopped(
    tmp_path: Path, language: Language, state: str, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (language, victim) != (PY, "adapter"):  # one is waited for as long as it is in earnest
        monkeypatch.setattr("dragoman.debug.session.shutdown.SHUTDOWN_TIMEOUT_S", 1.0)
    async with scene(tmp_path, language, state) as it:
        os.kill(it.victim(victim).pid, signal.SIGSTOP)
        session = it.started.session.id
        with anyio.fail_after(8):
            if state == "stopped":
                await asked_in_vain(it, session)
            else:
                assert (await it.service.pause(it.client, session, within_s=1)).outcome is None
        await it.service.stop(it.client, session)
        with anyio.fail_after(15):
            happened = await it.service.wait(it.client, session, within_s=12)
        assert isinstance(happened.outcome, ProgramEnd)


async def asked_in_vain(it: Scene, session: str) -> None:
    with pytest.raises(DragomanError) as caught:
        await it.service.evaluate(it.client, session, "1 + 1", frame=None, context="repl", within_s=1)
    assert caught.value.code == "adapter_silent"
