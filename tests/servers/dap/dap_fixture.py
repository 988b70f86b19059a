"""An editor at the DAP server within this process, over a scripted debugger."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from dragoman.io.net.streams import TcpStream
from dragoman.protocols import dap
from dragoman.servers.dap.connection import EditorConnection
from dragoman.servers.dap.editor_context import EditorContext
from dragoman.workspace.caller import RemoteCaller
from tests.tools.tool_fixture import Bench

LOOKS = {
    "readMemory": "supportsReadMemoryRequest",
    "disassemble": "supportsDisassembleRequest",
    "stepInTargets": "supportsStepInTargetsRequest",
    "gotoTargets": "supportsGotoTargetsRequest",
    "breakpointLocations": "supportsBreakpointLocationsRequest",
}
CHANGES = {
    "writeMemory": "supportsWriteMemoryRequest",
    "terminateThreads": "supportsTerminateThreadsRequest",
    "goto": "supportsGotoTargetsRequest",
    "restartFrame": "supportsRestartFrame",
    "stepBack": "supportsStepBack",
    "reverseContinue": "supportsStepBack",
}
ALL_OF_IT = frozenset({*LOOKS.values(), *CHANGES.values()})


class Peer:
    def __init__(self, stream: TcpStream) -> None:
        self.answered: list[dap.ResponseReceived] = []
        self._stream = stream
        self._connection = dap.Connection()
        self._received = anyio.Event()

    async def receive(self) -> None:
        try:
            while True:
                self._connection.receive_data(await self._stream.receive())
                self.answered += [it for it in self._connection.events() if isinstance(it, dap.ResponseReceived)]
                entries, self._received = self._received, anyio.Event()
                entries.set()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return

    async def asks(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of the answer; of a refusal, its code."""
        request = self._connection.send_request(command, arguments)
        await self._stream.send(request)
        seq = json.loads(request.partition(b"\r\n\r\n")[2])["seq"]
        with anyio.fail_after(30):
            while not (found := [it for it in self.answered if it.message.request_seq == seq]):
                await self._received.wait()
        body = dap.read_body(found[0].message, dict[str, Any])
        return body if found[0].message.success else {"code": body["error"]["variables"]["code"]}

    async def ask(self, command: str, arguments: Any) -> None:
        await self._stream.send(self._connection.send_request(command, arguments))

    async def until_answered(self, count: int) -> None:
        with anyio.fail_after(30):
            while len(self.answered) < count:
                await self._received.wait()


@asynccontextmanager
async def visiting(
    bench: Bench, session: str, *, read_only: bool = False, remote: RemoteCaller | None = None
) -> AsyncIterator[Peer]:
    ours, theirs = socket.socketpair()
    folder = bench.caller.workspace
    editor_context = EditorContext(folder, bench.caller.cwd, session=session, read_only=read_only, remote=remote)
    connection = EditorConnection(TcpStream(ours), bench.service, editor_context)
    stream = TcpStream(theirs)
    peer = Peer(stream)
    async with anyio.create_task_group() as group:
        group.start_soon(connection.run)
        group.start_soon(peer.receive)
        try:
            yield peer
        finally:
            stream.close()
        group.cancel_scope.cancel()
