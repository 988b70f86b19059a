"""The pump: ids, time-outs, late and unknown answers, and what is never sent."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import anyio
import pytest

from dragoman.core.errors import DragomanError, LocalProtocolError
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver, _random_id
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.luapanda import MAX_ID, MIN_ID, LuaPandaState, Message
from tests.debug.backends.luapanda.fake_runtime import playing
from tests.protocols.luapanda.ide_side import INIT, INIT_REPLY, line, stop
from tests.protocols.luapanda.transcripts import to_ide
from tests.support.fake_lua import FakeLua

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


class Wired:
    """A pump, and the runtime's end in the hands of a test."""

    def __init__(self) -> None:
        near, far = socket.socketpair()
        self.received: list[Message] = []
        self.far = TcpStream(far)
        self.driver = LuaPandaDriver(TcpStream(near), self._receive, ids=count(10).__next__)

    async def _receive(self, message: Message) -> None:
        self.received.append(message)

    async def stand(self) -> None:
        """Initialised, and stopped at the entry."""
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: self.driver.ask("initSuccess", INIT, timeout_s=5))
            await self.far.receive()
            await self.far.send(line("initSuccess", "10", INIT_REPLY) + stop())
        while self.driver.connection.state is not LuaPandaState.STOPPED:
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def wired() -> AsyncIterator[Wired]:
    one = Wired()
    async with anyio.create_task_group() as group:
        group.start_soon(one.driver.run)
        try:
            yield one
        finally:
            await one.far.aclose()
            group.cancel_scope.cancel()


@pytest.mark.requirement("luapanda:callback-id:random")
async def test_ids_are_drawn_at_random_from_the_whole_range() -> None:
    drawn = [_random_id() for _ in range(4_000)]
    assert all(MIN_ID <= id <= MAX_ID for id in drawn)
    quarters = {id * 4 // (MAX_ID + 1) for id in drawn}
    assert quarters == {0, 1, 2, 3}
    assert len(set(drawn)) > 3_900


async def test_a_silent_runtime_is_given_up_and_its_late_answer_disturbs_nobody() -> None:
    async with wired() as it:
        await it.stand()
        with pytest.raises(DragomanError) as caught:
            await it.driver.ask("getVariable", {"varRef": 10000, "stackId": 2}, timeout_s=0.05)
        assert caught.value.code == "adapter_silent"
        async with anyio.create_task_group() as group:
            answers: list[Message] = []

            async def ask() -> None:
                answers.append(await it.driver.ask("getVariable", {"varRef": 20000, "stackId": 2}, timeout_s=5))

            group.start_soon(ask)
            late = line("getVariable", "11", [{"name": "late"}])
            await it.far.send(late + line("getVariable", "999", []) + line("getVariable", "12", [{"name": "own"}]))
        assert answers[0].info == [{"name": "own"}]
        assert (it.driver.late, it.driver.unexpected) == (1, 1)


async def test_what_the_runtime_would_drop_or_die_of_is_refused_and_nothing_is_sent() -> None:
    async with wired() as it:
        await it.stand()
        for cmd, info in (("noSuchCommand", {}), ("getVariable", {"varRef": 0, "stackId": 2}), ("initSuccess", INIT)):
            with pytest.raises(DragomanError) as caught:
                await it.driver.ask(cmd, info, timeout_s=1)
            assert caught.value.code == "not_sent"
        with pytest.raises(LocalProtocolError):
            await it.driver.ask("LuaGarbageCollect", {}, timeout_s=1)
        await it.driver.notify("LuaGarbageCollect")
        assert b"callbackId" not in await it.far.receive()


async def test_the_two_thousandth_request_of_a_stop_is_the_last() -> None:
    async with wired() as it:
        await it.stand()
        it.driver.connection.requests_left = 1
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: it.driver.ask("getVariable", {"varRef": 10000, "stackId": 2}, timeout_s=5))
            await it.far.receive()
            await it.far.send(line("getVariable", "11", []))
        with pytest.raises(DragomanError) as caught:
            await it.driver.ask("getVariable", {"varRef": 10000, "stackId": 2}, timeout_s=1)
        assert caught.value.code == "stop_budget_spent"


@pytest.mark.parametrize("result", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"{}|*|\n", b"[1]|*|\n", b"x" * 100 + b"\n"])
async def test_a_peer_that_does_not_speak_luapanda_is_disconnected(result: bytes) -> None:
    async with wired() as it:
        await it.far.send(result)
        with anyio.fail_after(5):
            await it.driver.closed.wait()
        with pytest.raises(DragomanError) as caught:
            await it.driver.ask("initSuccess", INIT, timeout_s=1)
        assert caught.value.code == "adapter_broke_protocol"


async def test_a_caller_that_waits_when_the_program_ends_learns_it_at_once() -> None:
    async with wired() as it:
        await it.stand()

        async def vanish() -> None:
            await it.far.receive()
            await it.far.aclose()

        async with anyio.create_task_group() as group:
            group.start_soon(vanish)
            with pytest.raises(DragomanError) as caught:
                await it.driver.ask("continue", {}, timeout_s=20)
            assert caught.value.code == "adapter_gone"


@pytest.mark.requirement("luapanda:step:ack-answers-request")
async def test_a_step_is_answered_by_its_acknowledgement_and_not_by_the_stop() -> None:
    fake = FakeLua(to_ide("basic_53"))
    async with playing(fake, stopOnEntry=True) as played:
        await played.ask("attach")
        await played.ask("configurationDone")
        await played.until("stopped")
        fake.holds = anyio.Event()
        await played.ask("next")
        assert len(played.named("stopped")) == 1
        fake.holds.set()
        await played.until("stopped", 2)


@pytest.mark.requirement("luapanda:clib:no-ids", "luapanda:clib:messages-through-lua", "luapanda:clib:state-in-step")
@pytest.mark.parametrize("name", ["clib_51", "clib_54"])
async def test_with_the_hook_library_messages_ids_and_states_are_the_same(name: str) -> None:
    fake = FakeLua(to_ide(name))
    stops = len(fake.stops)
    async with anyio.create_task_group() as group:
        received: list[Message] = []

        async def receive(message: Message) -> None:
            received.append(message)

        driver = LuaPandaDriver(fake.near, receive, ids=count(10).__next__)
        group.start_soon(fake.run)
        group.start_soon(driver.run)
        answer = await driver.ask("initSuccess", INIT, timeout_s=5)
        assert (answer.info["UseHookLib"], answer.callback_id) == ("1", "10")
        for number in range(1, stops):
            while len([it for it in received if it.stack is not None]) < number:
                await anyio.lowlevel.checkpoint()
            assert driver.connection.state is LuaPandaState.STOPPED
            assert (await driver.ask("continue", {}, timeout_s=5)).callback_id == str(10 + number)
        await driver.close()
    assert {it.callback_id for it in received} == {"0"}
