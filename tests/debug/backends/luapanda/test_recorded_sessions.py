"""Every recorded session of a real LuaPanda, faults included, played to the backend and to the pump."""

from __future__ import annotations

import json
from itertools import count

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.protocols.dap import bodies, read_body
from dragoman.protocols.luapanda import Message
from tests.debug.backends.luapanda.fake_runtime import Played, playing
from tests.protocols.luapanda.transcripts import FAULTS, GOOD, NAMES, to_ide, to_runtime
from tests.support.fake_lua import RUNS, FakeLua

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

STEPS = {"stopOnStep": "next", "stopOnStepIn": "stepIn", "stopOnStepOut": "stepOut"}
MOST_COMMANDS = 12  # of a session that is stopped at, looked at and ended


def reason_of(cmd: str, number: int) -> str:
    """The first stop is the entry, whatever a recorded IDE had asked for."""
    return "entry" if number == 1 or cmd == "stopOnEntry" else "step" if cmd in STEPS else "breakpoint"


@pytest.mark.parametrize("name", NAMES)
async def test_every_recorded_stop_is_reported_with_its_place(name: str) -> None:
    """Steps as steps, breakpoints as breakpoints, to the end of the program."""
    fake = FakeLua(to_ide(name))
    expected = [(stop.cmd, [(it.line, it.index) for it in stop.stack or ()]) for stop in fake.stops]
    async with playing(fake, stopOnEntry=True) as played:
        if not expected:
            with pytest.raises(DragomanError):
                await played.ask("attach")
            return
        await played.ask("attach")
        await played.ask("configurationDone")
        for number, (cmd, stack) in enumerate(expected, 1):
            stopped = await played.until("stopped", number)
            assert stopped["reason"] == reason_of(cmd, number)
            trace = read_body(await played.ask("stackTrace", threadId=stopped["threadId"]), bodies.StackTraceResponse)
            assert [frame.line for frame in trace.stack_frames] == [line for line, _ in stack]
            await played.ask(STEPS.get(cmd, "continue"))
        await played.until("terminated")
    assert fake.fault is None


@pytest.mark.parametrize("name", FAULTS)
async def test_no_message_that_crashed_a_recorded_program_is_sent(name: str) -> None:
    """What was recorded is asked of the pump as it stands: it is refused, or said in a form that is survived."""
    fake = FakeLua(to_ide(name))
    async with anyio.create_task_group() as group:
        driver = LuaPandaDriver(fake.near, _passed_over)
        group.start_soon(fake.run)
        group.start_soon(driver.run)
        for line in to_runtime(name):
            for text in line.decode().split("|*|"):
                await _say(driver, text)
        await driver.close()
        await driver.closed.wait()
    assert fake.fault is None
    for command in fake.commands:
        assert isinstance(command.info, dict)


@pytest.mark.parametrize("name", ["basic_53", "basic_jit", "coroutines_54", "values_b64_true", "clib_54"])
async def test_what_was_asked_is_answered_as_it_was_recorded(name: str) -> None:
    fake = FakeLua(to_ide(name))
    recorded = _answered(name)
    async with anyio.create_task_group() as group:
        driver = LuaPandaDriver(fake.near, _passed_over, ids=count(10).__next__)
        group.start_soon(fake.run)
        group.start_soon(driver.run)
        received = []
        for line in to_runtime(name):
            asked = json.loads(line.decode().removesuffix(" |*|\n"))
            if asked["cmd"] == "LuaGarbageCollect":
                await driver.notify(asked["cmd"])
                continue
            received.append(await driver.ask(asked["cmd"], asked["info"], timeout_s=5))
        await driver.close()
    assert [message.cmd for message in received] == [message["cmd"] for message in recorded]
    assert (driver.late, driver.unexpected) == (0, 0)


@pytest.mark.parametrize("at", range(1, MOST_COMMANDS))
async def test_a_program_that_dies_at_any_command_ends_the_session_and_nothing_hangs(at: int) -> None:
    fake = FakeLua(to_ide("basic_53"), dies_at=at)
    async with playing(fake, stopOnEntry=True) as played:
        with pytest.raises(DragomanError) as caught:
            await _session(played)
        assert caught.value.code in {"adapter_gone", "adapter_refused"}
        with anyio.fail_after(5):
            await played.until("gone")


@pytest.mark.parametrize("at", range(2, 8))
async def test_a_program_that_falls_silent_at_any_command_is_given_up_in_time(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.debug.backends.luapanda.fake_runtime.WITHIN_S", 0.3)
    fake = FakeLua(to_ide("basic_53"), hangs_at=at)
    async with playing(fake, stopOnEntry=True) as played:
        with pytest.raises(DragomanError) as caught:
            await _session(played)
        assert caught.value.code == "adapter_silent"


@pytest.mark.parametrize("name", GOOD)
async def test_the_fake_knows_every_line_of_a_recording(name: str) -> None:
    fake = FakeLua(to_ide(name))
    fake.close()
    number = len(fake.stops) + len(fake.notices) + sum(map(len, fake._answers.values()))
    assert number == len(to_ide(name))
    assert {"initSuccess"} <= RUNS


async def _session(played: Played) -> None:
    """Everything that is asked at a stop, over and over until something gives."""
    ask = played.ask
    await ask("attach")
    await ask("setBreakpoints", source={"path": "/proj/main.lua"}, breakpoints=[{"line": 18}, {"line": 19}])
    await ask("configurationDone")
    for number in range(1, 40):
        stopped = await played.until("stopped", number)
        trace = read_body(await ask("stackTrace", threadId=stopped["threadId"]), bodies.StackTraceResponse)
        scopes = read_body(await ask("scopes", frameId=trace.stack_frames[0].id), bodies.ScopesResponse)
        for scope in scopes.scopes:
            await ask("variables", variablesReference=scope.variables_reference)
        await ask("evaluate", expression="config", frameId=trace.stack_frames[0].id)
        await ask("next")


async def _say(driver: LuaPandaDriver, text: str) -> None:
    try:
        asked = json.loads(text)
    except ValueError:
        return  # there is no way to say it
    info = asked.get("info")
    try:
        await driver.ask(asked.get("cmd"), info if info is not None else None, timeout_s=1)
    except (DragomanError, TypeError):
        return


def _answered(name: str) -> list[dict[str, object]]:
    messages = [
        json.loads(line.decode("utf-8", "replace").removesuffix("|*|\n"), strict=False) for line in to_ide(name)
    ]
    return [one for one in messages if "stack" not in one and one["callbackId"] not in ("0", 0)]


async def _passed_over(_: Message) -> None:
    return
