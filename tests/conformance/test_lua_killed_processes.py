"""Either side is killed or frozen at each step of a session with a real runtime: the truth in time, no process left."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import ProgramEnd, SessionState
from dragoman.debug.service import DebugService
from dragoman.workspace.caller import Caller
from tests.conformance.lua_runtimes import LUA, RUNTIMES, LuaWorkspace, free_port
from tests.conformance.test_python import eventually, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TICKS = """local function tick(n)
  local seen = n
  return seen
end
local t, n = os.time(), 0
while os.time() - t < 600 do
  n = n + 1
  tick(n)
  if n > 5 and not io.open("goes_on.txt") then io.open("goes_on.txt", "w"):close() end
end
"""
NEVER_ENDS = "(function() while true do end end)()"


@pytest.fixture(params=RUNTIMES)
def lua(request: pytest.FixtureRequest, tmp_path: Path) -> LuaWorkspace:
    return LuaWorkspace.made(tmp_path, request.param)


@dataclass(frozen=True)
class Scene:
    service: DebugService
    client: Caller
    session: str

    @property
    def state(self) -> SessionState:
        return next(it.state for it in self.service.registry.sessions(self.client) if it.id == self.session)

    def programs(self) -> list[psutil.Process]:
        found = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found += [process] if "main.lua" in " ".join(process.cmdline()) else []
        return found

    async def resume(self) -> None:
        await self.service.resume(self.client, self.session, thread_id=None, within_s=0.0)

    async def evaluate(self, expression: str = "1 + 1", within_s: float = 1.0) -> None:
        await self.service.evaluate(
            self.client, self.session, expression, frame=None, context="repl", within_s=within_s
        )

    async def ended(self) -> ProgramEnd:
        with anyio.fail_after(15):
            outcome = (await self.service.wait(self.client, self.session, within_s=12)).outcome
        assert isinstance(outcome, ProgramEnd)
        return outcome


@asynccontextmanager
async def stopped(lua: LuaWorkspace) -> AsyncIterator[Scene]:
    program = lua.write("main.lua", TICKS)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 3))
        started = await service.start(lua.client, lua.launch(program), within_s=20)
        stop_of(started)
        scene = Scene(service, lua.client, started.session.id)
        yield scene
        await eventually(lambda: not scene.programs())


async def _nothing(_: Scene) -> None:
    return


async def _runs(scene: Scene) -> None:
    await scene.service.remove_breakpoints(scene.client, lambda _: True)
    await scene.resume()


async def _step(scene: Scene) -> None:
    await scene.service.step(scene.client, scene.session, "over", thread_id=None, within_s=5)


STEPS: dict[str, Callable[[Scene], Awaitable[None]]] = {"stopped": _nothing, "running": _runs, "stepped": _step}


@pytest.mark.parametrize("step", STEPS)
async def test_a_killed_program_is_the_end_at_every_step(lua: LuaWorkspace, step: str) -> None:
    async with stopped(lua) as scene:
        await STEPS[step](scene)
        os.kill(scene.programs()[-1].pid, signal.SIGKILL)
        assert (await scene.ended()).signal == "SIGKILL"
        assert scene.state is SessionState.TERMINATED


async def test_a_program_that_is_killed_while_it_is_asked_ends_the_question_too(lua: LuaWorkspace) -> None:
    async with stopped(lua) as scene:

        async def ask() -> None:
            with pytest.raises(DragomanError) as caught:
                await scene.evaluate(NEVER_ENDS, within_s=10)
            assert caught.value.code in {"adapter_gone", "already_ended"}

        program = scene.programs()[-1]
        before = program.cpu_times().user
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await eventually(lambda: program.cpu_times().user > before)
            program.kill()
        assert (await scene.ended()).signal == "SIGKILL"


@pytest.mark.parametrize("step", ["stopped", "running"])
async def test_a_frozen_program_keeps_nobody_waiting_and_can_be_ended(lua: LuaWorkspace, step: str) -> None:
    async with stopped(lua) as scene:
        await STEPS[step](scene)
        os.kill(scene.programs()[-1].pid, signal.SIGSTOP)
        with anyio.fail_after(8):
            if step == "running":
                assert (await scene.service.pause(scene.client, scene.session, within_s=0.5)).outcome is None
            else:
                with pytest.raises(DragomanError) as caught:
                    await scene.evaluate(within_s=0.5)
                assert caught.value.code == "adapter_silent"
                assert scene.state is SessionState.STOPPED
        await scene.service.stop(scene.client, scene.session)
        await scene.ended()


@pytest.mark.parametrize("step", ["stopped", "running"])
async def test_when_we_vanish_a_program_of_somebody_elses_continues(lua: LuaWorkspace, step: str) -> None:
    """No goodbye is said: the daemon was killed."""
    program, port = lua.write("main.lua", TICKS), free_port()
    async with AsyncExitStack() as stack:
        async with service_in(lua.folder, LUA) as service:
            await service.set_breakpoint(lua.client, lua.at(program, 3, condition="n == 3"))
            waits = await service.start(lua.client, lua.listening(port), within_s=0.1)
            process = stack.enter_context(lua.running(program, f"start('127.0.0.1', {port})"))
            stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            if step == "running":
                await service.resume(lua.client, waits.session.id, thread_id=None, within_s=0.0)
        await eventually((lua.folder / "goes_on.txt").exists)
        assert process.poll() is None
