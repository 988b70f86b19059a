"""In the daemon's place: takes what a wrapper sends, acknowledges it, and lets a test ask what came."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from dragoman.protocols.omnish import DaemonConnection, RequestReceived
from dragoman.protocols.omnish.messages import (
    Ack,
    CommandBoundary,
    CommandComplete,
    CommandRecord,
    Event,
    IoData,
    IoDirection,
    SessionEnd,
    SessionStart,
)

_Message = TypeVar("_Message")


class StandIn:
    """Each connection in a thread of its own; `silent` takes everything and says nothing."""

    def __init__(self, address: Path) -> None:
        self.address = address
        self.messages: list[object] = []
        self.silent = False
        self._clients: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(address))
        self._server.listen()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def all(self, kind: type[_Message]) -> list[_Message]:
        return [message for message in self.messages if isinstance(message, kind)]

    def output(self) -> bytes:
        return b"".join(it.data for it in self.all(IoData) if it.direction is IoDirection.OUTPUT)

    def first_output(self) -> bytes:
        """What was printed between the first command's beginning and its end."""
        kinds = [it.event_type if isinstance(it, Event) else it for it in self.messages]
        began = next(at for at, it in enumerate(kinds) if isinstance(it, CommandBoundary))
        ended = next(at for at, it in enumerate(kinds) if isinstance(it, CommandComplete))
        return b"".join(it.data for it in self.messages[began:ended] if isinstance(it, IoData))

    def typed(self) -> bytes:
        return b"".join(it.data for it in self.all(IoData) if it.direction is IoDirection.INPUT)

    def records(self) -> list[CommandRecord]:
        return [it.record for it in self.all(CommandComplete)]

    def lines(self) -> list[str | None]:
        return [record.command_line for record in self.records()]

    def boundaries(self) -> list[str]:
        return [it.event_type.command for it in self.all(Event) if isinstance(it.event_type, CommandBoundary)]

    def ends(self) -> list[int | None]:
        return [it.exit_code for it in self.all(SessionEnd)]

    def starts(self) -> list[dict[str, str]]:
        return [it.attrs for it in self.all(SessionStart)]

    def break_off(self) -> None:
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._clients.clear()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.break_off()
        self.address.unlink(missing_ok=True)
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self._clients.append(client)
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        connection = DaemonConnection()
        with client, contextlib.suppress(OSError):
            while data := client.recv(1 << 18):
                connection.receive_data(data)
                for event in connection.events():
                    assert isinstance(event, RequestReceived)
                    self.messages.append(event.message)
                    if not self.silent:
                        client.sendall(connection.send(Ack(), event.request_id))


@contextlib.contextmanager
def stand_in(address: Path) -> Iterator[StandIn]:
    standing = StandIn(address)
    try:
        yield standing
    finally:
        standing.close()
