"""The three ways to a Lua program, with real ones: we start it, it comes to us, or we go to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import Binding, ProgramEnd, SessionState, Stop
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.lua_runtimes import LUA, RUNTIMES, LuaWorkspace, free_port
from tests.conformance.test_python import end_of, eventually, service_in, stop_of, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

LOOP = """local function tick(n)
  local seen = n * 2
  return seen
end
for n = 1, tonumber(arg and arg[1] or 5) do
  tick(n)
end
print("done")
"""


@pytest.fixture(params=RUNTIMES)
def lua(request: pytest.FixtureRequest, tmp_path: Path) -> LuaWorkspace:
    return LuaWorkspace.made(tmp_path, request.param)


@pytest.mark.requirement("luapanda:transport:tcp")
async def test_a_program_that_comes_to_us_stops_at_breakpoints_set_before(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP), free_port()
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2, condition="n == 3"))
        waits = await service.start(lua.client, lua.listening(port), within_s=0.2)
        assert (waits.outcome, waits.session.state) == (None, SessionState.STARTING)
        assert f'start("127.0.0.1", {port})' in waits.session.facts["waits for"]
        with lua.running(program, f"start('127.0.0.1', {port})") as process:
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            assert (stop.reason, stop.frames[0].path, values(stop)["n"]) == ("breakpoint", str(program), "3")
            assert stop.frames[0].name == "tick"
            await service.stop(lua.client, waits.session.id)
            await service.wait(lua.client, waits.session.id, within_s=10)
            assert (await _output_of(process)).rstrip().endswith("done")
            assert process.returncode == 0


async def test_a_caller_that_does_not_wait_for_a_later_program_is_answered_at_once(lua: LuaWorkspace) -> None:
    async with service_in(lua.folder, LUA) as service:
        for more in ({}, {"VSCodeAsClient": True}):
            with anyio.fail_after(2):
                waits = await service.start(lua.client, lua.listening(free_port(), **more), within_s=0)
            assert (waits.outcome, waits.session.state) == (None, SessionState.STARTING)


async def test_a_running_program_is_detached_and_runs_on(lua: LuaWorkspace) -> None:
    text = (
        "local t = os.time()\nlocal function tick() return os.time() end\nwhile tick() - t < 4 do end\nprint('done')\n"
    )
    program, port = lua.write("main.lua", text), free_port()
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        waits = await service.start(lua.client, lua.listening(port), within_s=0.1)
        with lua.running(program, f"start('127.0.0.1', {port})") as process:
            await eventually(lambda: waits.session.state is SessionState.RUNNING)
            await service.stop(lua.client, waits.session.id)
            end_of(await service.wait(lua.client, waits.session.id, within_s=10))
            assert (await _output_of(process)).rstrip().endswith("done")
            assert process.returncode == 0


async def test_a_program_that_we_started_is_ended_where_it_is(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "local a = 1\nio.open('ran.txt', 'w'):close()\n")
    async with service_in(lua.folder, LUA) as service:
        started = await service.start(lua.client, lua.launch(program, stopOnEntry=True), within_s=20)
        assert stop_of(started).frames[0].line == 1
        await service.stop(lua.client, started.session.id)
        end_of(await service.wait(lua.client, started.session.id, within_s=10))
    assert not (lua.folder / "ran.txt").exists()


async def test_each_lua_state_on_one_port_is_a_session_of_its_own(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP), free_port()
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2, condition="n == 3"))
        first = await service.start(lua.client, lua.listening(port), within_s=0.1)
        call = f"start('127.0.0.1', {port})"
        with lua.running(program, call) as one, lua.running(program, call) as other:
            await eventually(lambda: len([it for it in service.registry.sessions(lua.client) if it.stop]) == 2)
            sessions = service.registry.sessions(lua.client)
            assert first.session in sessions
            for session in sessions:
                assert values(session.require_stopped())["n"] == "3"
                stopped = await service.step(lua.client, session.id, "over", thread_id=None, within_s=10)
                assert values(stop_of(stopped))["seen"] == "6"
                end_of(await service.resume(lua.client, session.id, thread_id=None, within_s=10))
            assert (one.wait(10), other.wait(10)) == (0, 0)


async def test_behind_a_task_too_each_lua_state_is_a_session_of_its_own(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP), free_port()
    tasks = [{"label": label, "type": "shell", "command": f"echo x >> {label}.txt"} for label in ("build", "after")]
    lua.write(".vscode/tasks.json", json.dumps({"version": "2.0.0", "tasks": tasks}))
    launch_request = lua.listening(port, preLaunchTask="build", postDebugTask="after")
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2, condition="n == 3"))
        await service.start(lua.client, launch_request, within_s=0.1)
        await eventually(lambda: _listens(port))
        call = f"start('127.0.0.1', {port})"
        with lua.running(program, call) as one, lua.running(program, call) as other:
            await eventually(lambda: len([it for it in service.registry.sessions(lua.client) if it.stop]) == 2)
            for session in service.registry.sessions(lua.client):
                end_of(await service.resume(lua.client, session.id, thread_id=None, within_s=10))
            assert (one.wait(10), other.wait(10)) == (0, 0)
        await eventually((lua.folder / "after.txt").exists)
    assert [(lua.folder / f"{label}.txt").read_text() for label in ("build", "after")] == ["x\n", "x\n"]


async def test_an_unknown_process_at_the_port_is_refused_and_the_program_is_still_waited_for(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP), free_port()
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2))
        waits = await service.start(lua.client, lua.listening(port), within_s=0.2)
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            stranger.settimeout(10)
            await eventually(lambda: _has_closed(stranger))
        with lua.running(program, f"start('127.0.0.1', {port})"):
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            assert values(stop)["n"] == "1"


def _notices(session: DebugSession) -> str:
    return session.output.since(0, most=1000, categories=frozenset({"important"}))[0]


@pytest.mark.needs("runuser")
@pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")
async def test_a_program_of_another_user_is_refused_and_its_user_is_named_in_the_output(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP), free_port()
    knock = "import socket,sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); print(s.recv(99))"
    command = ["runuser", "-u", "nobody", "--", "/usr/bin/python3", "-I", "-c", knock, str(port)]
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2))
        waits = await service.start(lua.client, lua.listening(port), within_s=0.2)
        await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True, capture_output=True, timeout=20))
        await eventually(lambda: "debug_port_users nobody" in _notices(waits.session))
        assert "from user nobody" in _notices(waits.session)
        assert waits.session.state is SessionState.STARTING
        with lua.running(program, f"start('127.0.0.1', {port})"):
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=20))
            assert values(stop)["n"] == "1"


async def test_a_port_of_another_debugger_is_reported_with_its_owner(lua: LuaWorkspace) -> None:
    async with service_in(lua.folder, LUA) as service:
        with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(DragomanError) as caught:
            await service.start(lua.client, lua.listening(taken.getsockname()[1]), within_s=5)
        assert caught.value.code == "port_taken"
        assert "connectionPort" in str(caught.value.hint)


async def test_a_program_that_listens_is_gone_to_until_it_is_there(lua: LuaWorkspace) -> None:
    program, port = lua.write("main.lua", LOOP.replace("  tick(n)", "  tick(n, os.time())")), free_port()
    launch_request = lua.listening(port, VSCodeAsClient=True, connectionIP="127.0.0.1", cwd=str(lua.folder))
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2, condition="n > 10"))
        waits = await service.start(lua.client, launch_request, within_s=0.2)
        assert waits.outcome is None
        with lua.running(program, f"startServer('127.0.0.1', {port})", "30000000"):
            stop = stop_of(await service.wait(lua.client, waits.session.id, within_s=30))
            assert stop.reason == "breakpoint"
            assert int(values(stop)["n"]) > 10


async def test_a_running_program_is_paused_and_continues(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "n = 0\nwhile n >= 0 do\n  n = n + 1\nend\nprint('left')\n")
    async with service_in(lua.folder, LUA) as service:
        started = await service.start(lua.client, lua.launch(program), within_s=0.5)
        assert started.outcome is None
        paused = stop_of(await service.pause(lua.client, "", within_s=10))
        assert (paused.reason, paused.frames[0].path) == ("pause", str(program))
        await service.evaluate(lua.client, "", "n = -5", frame=None, context="repl", within_s=5)
        ended = end_of(await service.resume(lua.client, "", thread_id=None, within_s=10))
        assert (ended.exit_code, "left" in ended.output) == (0, True)


async def test_a_pause_where_no_hook_fires_times_out_and_the_reason_is_output(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "print('sleeps')\nrequire('socket').sleep(60)\n")
    async with service_in(lua.folder, LUA) as service:
        started = await service.start(lua.client, lua.launch(program), within_s=0.1)
        await eventually(lambda: "sleeps" in started.session.output.since(0, most=1000)[0])
        paused = await service.pause(lua.client, "", within_s=2.6)
        assert (paused.outcome, paused.session.state) == (None, SessionState.RUNNING)
        output = started.session.output.since(0, most=1000, categories=frozenset({"important"}))[0]
        assert "cannot pause here" in output


async def test_what_is_not_text_is_thrown_through_a_wrapped_coroutine_and_shown(lua: LuaWorkspace) -> None:
    lua = LuaWorkspace(lua.folder, lua.runtime, "lua5.1")
    text = "local co = coroutine.wrap(function() error({ code = 5 }) end)\nlocal function go() co() end\ngo()\n"
    program = lua.write("main.lua", text)
    async with service_in(lua.folder, LUA) as service:
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert stop.reason == "exception"
        assert stop.raised is not None
        assert stop.raised.message.startswith("table: ")
        assert {Path(frame.path) for frame in stop.frames} == {program}


async def test_an_error_that_nothing_catches_stops_where_it_was_raised(lua: LuaWorkspace) -> None:
    program = lua.write(
        "main.lua",
        "local function read(t)\n  local key = 'b'\n  return t[key].c\nend\nprint(pcall(read, {}))\nread({ a = 1 })\n",
    )
    async with service_in(lua.folder, LUA) as service:
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert (stop.reason, stop.frames[0].line, stop.frames[0].name) == ("exception", 3, "read")
        assert stop.raised is not None
        assert stop.raised.uncaught
        assert "attempt to index" in stop.raised.message
        assert values(stop)["key"] == '"b"'
        found = await service.evaluate(lua.client, "", "t.a, key", frame=None, context="repl", within_s=5)
        assert found.result == '1, "b"'
        ended = end_of(await service.resume(lua.client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, "attempt to index" in ended.output) == (1, True)


async def test_a_function_by_its_name_stops_where_it_is_entered_and_not_where_it_is_defined(lua: LuaWorkspace) -> None:
    """Also one of a file that is loaded later, and one that stands on a single line."""
    lua.write("mod.lua", "local M = {}\nfunction M.late(n)\n  local m = n\n  return m\nend\nreturn M\n")
    program = lua.write(
        "main.lua", "local function one(n) return n end\nlocal mod = require('mod')\nprint(mod.late(one(7)))\n"
    )
    async with service_in(lua.folder, LUA) as service:
        for name in ("one", "M.late", "nowhere"):
            await service.set_breakpoint(lua.client, Breakpoint(id=0, path="", line=0, kind="function", function=name))
        seen, entries = [], [Binding()]
        happened = await service.start(lua.client, lua.launch(program, cwd=str(lua.folder)), within_s=20)
        while isinstance(happened.outcome, Stop):
            stop = happened.outcome
            seen.append((stop.frames[0].name, stop.frames[0].line, values(stop).get("n"), stop.hit_breakpoints))
            entries = [service.binding(lua.client, id) for id in (1, 2, 3)]
            happened = await service.resume(lua.client, "", thread_id=None, within_s=20)
        assert seen == [("one", 1, "7", (1,)), ("late", 3, "7", (2,))]
        assert [it.verified for it in entries] == [True, True, False]
        assert "nowhere" in entries[2].message


async def test_hits_are_still_counted_when_another_breakpoint_is_set_in_the_file(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", LOOP)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2, hit_condition="== 4"))
        await service.set_breakpoint(lua.client, lua.at(program, 3, condition="n == 2"))
        assert values(stop_of(await service.start(lua.client, lua.launch(program), within_s=20)))["n"] == "2"
        await service.set_breakpoint(lua.client, lua.at(program, 8))
        stop = stop_of(await service.resume(lua.client, "", thread_id=None, within_s=20))
        assert (stop.frames[0].line, values(stop)["n"]) == (2, "4")


async def test_a_process_is_not_attached_to_by_its_number(lua: LuaWorkspace) -> None:
    async with service_in(lua.folder, LUA) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(lua.client, lua.listening(free_port(), processId=1), within_s=5)
        assert caught.value.code == "not_supported"


async def test_stepping_past_the_last_line_is_the_end(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", "local a = 1\nlocal b = a\n")
    async with service_in(lua.folder, LUA) as service:
        happened = await service.start(lua.client, lua.launch(program, stopOnEntry=True), within_s=20)
        assert (stop_of(happened).reason, stop_of(happened).frames[0].line) == ("entry", 1)
        for _ in range(4):
            happened = await service.step(lua.client, "", "over", thread_id=None, within_s=20)
            if isinstance(happened.outcome, ProgramEnd):
                break
        assert end_of(happened).exit_code == 0


async def test_without_debugging_it_simply_runs(lua: LuaWorkspace) -> None:
    program = lua.write("main.lua", LOOP)
    launch_request = lua.launch(program)
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 2))
        happened = await service.start(
            lua.client, type(launch_request)(configuration=launch_request.configuration, no_debug=True), within_s=20
        )
        assert (end_of(happened).exit_code, end_of(happened).output.strip()) == (0, "done")


async def test_breakpoints_in_wrapped_coroutines_are_hit_and_their_threads_are_reported(lua: LuaWorkspace) -> None:
    program = lua.write(
        "main.lua",
        "local next_one = coroutine.wrap(function()\n  for i = 1, 2 do\n    local inner = i\n"
        "    coroutine.yield(inner)\n  end\nend)\nprint(next_one(), next_one())\n",
    )
    async with service_in(lua.folder, LUA) as service:
        await service.set_breakpoint(lua.client, lua.at(program, 4))
        stop = stop_of(await service.start(lua.client, lua.launch(program), within_s=20))
        assert (stop.reason, values(stop)["inner"]) == ("breakpoint", "1")
        threads = await service.find(lua.client, "").inspection.threads()
        assert {"main", f"{threads[0].name}"} <= {it.name for it in threads}
        assert any(it.name.startswith("thread: ") and it.line == 4 for it in threads)
        again = stop_of(await service.resume(lua.client, "", thread_id=None, within_s=20))
        assert isinstance(again, Stop)
        assert values(again)["inner"] == "2"


async def _output_of(process: subprocess.Popen[str]) -> str:
    return (await anyio.to_thread.run_sync(lambda: process.communicate(timeout=20)))[0]


def _listens(port: int) -> bool:
    """As the system tells: whoever knocks would be taken for a program."""
    result = psutil.net_connections("tcp4")
    return any(it.status == psutil.CONN_LISTEN and it.laddr and it.laddr.port == port for it in result)


def _has_closed(stranger: socket.socket) -> bool:
    """It is greeted first, as any program would be."""
    stranger.setblocking(False)
    try:
        while stranger.recv(65536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True
