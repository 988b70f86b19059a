"""Whatever an editor asks, with whatever arguments: exactly one answer each, never a fault of ours, and it goes on."""

from __future__ import annotations

import logging
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.dap.guests import Guest
from dragoman.dap.visit import Visit
from dragoman.transport.streams import TcpStream
from dragoman.wire import dap
from tests.domain.tools.bench import Bench, opened

pytestmark = pytest.mark.anyio

COMMANDS = (
    *("initialize", "attach", "configurationDone", "threads", "stackTrace", "scopes", "variables", "evaluate"),
    *("setVariable", "setExpression", "source", "loadedSources", "modules", "completions", "exceptionInfo"),
    *("continue", "next", "stepIn", "stepOut", "pause", "setBreakpoints", "setFunctionBreakpoints"),
    *("setExceptionBreakpoints", "setDataBreakpoints", "dataBreakpointInfo", "stepBack", "", "x" * 500),
)
NAMES = (
    *("threadId", "frameId", "variablesReference", "expression", "context", "name", "value", "source", "breakpoints"),
    *("filters", "filterOptions", "startFrame", "levels", "start", "count", "filter", "session", "text", "column"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 2**53, 1.5, "", "n", "\x00", "{x}", "é" * 300, [], {}, [None], {"path": "/p/a.py"}),
    *([{"line": 5}], [{"line": -3, "hitCondition": "never"}], [{"name": "f"}], [{"dataId": "d"}], ["uncaught"]),
    *(1_000_001, 1_000_002, {"path": "relative", "sourceReference": 4}, {"sourceReference": 2**60}),
)


class Peer:
    def __init__(self, stream: TcpStream) -> None:
        self.answered: list[dap.ResponseReceived] = []
        self._stream = stream
        self._connection = dap.Connection()
        self._heard = anyio.Event()

    async def hear(self) -> None:
        try:
            while True:
                self._connection.receive_data(await self._stream.receive())
                self.answered += [it for it in self._connection.events() if isinstance(it, dap.ResponseReceived)]
                heard, self._heard = self._heard, anyio.Event()
                heard.set()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return

    async def ask(self, command: str, arguments: Any) -> None:
        await self._stream.send(self._connection.send_request(command, arguments))

    async def until_answered(self, count: int) -> None:
        with anyio.fail_after(30):
            while len(self.answered) < count:
                await self._heard.wait()


@asynccontextmanager
async def visiting(bench: Bench, session: str) -> AsyncIterator[Peer]:
    ours, theirs = socket.socketpair()
    visit = Visit(TcpStream(ours), bench.service, Guest(bench.caller.workspace, bench.caller.cwd, session=session))
    stream = TcpStream(theirs)
    peer = Peer(stream)
    async with anyio.create_task_group() as group:
        group.start_soon(visit.run)
        group.start_soon(peer.hear)
        try:
            yield peer
        finally:
            stream.close()
        group.cancel_scope.cancel()


@pytest.mark.parametrize("seed", range(6))
async def test_every_request_is_answered_once_and_none_is_our_fault(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(seed)
    async with opened(tmp_path) as bench:
        bench.adapter.when("configurationDone", bench.adapter.stop)
        bench.adapter.when("next", bench.adapter.stop)
        started = await bench.call("start_debugging", program="app.py")
        async with visiting(bench, started["session_id"]) as peer:
            first = [("initialize", {"adapterID": "x"}), ("attach", {}), ("configurationDone", {})]
            asked = first if seed else []
            asked += [(dice.choice(COMMANDS), _arguments(dice)) for _ in range(150)]
            with caplog.at_level(logging.ERROR):
                for command, arguments in asked:
                    await peer.ask(command, arguments)
                await peer.until_answered(len(asked))
            assert sorted(it.message.request_seq for it in peer.answered) == list(range(1, len(asked) + 1))
            assert caplog.records == []
            codes = {_code(it) for it in peer.answered}
            assert "internal_error" not in codes
            assert len(codes) > 2, "it was tried in earnest"


def _arguments(dice: random.Random) -> Any:
    if dice.random() < 0.1:
        return dice.choice(VALUES)
    return {name: dice.choice(VALUES) for name in dice.sample(NAMES, dice.randrange(6))}


def _code(got: dap.ResponseReceived) -> str:
    body = dap.read_body(got.message, dict[str, Any])
    return "" if got.message.success else str(body["error"]["variables"]["code"])
