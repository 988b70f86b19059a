"""Starts debugpy's adapter with sockets that acknowledge at once and accept only this user. Run by its path, in a
process of its own.

pydevd writes a message in two pieces and waits 44 ms for the acknowledgement of the first one. From outside, this is
fixed only where the system allows it; here it always is. The adapter listens on a TCP port, where anybody who
connects could start a program as this user.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import runpy
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
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
    """The kernel falls back to delayed acknowledgements, so the option is set again after every read."""
    if sys.platform == "linux" and sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _is_own(connection: socket.socket) -> bool:
    """Root's too: a program that is debugged with `sudo` connects as root."""
    from dragoman.io.net.peers import is_from_allowed_user  # noqa: PLC0415  while the program starts: nobody waits for it

    return is_from_allowed_user(connection, frozenset({0}))


def _inject_by_our_launcher() -> None:
    """Into a program that runs already: debugpy's own way leaves advice on itself in that program's terminal."""
    clients: Any = importlib.import_module("debugpy.adapter.clients")  # which they import each other from
    launcher = Path(__file__).with_name("debugpy_launcher.py")

    def start(command: list[str], **more: Any) -> Any:
        return subprocess.Popen([command[0], str(launcher), *command[1:]], **more)  # noqa: S603

    clients.servers.subprocess = SimpleNamespace(Popen=start, PIPE=subprocess.PIPE, STDOUT=subprocess.STDOUT)


def main() -> None:
    # debugpy reads the metadata of every installed package for a log that is not kept.
    importlib.metadata.distributions = lambda **_: iter(())
    socket.socket = _QuickSocket  # type: ignore[misc]  # what the module itself makes, an accepted one too, is of it
    import debugpy  # noqa: F401, PLC0415  its adapter looks for it beside the script otherwise

    _inject_by_our_launcher()
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
