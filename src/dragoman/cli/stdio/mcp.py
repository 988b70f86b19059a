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
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from dragoman.cli.caller import caller_info, working_folder
from dragoman.cli.output import ExitCode
from dragoman.cli.remote.options import chosen_names, chosen_target, is_remote
from dragoman.cli.stdio.daemon_search import Connector, DaemonConnector
from dragoman.cli.stdio.daemon_side import DaemonSide, Interest
from dragoman.core.paths import find_paths
from dragoman.io.net.descriptors import nonblocking_writer, read_available

_HANGUP_EVENTS = select.POLLERR | select.POLLHUP | select.POLLNVAL
# poll reports a half-closed socket only on request, and only on Linux.
_PEER_CLOSED: int = getattr(select, "POLLRDHUP", 0)

# After the end of input: time for answers that are almost ready. A longer call ends with its client.
_ANSWER_TIMEOUT_S = 2.0
_WRITE_TIMEOUT_S = 2.0
# A running daemon answers a handshake within this time; one that has yet to start is not waited for.
_HANDSHAKE_TIMEOUT_S = 0.5


class ClientGoneError(Exception):
    """The client closed the connection."""


class ClientOutbox(Protocol):
    """Lines for the client, in order, as bytes."""

    def __bool__(self) -> bool: ...

    def head(self) -> memoryview: ...

    def took(self, count: int) -> object: ...


def mcp(*, workspace: Path = Path(), tools: str = "", structured: str = "", schemas: str = "") -> int:
    folder = _workspace_folder(workspace)
    sets = [name.strip() for name in tools.split(",") if name.strip()]
    choices = {"tools": sets, "structured": structured, "schemas": schemas}
    pump = _pump(folder, choices)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with contextlib.suppress(ClientGoneError):
        pump.run()
    return ExitCode.OK


def _pump(folder: Path, choices: Mapping[str, Any]) -> McpPump:
    if len(chosen_names()) > 1:
        from dragoman.cli.router.pump import open_router

        return open_router(folder, choices, 0, private_stdout())
    side = DaemonSide(_connector(folder, {**caller_info(folder), **choices}))
    return McpPump(side.relay, [side], 0, private_stdout())


def _connector(folder: Path, about: Mapping[str, Any]) -> Connector:
    target = chosen_target()
    if target is None:
        return DaemonConnector(find_paths(), folder, about)
    from dragoman.cli.remote.connector import RemoteConnector

    return RemoteConnector(target, about)


class Traffic(Protocol):
    """What the pump copies: what the client sends is taken, and what it is sent is in `to_client`."""

    @property
    def to_client(self) -> ClientOutbox: ...

    @property
    def reads_client(self) -> bool: ...

    @property
    def needs_daemon(self) -> bool:
        """Whether the client still waits for something."""

    @property
    def is_only_handshake(self) -> bool: ...

    def receive_from_client(self, data: bytes) -> None: ...


class McpPump:
    """Copies lines between one MCP client and the daemon, and survives the end of the daemon.

    It owns the client's descriptors. `DaemonSide` owns the connection to the daemon, and its `Relay` decides what a
    line means, and what is answered or replayed when the daemon changes. It never blocks on one side while the other
    is ready.
    """

    def __init__(self, traffic: Traffic, sides: Sequence[DaemonSide], client_in: int, client_out: int) -> None:
        self._traffic = traffic
        self._sides = sides
        self._in = client_in
        self._out = client_out
        self._write = nonblocking_writer(client_out)
        self._exit_deadline_s: float | None = None
        self._last_progress_s = 0.0

    def run(self) -> NoReturn:
        for side in self._sides:
            side.search_daemon()
        while True:
            self._poll(self._poll_timeout_ms())

    def _poll(self, timeout_ms: int | None) -> None:
        interests = self._interests()
        poll = select.poll()
        for fd, (events, _) in interests.items():
            poll.register(fd, events)
        for fd, event in poll.poll(timeout_ms):
            interests[fd][1](event)

    def _poll_timeout_ms(self) -> int | None:
        """The time until exit. After the end of input, pending answers are still delivered: `printf … |
        dragoman mcp`.
        """
        if self._exit_deadline_s is None:
            return None
        until_s = self._exit_deadline_s
        if self._traffic.to_client:  # a client that does not read has gone
            progress_s = max(self._last_progress_s, *(side.received_at_s for side in self._sides))
            until_s = min(until_s, progress_s + _WRITE_TIMEOUT_S)
        left_s = until_s - time.monotonic()
        if left_s <= 0 or not (self._traffic.needs_daemon or self._traffic.to_client):
            raise ClientGoneError
        return int(left_s * 1000) + 1

    def _interests(self) -> dict[int, Interest]:
        """What to poll for. A client that hangs up is noticed even if nothing is read from it or written to it."""
        interests: dict[int, Interest] = {
            self._out: (select.POLLOUT if self._traffic.to_client else 0, self._to_client),
        }
        if self._exit_deadline_s is None:
            interests[self._in] = (select.POLLIN if self._traffic.reads_client else _PEER_CLOSED, self._from_client)
        for side in self._sides:
            interests |= side.interests(reads=self._reads(side))
        return interests

    def _reads(self, side: DaemonSide) -> bool:
        return side.relay.reads_daemon

    def _from_client(self, event: int) -> None:
        is_readable = event & (select.POLLIN | select.POLLHUP) and self._traffic.reads_client
        data = read_available(self._in) if is_readable else b""
        if data == b"":
            self._set_exit_deadline(_ANSWER_TIMEOUT_S if is_readable else 0.0)
            return
        self._traffic.receive_from_client(data or b"")
        self._pass_on()

    def _pass_on(self) -> None:
        for side in self._sides:
            side.search_daemon()
            side.send()

    def _set_exit_deadline(self, within_s: float) -> None:
        self._last_progress_s = time.monotonic()
        self._exit_deadline_s = self._last_progress_s + (
            _HANDSHAKE_TIMEOUT_S if self._traffic.is_only_handshake else within_s
        )

    def _to_client(self, event: int) -> None:
        if event & _HANGUP_EVENTS:
            raise ClientGoneError
        try:
            self._traffic.to_client.took(self._write(self._traffic.to_client.head()))
            self._last_progress_s = time.monotonic()
        except BlockingIOError:
            return
        except OSError as error:
            raise ClientGoneError from error


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
    raise ClientGoneError
