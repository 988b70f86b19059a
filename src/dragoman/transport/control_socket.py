"""Our end of a supervisor's socket: whole messages out, with descriptors, and whole messages in; nobody waits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence

from dragoman.transport.supervisor import unpacked
from dragoman.transport.system import System

log = logging.getLogger(__name__)


class _Message:
    """It owns its descriptors: whoever asked for it may have been cancelled and forgotten them."""

    def __init__(self, data: bytes, descriptors: Sequence[int]) -> None:
        self.rest = memoryview(data)
        self.descriptors = descriptors

    def close(self) -> None:
        for fd in set(self.descriptors):
            os.close(fd)
        self.descriptors = ()


class ControlSocket:
    """`told` gets each message; `over` is called once, when the other side has nothing left to tell."""

    def __init__(
        self, system: System, sock: socket.socket, told: Callable[[list[bytes]], None], over: Callable[[], None]
    ) -> None:
        self._system = system
        self._sock = sock
        self._told = told
        self._over = over
        self._incoming = bytearray()
        self._outgoing: deque[_Message] = deque()
        self._loop = asyncio.get_running_loop()
        sock.setblocking(False)
        self._loop.add_reader(sock, self._receive)

    def send(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        self._outgoing.append(_Message(data, descriptors))
        self._flush()

    def close(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock.close()
        self._drop_outgoing()

    def _flush(self) -> None:
        try:
            while self._outgoing and self._sock.fileno() >= 0:
                self._send_some(self._outgoing[0])
            self._drop_outgoing()
        except BlockingIOError:
            self._loop.add_writer(self._sock, self._flush)
        except OSError as error:
            self._give_up(error)
        else:
            self._stop_writing()

    def _send_some(self, message: _Message) -> None:
        sent = self._system.send(self._sock, message.rest, message.descriptors)
        message.close()  # descriptors travel with the first byte
        message.rest = message.rest[sent:]
        if not message.rest:
            self._outgoing.popleft()

    def _stop_writing(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.remove_writer(self._sock)

    def _give_up(self, error: OSError) -> None:
        """Half a message cannot be taken back. The end of our side ends the tree, and we read on until it is gone."""
        log.warning("a supervisor could not be told anything more: %s", error)
        self._drop_outgoing()
        self._stop_writing()
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def _drop_outgoing(self) -> None:
        while self._outgoing:
            self._outgoing.popleft().close()

    def _receive(self) -> None:
        try:
            data = self._sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._incoming += data
        for message in unpacked(self._incoming):
            self._told(message)
        if not data:
            self.close()
            self._over()
