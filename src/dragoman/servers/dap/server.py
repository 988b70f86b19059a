"""The DAP server: accepts editors on its Unix socket and through `dragoman dap --stdio`."""

from __future__ import annotations

import logging
import socket
from functools import partial

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.debug.service import DebugService
from dragoman.io.net.accept_loop import PeerDeadlines, accept_forever, share_of_descriptors
from dragoman.io.net.streams import TcpStream
from dragoman.io.net.unix_socket import is_own_peer
from dragoman.protocols.control import Hello
from dragoman.servers.dap.connection import EditorConnection
from dragoman.servers.dap.editor_context import EditorContext

log = logging.getLogger(__name__)

FIRST_REQUEST_WITHIN_S = 30.0


class DapServer:
    """Serves a limited number of editors. One more is closed at once."""

    def __init__(self, service: DebugService, default_context: EditorContext) -> None:
        """`unknown` is the context of an editor that connects to the socket and says nothing about itself."""
        self._service = service
        self._default_context = default_context
        self.connections: set[EditorConnection] = set()
        self._at_most = share_of_descriptors(8, at_most=128)
        self._waiting = PeerDeadlines(share_of_descriptors(16, at_most=64))

    def check_access(self, hello: Hello) -> None:
        """Refuse before the welcome, so that the pump can report it to its editor and to a person."""
        context = EditorContext.of(hello)
        if context.session:
            self._service.find_in_any_workspace(context.session)

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        """Role `dap` of the control socket: after the welcome, the stream is plain DAP."""
        await self._serve_connection(EditorConnection(stream, self._service, EditorContext.of(hello)), rest)

    async def serve(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as group:
            await accept_forever(listener, partial(self._accept, group=group), self._waiting.drop_longest)

    def _accept(self, connection: socket.socket, group: TaskGroup) -> None:
        if not is_own_peer(connection):
            log.warning("a process of another user was refused at the editors' socket")
            connection.close()
        elif len(self.connections) >= self._at_most:
            log.warning("an editor was turned away: %d are connected", len(self.connections))
            connection.close()
        else:
            group.start_soon(
                self._serve_connection, EditorConnection(TcpStream(connection), self._service, self._default_context)
            )

    async def _serve_connection(self, editor: EditorConnection, rest: bytes = b"") -> None:
        self.connections.add(editor)
        self._waiting.begin(editor, editor.end, FIRST_REQUEST_WITHIN_S)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._wait_for_first_request, editor)
                await editor.run(rest)
                group.cancel_scope.cancel("the editor left")
        except Exception:
            log.exception("an editor's connection failed")
        finally:
            self._waiting.end(editor)
            self.connections.discard(editor)
            if editor.fault is not None:
                log.warning("an editor's connection was closed: %s", editor.fault)

    async def _wait_for_first_request(self, editor: EditorConnection) -> None:
        await editor.first_request.wait()
        self._waiting.end(editor)
