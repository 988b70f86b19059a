"""`dragoman mcp`: the process that an MCP client starts. A pump between the client's pipes and the daemon's socket.

Standard library alone and one thread at one `poll`: it is up within milliseconds, it reads from neither side more than
the other takes, and it outlives the daemon (`wire.jsonrpc.Relay` has the rules). Standard output carries protocol lines
and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from dragoman.cli.hello import about, working_folder
from dragoman.cli.mcp_search import Search, Seeker
from dragoman.cli.output import ExitCode, report, shown
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import daemon_gone
from dragoman.wire.jsonrpc import Relay

_PIECE = 1 << 16
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
# A half-closed socket says so only to those who ask, and only Linux knows the question.
_LEFT: int = getattr(select, "POLLRDHUP", 0)

_FIRST_PAUSE_S = 0.05
# After the end of input: for what is answered at once. A call that waits longer ends with its client.
_ANSWERED_WITHIN_S = 2.0
_TAKEN_WITHIN_S = 2.0
# A daemon that is there answers a handshake in this; one that has yet to start is not waited for.
_GREETED_WITHIN_S = 0.5
_FAILURES_AT_MOST = 6

_Interest = tuple[int, Callable[[int], None]]


class _ClientGoneError(Exception):
    """Nobody is left to serve."""


def mcp(*, workspace: Path = Path(), tools: str = "") -> int:
    folder = _folder(workspace)
    sets = [name.strip() for name in tools.split(",") if name.strip()]
    seeker = Seeker(find_places(), folder, {**about(folder), "tools": sets})
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with contextlib.suppress(_ClientGoneError):
        Pump(seeker, 0, _own_output()).run()
    return ExitCode.OK


class Pump:
    def __init__(self, seeker: Seeker, client_in: int, client_out: int) -> None:
        self._seeker = seeker
        self._in = client_in
        self._out = client_out
        self._write = _writer(client_out)
        self._relay = Relay()
        self._daemon: socket.socket | None = None
        self._search: Search | None = None
        self._found_once = False
        self._heard = False
        self._failures = 0
        self._reported = ""
        self._leaves_at_s: float | None = None
        self._moved_at_s = 0.0

    def run(self) -> NoReturn:
        self._look()
        while True:
            interests = self._interests()
            poll = select.poll()
            for fd, (events, _) in interests.items():
                poll.register(fd, events)
            for fd, event in poll.poll(self._patience_ms()):
                interests[fd][1](event)

    def _patience_ms(self) -> int | None:
        """Input that has ended is not the end while there are answers to give: `printf … | dragoman mcp`."""
        if self._leaves_at_s is None:
            return None
        until_s = self._leaves_at_s
        if self._relay.to_client:  # who takes nothing has left
            until_s = min(until_s, self._moved_at_s + _TAKEN_WITHIN_S)
        left_s = until_s - time.monotonic()
        if left_s <= 0 or not (self._relay.needs_daemon or self._relay.to_client):
            raise _ClientGoneError
        return int(left_s * 1000) + 1

    def _interests(self) -> dict[int, _Interest]:
        """A client that hangs up is noticed even while nothing is read from it or written to it."""
        relay = self._relay
        interests: dict[int, _Interest] = {
            self._out: (select.POLLOUT if relay.to_client else 0, self._to_client),
        }
        if self._leaves_at_s is None:
            interests[self._in] = (select.POLLIN if relay.reads_client else _LEFT, self._from_client)
        if self._search is not None:
            interests[self._search.bell] = (select.POLLIN, self._searched)
        if self._daemon is not None:
            events = (select.POLLIN if relay.reads_daemon else 0) | (select.POLLOUT if relay.to_daemon else 0)
            if events:  # without any, a dead daemon would ring for ever
                interests[self._daemon.fileno()] = (events, self._with_daemon)
        return interests

    def _from_client(self, event: int) -> None:
        is_readable = event & (select.POLLIN | select.POLLHUP) and self._relay.reads_client
        data = _read(self._in) if is_readable else b""
        if data == b"":
            self._leave(_ANSWERED_WITHIN_S if is_readable else 0.0)
            return
        self._relay.receive_from_client(data or b"")
        self._look()
        self._to_daemon()

    def _leave(self, within_s: float) -> None:
        self._moved_at_s = time.monotonic()
        self._leaves_at_s = self._moved_at_s + (_GREETED_WITHIN_S if self._relay.only_greets else within_s)

    def _to_client(self, event: int) -> None:
        if event & _GONE:
            raise _ClientGoneError
        try:
            self._relay.to_client.took(self._write(self._relay.to_client.head()))
            self._moved_at_s = time.monotonic()
        except BlockingIOError:
            return
        except OSError as error:
            raise _ClientGoneError from error

    def _with_daemon(self, event: int) -> None:
        if event & select.POLLOUT:
            self._to_daemon()
        if event & ~select.POLLOUT and self._daemon is not None:
            self._from_daemon(self._daemon)

    def _from_daemon(self, daemon: socket.socket) -> None:
        try:
            data = daemon.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._hear(data)
        else:
            self._lose(daemon)

    def _hear(self, data: bytes) -> None:
        self._heard = True
        self._moved_at_s = time.monotonic()
        self._relay.receive_from_daemon(data)

    def _to_daemon(self) -> None:
        while self._daemon is not None and self._relay.to_daemon:
            try:
                sent = self._daemon.send(self._relay.to_daemon.head()[:_PIECE])
            except BlockingIOError:
                return
            except OSError:
                self._hear_out(self._daemon)
            else:
                self._relay.sent_to_daemon(sent)

    def _hear_out(self, daemon: socket.socket) -> None:
        """It takes nothing any more, but what it answered before that is still in the socket."""
        with contextlib.suppress(OSError):
            while data := daemon.recv(_PIECE):
                self._hear(data)
        self._lose(daemon)

    def _lose(self, daemon: socket.socket) -> None:
        daemon.close()
        self._daemon = None
        self._relay.daemon_lost(
            "daemon_restarted",
            shown(
                say(
                    "The daemon ended before it answered; whether this call had an effect is not known. "
                    "The next call goes to a new daemon."
                )
            ),
        )
        self._failures = 0 if self._heard else self._failures + 1
        if self._failures < _FAILURES_AT_MOST:
            self._look()
        else:
            self._failures = 0
            self._not_found(daemon_gone())

    def _look(self) -> None:
        """After a daemon that let us in and never said a word, each time a little later."""
        if self._daemon is not None:
            return
        if self._search is None:
            pause_s = _FIRST_PAUSE_S * (2**self._failures - 1)
            self._search = Search(self._seeker, is_first=not self._found_once, pause_s=pause_s)
        if self._relay.needs_daemon:
            self._search.want()

    def _searched(self, _: int) -> None:
        search, self._search = self._search, None
        assert search is not None
        search.close()
        if isinstance(search.outcome, socket.socket):
            self._found(search.outcome)
        elif isinstance(search.outcome, DragomanError):
            self._not_found(search.outcome)
        elif self._relay.needs_daemon:  # it came to ask just as the search gave up
            self._look()

    def _found(self, daemon: socket.socket) -> None:
        daemon.setblocking(False)
        self._daemon = daemon
        self._found_once = True
        self._heard = False
        self._reported = ""
        self._relay.daemon_found()
        self._to_daemon()

    def _not_found(self, error: DragomanError) -> None:
        """Told to whoever waits, here and at the client; the client's next line begins a new search."""
        if error.code != self._reported:  # once: a client may never read our standard error, and a full one blocks
            self._reported = error.code
            with contextlib.suppress(OSError, AttributeError):  # closed, or never there
                report(error)
        text = f"{shown(error.message)} {shown(error.hint)}" if error.hint else shown(error.message)
        self._relay.daemon_not_found(error.code, text)


def _folder(workspace: Path) -> Path:
    if workspace == Path():
        return Path(working_folder())
    from dragoman.cli import launcher

    return launcher.folder(workspace)


def _own_output() -> int:
    """Our own copy of standard output; whatever else in this process prints goes to standard error instead."""
    own = os.dup(1)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    return own


def _writer(fd: int) -> Callable[[memoryview], int]:
    """Writes what goes without waiting. Others may share the descriptor, so it is not made non-blocking."""
    if stat.S_ISSOCK(os.fstat(fd).st_mode):
        connection = socket.socket(fileno=fd)
        return lambda data: connection.send(data[:_PIECE], socket.MSG_DONTWAIT)
    return lambda data: os.write(fd, data[: select.PIPE_BUF])


def _read(fd: int) -> bytes | None:
    """None: nothing there after all, on a descriptor that somebody else has made non-blocking."""
    try:
        return os.read(fd, _PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _end(*_: object) -> NoReturn:
    raise _ClientGoneError
