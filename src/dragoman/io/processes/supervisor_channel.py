"""The daemon's end of a supervisor's socket: whole messages out, with descriptors, and whole messages in."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence

from dragoman.io.files.system_calls import SystemCalls
from dragoman.io.processes.supervisor import unpack_messages

log = logging.getLogger(__name__)


class _OutgoingMessage:
    """It owns its descriptors: the caller may have been cancelled."""

    def __init__(self, data: bytes, descriptors: Sequence[int]) -> None:
        self.rest = memoryview(data)
        self.descriptors = descriptors

    def close(self) -> None:
        for fd in set(self.descriptors):
            os.close(fd)
        self.descriptors = ()


class SupervisorChannel:
    """Sends and receives whole messages. `on_message` gets each one; `on_close` is called once, after the last."""

    def __init__(
        self,
        system: SystemCalls,
        sock: socket.socket,
        on_message: Callable[[list[bytes]], None],
        on_close: Callable[[], None],
    ) -> None:
        self._system = system
        self._sock = sock
        self._on_message = on_message
        self._on_close = on_close
        self._incoming = bytearray()
        self._outgoing: deque[_OutgoingMessage] = deque()
        self._loop = asyncio.get_running_loop()
        sock.setblocking(False)
        self._loop.add_reader(sock, self._receive)

    def send(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        self._outgoing.append(_OutgoingMessage(data, descriptors))
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

    def _send_some(self, message: _OutgoingMessage) -> None:
        sent = self._system.send(self._sock, message.rest, message.descriptors)
        message.close()  # descriptors travel with the first byte
        message.rest = message.rest[sent:]
        if not message.rest:
            self._outgoing.popleft()

    def _stop_writing(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.remove_writer(self._sock)

    def _give_up(self, error: OSError) -> None:
        """Half a message cannot be taken back. Closing our side ends the tree; we keep reading until it is gone."""
        log.warning("cannot send to a supervisor any more: %s", error)
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
        for message in unpack_messages(self._incoming):
            self._on_message(message)
        if not data:
            self.close()
            self._on_close()
