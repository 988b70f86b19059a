"""debugpy's adapter with sockets that answer at once, and only to this user. Run by its path, in a process of its own.

What debugs the program writes a message in two pieces and waits 44 ms for the first one's acknowledgement. From outside
that is cured where the system allows it; in here it always is. And the adapter listens on a port, where whoever comes
may start a program as this user.
"""

from __future__ import annotations

import importlib.metadata
import io
import runpy
import socket
import sys
from typing import Any


class _QuickSocket(socket.socket):
    def accept(self) -> tuple[socket.socket, Any]:
        while True:
            connection, address = super().accept()
            if _is_own(connection):
                return connection, address
            connection.close()

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        got = super().recv_into(*arguments, **named)
        _acknowledge_at_once(self)
        return got

    def makefile(self, *arguments: Any, **named: Any) -> Any:
        """debugpy reads the header of each message byte by byte, a call to the system for each: a third of its time."""
        made = super().makefile(*arguments, **named)
        return _ReadAhead(made) if isinstance(made, socket.SocketIO) and made.readable() else made


class _ReadAhead:
    """Reads what is there, writes at once, and is closed also while somebody reads, which a buffer would wait for."""

    def __init__(self, raw: socket.SocketIO) -> None:
        ahead = io.BufferedReader(raw)
        self.readline, self.read = ahead.readline, ahead.read
        self.write, self.flush, self.close = raw.write, raw.flush, raw.close


def _acknowledge_at_once(sock: socket.socket) -> None:
    """The kernel falls back to delayed acknowledgements by itself, so it is told again after every read."""
    if sys.platform == "linux" and sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _is_own(connection: socket.socket) -> bool:
    """Root's too: a program that is debugged with `sudo` connects as root."""
    from dragoman.transport.peers import is_admitted  # noqa: PLC0415  while the program starts: nobody waits for it

    return is_admitted(connection, frozenset({0}))


def main() -> None:
    # Read of every installed package, for a log that nobody keeps.
    importlib.metadata.distributions = lambda **_: iter(())
    socket.socket = _QuickSocket  # type: ignore[misc]  # what the module itself makes, an accepted one too, is of it
    import debugpy  # noqa: F401, PLC0415  its adapter looks for it beside the script otherwise

    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
