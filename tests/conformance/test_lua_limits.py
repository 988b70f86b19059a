"""A Lua program that does not answer: a caller's limit ends an evaluation, and a stop ends the program in any case."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman.core.errors import DragomanError
from tests.conformance.lua_runtimes import LUA, RUNTIMES, DebugService, LuaWorkspace, free_port
from tests.conformance.test_python import end_of, eventually, service_in, stop_of, values
from tests.daemons import PATIENCE

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120), pytest.mark.needs("lua")]

PROGRAM = "local n = 1\nlocal function f()\n  n = n + 1\n  return n\nend\nf()\nprint('done')\n"
ENDLESS = "(function() while true do end end)()"


@pytest.fixture(params=RUNTIMES)
def lua(request: pytest.FixtureRequest, tmp_path: Path) -> LuaWorkspace:
    return LuaWorkspace.made(tmp_path, request.param)


def programs() -> list[psutil.Process]:
    return [it for it in psutil.Process().children(recursive=True) if it.name().startswith("lua")]


async def test_an_evaluation_ends_with_its_callers_limit_and_the_program_answers_at_once(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", PROGRAM)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        began = anyio.current_time()
        with pytest.raises(DragomanError):
            await service.evaluate(lua.client, "", ENDLESS, frame=None, context="repl", within_s=2)
        answer = await service.evaluate(lua.client, "", "n + 40", frame=None, context="repl", within_s=5)
        assert answer.result == "42"
        assert anyio.current_time() - began < 6 * PATIENCE
        stepped = stop_of(await service.step(lua.client, "", "over", thread_id=None, within_s=10))
        assert values(stepped)["n"] == "2"


@pytest.mark.parametrize("hangs", ["endless", "in C", "stopped", "ignores"])
async def test_a_stop_ends_a_program_that_does_not_answer(lua: LuaWorkspace, hangs: str) -> None:
    program = lua.write("main.lua", PROGRAM)
    async with service_in(lua.folder, LUA) as service, anyio.create_task_group() as group:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        started = await service.start(lua.client, lua.launch(program), within_s=20)
        stop_of(started)
        (process,) = [it for it in programs() if it.cwd() == str(lua.folder)]
        if hangs == "stopped":
            os.kill(process.pid, signal.SIGSTOP)
        expression = {"in C": "os.execute('sleep 300')", "ignores": "os.execute('trap \"\" TERM; sleep 300')"}
        group.start_soon(_evaluate, service, lua, expression.get(hangs, ENDLESS), 60)
        if hangs in expression:
            await eventually(lambda: any(it.name() == "sleep" for it in process.children(recursive=True)))
        tree = [process, *process.children(recursive=True)]
        with anyio.fail_after(10 * PATIENCE):
            await service.stop(lua.client, started.session.id)
            end_of(await service.wait(lua.client, started.session.id, within_s=10))
            await eventually(lambda: not any(_is_running(it) for it in tree))
        group.cancel_scope.cancel()


async def test_a_stop_ends_the_program_even_if_a_caller_has_given_up(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", PROGRAM)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        started = await service.start(lua.client, lua.launch(program), within_s=20)
        (process,) = [it for it in programs() if it.cwd() == str(lua.folder)]
        await _evaluate(service, lua, "os.execute('sleep 300')", 1)
        tree = [process, *process.children(recursive=True)]
        with anyio.fail_after(10 * PATIENCE):
            await service.stop(lua.client, started.session.id)
            end_of(await service.wait(lua.client, started.session.id, within_s=10))
            await eventually(lambda: not any(_is_running(it) for it in tree))


async def test_a_stop_ends_a_host_that_ignores_it_with_the_program_inside(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", PROGRAM), free_port()
    first = (
        f"package.path = [[{lua.folder}/panda/?.lua;]] .. package.path; require('LuaPanda').start('127.0.0.1', {port})"
    )
    host = lua.write(
        "host.sh", f"#!/bin/sh\ntrap '' TERM HUP INT\n{lua.interpreter} -e \"{first}\" main.lua\nsleep 300\n"
    )
    host.chmod(0o755)
    launch_request = lua.listening(port, request="launch", program=str(host), cwd=str(lua.folder))
    async with service_in(lua.folder, LUA) as service, anyio.create_task_group() as group:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        started = await service.start(lua.client, launch_request, within_s=20)
        stop_of(started)
        tree = [it for it in psutil.Process().children(recursive=True) if it.cwd() == str(lua.folder)]
        assert len(tree) == 2
        group.start_soon(_evaluate, service, lua, ENDLESS, 60)
        with anyio.fail_after(10 * PATIENCE):
            await service.stop(lua.client, started.session.id)
            end_of(await service.wait(lua.client, started.session.id, within_s=10))
            await eventually(lambda: not any(_is_running(it) for it in tree))
        group.cancel_scope.cancel()


def _is_running(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


async def _evaluate(service: DebugService, lua: LuaWorkspace, expression: str, within_s: float) -> None:
    with contextlib.suppress(DragomanError):
        await service.evaluate(lua.client, "", expression, frame=None, context="repl", within_s=within_s)
