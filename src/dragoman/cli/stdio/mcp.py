"""`dragoman mcp`: the process that an MCP client starts. It copies lines between the client's pipes and the daemon.

It uses only the standard library and one thread with one `poll`: it starts within milliseconds, reads from neither side
more than the other accepts, and outlives the daemon (the rules are in the JSON-RPC `Relay`). Standard output carries
nothing but protocol lines.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from dragoman.cli.caller import caller_info, working_folder
from dragoman.cli.output import ExitCode, render, report_error
from dragoman.cli.remote.options import chosen_target, is_remote
from dragoman.cli.stdio.daemon_search import Connector, DaemonConnector, DaemonSearch
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.io.errors import daemon_gone
from dragoman.io.net.descriptors import CHUNK_SIZE, nonblocking_writer, read_available
from dragoman.protocols.jsonrpc import Relay

_HANGUP_EVENTS = select.POLLERR | select.POLLHUP | select.POLLNVAL
# poll reports a half-closed socket only on request, and only on Linux.
_PEER_CLOSED: int = getattr(select, "POLLRDHUP", 0)

_FIRST_PAUSE_S = 0.05
# After the end of input: time for answers that are almost ready. A longer call ends with its client.
_ANSWER_TIMEOUT_S = 2.0
_WRITE_TIMEOUT_S = 2.0
# A running daemon answers a handshake within this time; one that has yet to start is not waited for.
_HANDSHAKE_TIMEOUT_S = 0.5
_MAX_FAILURES = 6

_Interest = tuple[int, Callable[[int], None]]


class _ClientGoneError(Exception):
    """The client closed the connection."""


def mcp(*, workspace: Path = Path(), tools: str = "", structured: str = "", schemas: str = "") -> int:
    folder = _workspace_folder(workspace)
    sets = [name.strip() for name in tools.split(",") if name.strip()]
    chosen = {**caller_info(folder), "tools": sets, "structured": structured, "schemas": schemas}
    connector = _connector(folder, chosen)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with contextlib.suppress(_ClientGoneError):
        McpPump(connector, 0, private_stdout()).run()
    return ExitCode.OK


def _connector(folder: Path, about: Mapping[str, Any]) -> Connector:
    target = chosen_target()
    if target is None:
        return DaemonConnector(find_paths(), folder, about)
    from dragoman.cli.remote.connector import RemoteConnector

    return RemoteConnector(target, about)


class McpPump:
    """Copies lines between one MCP client and the daemon, and survives the end of the daemon.

    It owns the client's descriptors, the socket to the daemon and the search for one. `Relay` decides what a line
    means, and what is answered or replayed when the daemon changes. It never blocks on one side while the other is
    ready.
    """

    def __init__(self, connector: Connector, client_in: int, client_out: int) -> None:
        self._connector = connector
        self._in = client_in
        self._out = client_out
        self._write = nonblocking_writer(client_out)
        self._relay = Relay()
        self._daemon: socket.socket | None = None
        self._search: DaemonSearch | None = None
        self._was_connected = False
        self._has_received = False
        self._failures = 0
        self._reported_code = ""
        self._exit_deadline_s: float | None = None
        self._last_progress_s = 0.0

    def run(self) -> NoReturn:
        self._search_daemon()
        while True:
            interests = self._interests()
            poll = select.poll()
            for fd, (events, _) in interests.items():
                poll.register(fd, events)
            for fd, event in poll.poll(self._poll_timeout_ms()):
                interests[fd][1](event)

    def _poll_timeout_ms(self) -> int | None:
        """The time until exit. After the end of input, pending answers are still delivered: `printf … |
        dragoman mcp`.
        """
        if self._exit_deadline_s is None:
            return None
        until_s = self._exit_deadline_s
        if self._relay.to_client:  # a client that does not read has gone
            until_s = min(until_s, self._last_progress_s + _WRITE_TIMEOUT_S)
        left_s = until_s - time.monotonic()
        if left_s <= 0 or not (self._relay.needs_daemon or self._relay.to_client):
            raise _ClientGoneError
        return int(left_s * 1000) + 1

    def _interests(self) -> dict[int, _Interest]:
        """What to poll for. A client that hangs up is noticed even if nothing is read from it or written to it."""
        relay = self._relay
        interests: dict[int, _Interest] = {
            self._out: (select.POLLOUT if relay.to_client else 0, self._to_client),
        }
        if self._exit_deadline_s is None:
            interests[self._in] = (select.POLLIN if relay.reads_client else _PEER_CLOSED, self._from_client)
        if self._search is not None:
            interests[self._search.done_fd] = (select.POLLIN, self._finish_search)
        if self._daemon is not None:
            events = (select.POLLIN if relay.reads_daemon else 0) | (select.POLLOUT if relay.to_daemon else 0)
            if events:  # with no events, poll would report a closed daemon again and again
                interests[self._daemon.fileno()] = (events, self._with_daemon)
        return interests

    def _from_client(self, event: int) -> None:
        is_readable = event & (select.POLLIN | select.POLLHUP) and self._relay.reads_client
        data = read_available(self._in) if is_readable else b""
        if data == b"":
            self._set_exit_deadline(_ANSWER_TIMEOUT_S if is_readable else 0.0)
            return
        self._relay.receive_from_client(data or b"")
        self._search_daemon()
        self._to_daemon()

    def _set_exit_deadline(self, within_s: float) -> None:
        self._last_progress_s = time.monotonic()
        self._exit_deadline_s = self._last_progress_s + (
            _HANDSHAKE_TIMEOUT_S if self._relay.is_only_handshake else within_s
        )

    def _to_client(self, event: int) -> None:
        if event & _HANGUP_EVENTS:
            raise _ClientGoneError
        try:
            self._relay.to_client.took(self._write(self._relay.to_client.head()))
            self._last_progress_s = time.monotonic()
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
            data = daemon.recv(CHUNK_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._receive(data)
        else:
            self._disconnect(daemon)

    def _receive(self, data: bytes) -> None:
        self._has_received = True
        self._last_progress_s = time.monotonic()
        self._relay.receive_from_daemon(data)

    def _to_daemon(self) -> None:
        while self._daemon is not None and self._relay.to_daemon:
            try:
                sent = self._daemon.send(self._relay.to_daemon.head()[:CHUNK_SIZE])
            except BlockingIOError:
                return
            except OSError:
                self._drain(self._daemon)
            else:
                self._relay.sent_to_daemon(sent)

    def _drain(self, daemon: socket.socket) -> None:
        """Read the answers that are still in the socket of a daemon that accepts no more input."""
        with contextlib.suppress(OSError):
            while data := daemon.recv(CHUNK_SIZE):
                self._receive(data)
        self._disconnect(daemon)

    def _disconnect(self, daemon: socket.socket) -> None:
        daemon.close()
        self._daemon = None
        fault = self._connector.fault()
        if fault is None:
            self._relay.daemon_lost(
                "daemon_restarted",
                render(
                    localize(
                        "The daemon stopped before it answered, so this call may or may not have taken effect. The "
                        "next call uses a new daemon."
                    )
                ),
            )
        else:
            self._relay.daemon_lost(fault.code, _sentences(fault))
        self._failures = 0 if self._has_received else self._failures + 1
        if self._failures < _MAX_FAILURES:
            self._search_daemon()
        else:
            self._failures = 0
            self._report_failure(daemon_gone())

    def _search_daemon(self) -> None:
        """Search for a daemon. After one that closed the connection without a message, wait longer each time."""
        if self._daemon is not None:
            return
        if self._search is None:
            pause_s = _FIRST_PAUSE_S * (2**self._failures - 1)
            self._search = DaemonSearch(self._connector, is_first=not self._was_connected, pause_s=pause_s)
        if self._relay.needs_daemon:
            self._search.request_daemon()

    def _finish_search(self, _: int) -> None:
        search, self._search = self._search, None
        assert search is not None
        search.close()
        if isinstance(search.outcome, socket.socket):
            self._connect(search.outcome)
        elif isinstance(search.outcome, DragomanError):
            self._report_failure(search.outcome)
        elif self._relay.needs_daemon:  # a request arrived just as the search gave up
            self._search_daemon()

    def _connect(self, daemon: socket.socket) -> None:
        daemon.setblocking(False)
        self._daemon = daemon
        self._was_connected = True
        self._has_received = False
        self._reported_code = ""
        self._relay.daemon_found()
        self._to_daemon()

    def _report_failure(self, error: DragomanError) -> None:
        """Report the error on standard error and to the pending calls. The client's next line starts a new search."""
        if error.code != self._reported_code:  # once: a client may not read standard error, and a full pipe blocks
            self._reported_code = error.code
            with contextlib.suppress(OSError, AttributeError):  # standard error is closed
                report_error(error)
        self._relay.daemon_not_found(error.code, _sentences(error))


def _sentences(error: DragomanError) -> str:
    return f"{render(error.message)} {render(error.hint)}" if error.hint else render(error.message)


def _workspace_folder(workspace: Path) -> Path:
    if is_remote():
        return workspace
    if workspace == Path():
        return Path(working_folder())
    from dragoman.cli.daemon import launcher

    return launcher.require_folder(workspace)


def private_stdout() -> int:
    """Return a copy of standard output; anything else that this process prints goes to standard error."""
    own = os.dup(1)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    return own


def _end(*_: object) -> NoReturn:
    raise _ClientGoneError
