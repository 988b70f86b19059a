"""Byte streams to a program or an adapter: pipes, our side of a terminal, and TCP without small-packet delays."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream, SocketAttribute
from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint_if_cancelled
from anyio.streams.stapled import StapledByteStream

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.errors import foreign_peer, hung_up, no_answer, not_reached, not_started_by_us
from dragoman.io.net.peers import TcpPeer, is_held_by, peer_of

MAX_RECEIVE = 256 * 1024
_TRY_AGAIN_S = 0.01
_GONE = {errno.EPIPE, errno.ECONNRESET, errno.ESHUTDOWN}
_ENDED = {errno.EIO, errno.ECONNRESET}  # a terminal whose last program closed it; a peer that died with data unread
_NOT_YET = {errno.ECONNREFUSED, errno.ECONNABORTED}


class _NonBlockingDescriptor:
    """The common part of non-blocking descriptors: try first, and wait for readiness only if necessary."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd

    def _read_now(self, at_most: int) -> bytes:
        return os.read(self._fd, at_most)

    def _write_now(self, data: memoryview) -> int:
        return os.write(self._fd, data)

    def _close_now(self) -> None:
        os.close(self._fd)

    async def _receive(self, max_bytes: int) -> bytes:
        await checkpoint_if_cancelled()
        while True:
            self._check_open()
            try:
                data = self._read_now(min(max_bytes, MAX_RECEIVE))
            except BlockingIOError:
                await anyio.wait_readable(self._fd)
                continue
            except OSError as error:
                if error.errno in _ENDED:
                    raise anyio.EndOfStream from error
                raise anyio.BrokenResourceError from error
            await cancel_shielded_checkpoint()  # during a flood, other tasks must get a turn
            if not data:
                raise anyio.EndOfStream
            return data

    async def _send(self, item: bytes) -> None:
        await checkpoint_if_cancelled()
        rest = memoryview(item)
        while rest:
            self._check_open()
            try:
                rest = rest[self._write_now(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._fd)
            except OSError as error:
                raise anyio.BrokenResourceError from error
        await cancel_shielded_checkpoint()

    def close(self) -> None:
        """A task that waits in it is woken with ClosedResourceError."""
        if self._fd >= 0:
            anyio.notify_closing(self._fd)
            self._close_now()
            self._fd = -1

    def _check_open(self) -> None:
        if self._fd < 0:
            raise anyio.ClosedResourceError


class PipeReader(_NonBlockingDescriptor, ByteReceiveStream):
    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._receive(max_bytes)

    async def aclose(self) -> None:
        self.close()


class PipeWriter(_NonBlockingDescriptor, ByteSendStream):
    async def send(self, item: bytes) -> None:
        await self._send(item)

    async def aclose(self) -> None:
        self.close()


class TcpStream(_NonBlockingDescriptor, ByteStream):
    """Sends and acknowledges at once: a peer that writes in two pieces would otherwise wait 40 ms for each."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock.fileno())
        self._sock = sock
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._acknowledge_at_once()

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """A caller that does not read for a while can ask the socket whether the other side is still there."""
        return {SocketAttribute.raw_socket: lambda: self._sock}

    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._receive(max_bytes)

    async def send(self, item: bytes) -> None:
        await self._send(item)

    def send_now(self, data: bytes | bytearray) -> int:
        """Send as much as possible without waiting; for small messages, each of which would otherwise cost a turn of
        the loop."""
        self._check_open()
        try:
            return self._write_now(memoryview(data))
        except BlockingIOError:
            return 0
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        self._check_open()
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno not in _GONE | {errno.ENOTCONN}:
                raise

    async def aclose(self) -> None:
        self.close()

    def _read_now(self, at_most: int) -> bytes:
        data = self._sock.recv(at_most)
        self._acknowledge_at_once()
        return data

    def _close_now(self) -> None:
        self._sock.close()

    def _acknowledge_at_once(self) -> None:
        """The kernel falls back to delayed acknowledgements by itself, so the option is set again after every read."""
        if sys.platform == "linux" and self._sock.family != socket.AF_UNIX:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


class HasStdio(Protocol):
    @property
    def stdin(self) -> ByteSendStream: ...

    @property
    def stdout(self) -> ByteReceiveStream: ...


def connect_stdio(child: HasStdio) -> ByteStream:
    """The program's standard streams as one stream; closing it closes both."""
    return StapledByteStream(child.stdin, child.stdout)


Pids = Callable[[], Iterable[int]]
"""Processes that may be at the other end; called in a thread when a connection is to be checked."""


async def connect_tcp(
    host: str,
    port: int,
    *,
    deadline_s: float,
    retry: bool = True,
    of: Pids | None = None,
    users: frozenset[int] = frozenset(),
) -> TcpStream:
    """Connect. With `retry`, a refused connection is tried again until the deadline.

    A server on this machine must belong to our user (or to root, which may do anything anyway): another user may have
    taken the port before the adapter did. `users` are further allowed users. With `of`, it must be one of these
    processes.
    """
    try:
        with anyio.fail_after(deadline_s):
            sock = await _connected(host, port, retry=retry)
            return await _checked(sock, host, port, of, users)
    except TimeoutError as error:
        raise no_answer(host=host, port=port, seconds=deadline_s) from error


async def _connected(host: str, port: int, *, retry: bool) -> socket.socket:
    while True:
        try:
            return await dial(host, port)
        except OSError as error:
            if not retry or error.errno not in _NOT_YET:
                raise _refused(host, port, error) from error
        await anyio.sleep(_TRY_AGAIN_S)


async def dial(host: str, port: int) -> socket.socket:
    """Connect to the first address of the host that answers. The owner has not been checked yet."""
    refusal: OSError | None = None
    for family, kind, protocol, _, address in await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, address)
        except OSError as error:
            sock.close()
            refusal = refusal or error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise refusal or OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))


async def connect_unix(path: Path, *, deadline_s: float) -> TcpStream:
    """Connect to a Unix socket; one that does not exist yet is retried. The permissions of its folder decide who may
    create it."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        with anyio.fail_after(deadline_s):
            while True:
                with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                    await asyncio.get_running_loop().sock_connect(sock, str(path))
                    return TcpStream(sock)
                await anyio.sleep(_TRY_AGAIN_S)
    except BaseException as error:
        sock.close()
        if isinstance(error, TimeoutError):
            raise not_reached(seconds=deadline_s) from error
        raise


async def accept_from(listener: socket.socket, of: Pids, *, deadline_s: float) -> TcpStream:
    """Accept the first connection of one of these processes; any other is closed unread."""
    try:
        with anyio.fail_after(deadline_s):
            while True:
                sock, _ = await asyncio.get_running_loop().sock_accept(listener)
                if await anyio.to_thread.run_sync(_is_of, sock, of):
                    return TcpStream(sock)
                sock.close()
    except TimeoutError as error:
        raise not_reached(seconds=deadline_s) from error


def _is_of(sock: socket.socket, of: Pids) -> bool:
    return is_held_by(sock, of())


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago: the user of the port must check who answers."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def owner_of(sock: socket.socket) -> TcpPeer:
    """The owner of the process that accepted our connection, once one has. The caller sets the deadline."""
    while (peer := await anyio.to_thread.run_sync(peer_of, sock)).is_unaccepted:  # noqa: ASYNC110  no event
        await anyio.sleep(_TRY_AGAIN_S)
    return peer


def is_trusted_owner(peer: TcpPeer, users: frozenset[int] = frozenset()) -> bool:
    """Whether it is this user, root, or one of `users`. An unknown owner on this machine is not trusted if the
    system reports owners."""
    if peer.uid is None:
        return not peer.is_here or sys.platform != "linux"
    return peer.uid in {0, os.getuid(), *users}


async def _checked(sock: socket.socket, host: str, port: int, of: Pids | None, users: frozenset[int]) -> TcpStream:
    try:
        peer = await owner_of(sock)
        if not is_trusted_owner(peer, users):
            raise hung_up(host=host, port=port) if peer.uid is None else foreign_peer(host=host, port=port)
        if of is not None and not await anyio.to_thread.run_sync(_is_of, sock, of):
            raise not_started_by_us(host=host, port=port)
        return TcpStream(sock)
    except BaseException:
        sock.close()
        raise


def _refused(host: str, port: int, error: OSError) -> DragomanError:
    """The reason by error number if there is one: the text of the event loop's error describes the call."""
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
    return DragomanError(
        "connection_refused",
        localize("Could not connect to {host}:{port}: {reason}.", host=host, port=port, reason=reason),
        hint=localize("Check that the program is running and listening on that port."),
    )
