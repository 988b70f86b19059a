"""The pump to an editor: nothing piles up for one that does not read, and the last words still reach one that does."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.drivers.dap_editor_driver import MAX_OPEN_REQUESTS, MAX_UNSENT_BYTES, DapEditorDriver
from dragoman.io.net.streams import TcpStream
from dragoman.protocols import dap

pytestmark = pytest.mark.anyio


class Peer:
    """The editor's end, which reads only when it is asked to."""

    def __init__(self, sock: socket.socket) -> None:
        self._stream = TcpStream(sock)
        self._connection = dap.Connection()

    async def request(self, command: str) -> None:
        await self._stream.send(self._connection.send_request(command))

    async def receive(self) -> list[Any]:
        with anyio.fail_after(5):
            data = await self._stream.receive()
        self._connection.receive_data(data)
        return list(self._connection.events())

    async def receive_all(self) -> list[Any]:
        received: list[Any] = []
        with anyio.fail_after(10):
            try:
                while True:
                    received += await self.receive()
            except anyio.EndOfStream:
                return received

    async def answer(self, request: dap.Request, body: Any) -> None:
        await self._stream.send(self._connection.send_response(request, body))

    def leave(self) -> None:
        self._stream.close()


class Hosted:
    def __init__(self, host: DapEditorDriver, peer: Peer) -> None:
        self.host = host
        self.peer = peer
        self.taken: list[dap.Request] = []
        self.ended = anyio.Event()
        self.end: Callable[[], None]


@asynccontextmanager
async def hosted(*, sent_within_s: float = 30.0) -> AsyncIterator[Hosted]:
    ours, theirs = socket.socketpair()
    host = DapEditorDriver(TcpStream(ours), sent_within_s=sent_within_s)
    it = Hosted(host, Peer(theirs))

    async def run() -> None:
        await host.run(it.taken.append, lambda: host.event("terminated"))
        it.ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        it.end = group.cancel_scope.cancel
        yield it
        it.end()
    it.peer.leave()


async def until(condition: Any) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110  there is no event for what a peer has read
            await anyio.sleep(0.005)


async def test_one_that_reads_nothing_for_too_long_is_disconnected() -> None:
    async with hosted(sent_within_s=0.1) as it:
        it.host.event("output", {"output": "x" * 4 * MAX_UNSENT_BYTES})
        with anyio.fail_after(5):
            await it.ended.wait()
        assert it.host.fault is not None
        assert it.host.fault.code == "reads_nothing"


async def test_the_sender_waits_for_room_and_no_request_is_read_meanwhile() -> None:
    async with hosted() as it:
        it.host.event("output", {"output": "x" * 4 * MAX_UNSENT_BYTES})
        with anyio.move_on_after(0.05) as waiting:
            await it.host.wait_for_room()
        assert waiting.cancelled_caught
        await it.peer.request("threads")
        await it.peer.receive()
        async with anyio.create_task_group() as group:
            group.start_soon(it.host.wait_for_room)
            while not it.taken:
                await it.peer.receive()
        assert [request.command for request in it.taken] == ["threads"]


async def test_so_many_requests_are_open_and_the_next_is_read_when_one_is_answered() -> None:
    async with hosted() as it:
        for _ in range(MAX_OPEN_REQUESTS + 1):
            await it.peer.request("evaluate")
        await until(lambda: len(it.taken) >= MAX_OPEN_REQUESTS)
        for request in list(it.taken):
            it.host.respond(request, {})
        await until(lambda: len(it.taken) == MAX_OPEN_REQUESTS + 1)


async def test_an_end_from_outside_still_says_goodbye_in_whole_messages() -> None:
    async with hosted() as it:
        await it.peer.request("initialize")
        await until(lambda: it.taken)
        it.host.respond(it.taken[0], {"supportsLogPoints": True})
        it.end()
        with anyio.CancelScope(shield=True):
            answer = await it.peer.receive_all()
    assert [type(got).__name__ for got in answer] == ["ResponseReceived", "EventReceived"]
    assert answer[-1].message.event == "terminated"


async def test_a_question_to_the_editor_is_answered_or_over_with_it() -> None:
    async with hosted() as it:
        answers: list[Any] = []

        async def ask() -> None:
            try:
                answers.append(await it.host.ask("runInTerminal", {"args": ["x"]}, timeout_s=5))
            except DragomanError as error:
                answers.append(error.code)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            (asked,) = await it.peer.receive()
            await it.peer.answer(asked.message, {"processId": 7})
            await until(lambda: answers)
            assert json.loads(bytes(answers[0].body)) == {"processId": 7}
            group.start_soon(ask)
            await it.peer.receive()
            it.peer.leave()
            await until(lambda: len(answers) == 2)
        assert answers[1] == "editor_silent"


async def test_what_is_answered_twice_or_after_the_end_is_dropped() -> None:
    async with hosted() as it:
        await it.peer.request("threads")
        await until(lambda: it.taken)
        it.host.respond(it.taken[0], {})
        it.host.refuse(it.taken[0], "no", {})
        (answer,) = await it.peer.receive()
        assert answer.message.success
        it.peer.leave()
        with anyio.fail_after(5):
            await it.ended.wait()
        it.host.event("output", {"output": "late"})


async def test_half_a_character_that_a_program_printed_does_not_end_the_connection() -> None:
    async with hosted() as it:
        it.host.event("output", {"output": "half \ud83d of it"})
        (answer,) = await it.peer.receive()
        assert dap.read_body(answer.message, dict[str, Any])["output"].startswith("half ")
        await it.peer.request("threads")
        await until(lambda: it.taken)
        it.host.respond(it.taken[0], {"threads": [{"id": 1, "name": "\udc00"}]})
        (answered,) = await it.peer.receive()
        assert answered.message.success
