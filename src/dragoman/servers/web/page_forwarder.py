"""The role `page`: the bytes of one browser connection on another machine, for this daemon's own page.

The browser dials a port of its machine, where `dragoman page --on` listens. As long as one such connection is open, the
page may also be called by that port. The guard and the proof judge a request as always. Whoever is at that page is on
the other machine, and may do what other clients from there may.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream, SocketAttribute

from dragoman.access.request_guard import AllowedNames
from dragoman.core.errors import ErrorSpec
from dragoman.protocols.control import Hello
from dragoman.workspace.caller import RemoteCaller

_CONNECTS_WITHIN_S = 5.0
_ENDED = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

_bad_port = ErrorSpec("bad_arguments", "The role `page` needs the port that the browser connected to.")


class PageForwarder:
    def __init__(self, names: AllowedNames, instance: str, bind: str, port: int) -> None:
        self._names = names
        self._instance = instance
        self._address = bind, port
        self._remote: dict[tuple[str, int], RemoteCaller] = {}

    def remote_of(self, client: Sequence[Any] | None) -> RemoteCaller | None:
        """Who is behind a connection to the page's port, by the address that it comes from; None for this machine.
        What the browser says about itself does not count.
        """
        return self._remote.get((client[0], client[1])) if client else None

    def check_access(self, hello: Hello) -> None:
        _port(hello.about)

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        """It connects when the browser has sent something: a connection that says nothing has a deadline there."""
        with self._names.forwarding(f"{self._instance}.localhost:{_port(hello.about)}"), contextlib.suppress(*_ENDED):
            first = rest or await stream.receive()
            with anyio.fail_after(_CONNECTS_WITHIN_S):
                server = await anyio.connect_tcp(*self._address)
            async with server:
                address = server.extra(SocketAttribute.local_address)  # noqa: S610  of a socket, not of Django
                with self._from_afar(address, RemoteCaller.of(hello.about)):
                    await _forward(first, stream, server)

    @contextmanager
    def _from_afar(self, address: Sequence[Any], remote: RemoteCaller | None) -> Iterator[None]:
        """Before the first byte is sent: from then on, the page's server may look it up."""
        if remote is None:
            yield
            return
        key = (address[0], address[1])
        self._remote[key] = remote
        try:
            yield
        finally:
            del self._remote[key]


async def _forward(first: bytes, stream: ByteStream, server: ByteStream) -> None:
    await server.send(first)
    async with anyio.create_task_group() as group:
        group.start_soon(_copy, stream, server, group.cancel_scope)
        group.start_soon(_copy, server, stream, group.cancel_scope)


async def _copy(source: ByteReceiveStream, sink: ByteSendStream, scope: anyio.CancelScope) -> None:
    """HTTP needs no half of a connection: the end of one side ends both."""
    with contextlib.suppress(*_ENDED):
        while True:
            await sink.send(await source.receive())
    scope.cancel("one side closed")


def _port(about: Mapping[str, Any]) -> int:
    port = about.get("port")
    if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536:
        raise _bad_port()
    return port
