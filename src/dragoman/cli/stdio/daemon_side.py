"""One side of the pump: the connection to one daemon, the search for the next one, and the relay between them."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable

from dragoman.cli.output import render, report_error
from dragoman.cli.stdio.daemon_search import Connector, DaemonSearch
from dragoman.cli.stdio.last_stops import LastStops
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.errors import daemon_gone
from dragoman.io.net.descriptors import CHUNK_SIZE
from dragoman.protocols.jsonrpc import Relay

Interest = tuple[int, Callable[[int], None]]

_FIRST_PAUSE_S = 0.05
_MAX_FAILURES = 6


class DaemonSide:
    """Owns the socket to a daemon and the search for one. It survives the end of the daemon, and never blocks."""

    def __init__(self, connector: Connector) -> None:
        self.relay = Relay()
        self.received_at_s = 0.0
        self.failure: DragomanError | None = None
        """Why no daemon was found; None once one is."""
        self._stops = LastStops()
        self._connector = connector
        self._daemon: socket.socket | None = None
        self._search: DaemonSearch | None = None
        self._was_connected = False
        self._has_received = False
        self._failures = 0
        self._reported_code = ""

    @property
    def is_connected(self) -> bool:
        return self._daemon is not None

    def interests(self, *, reads: bool) -> dict[int, Interest]:
        """What to poll for."""
        interests: dict[int, Interest] = {}
        if self._search is not None:
            interests[self._search.done_fd] = (select.POLLIN, self._finish_search)
        if self._daemon is not None:
            events = (select.POLLIN if reads else 0) | (select.POLLOUT if self.relay.to_daemon else 0)
            if events:  # with no events, poll would report a closed daemon again and again
                interests[self._daemon.fileno()] = (events, self._with_daemon)
        return interests

    def send(self) -> None:
        while self._daemon is not None and self.relay.to_daemon:
            try:
                sent = self._daemon.send(self.relay.to_daemon.head()[:CHUNK_SIZE])
            except BlockingIOError:
                return
            except OSError:
                self._drain(self._daemon)
            else:
                self.relay.sent_to_daemon(sent)

    def search_daemon(self) -> None:
        """Search for a daemon. After one that closed the connection without a message, wait longer each time."""
        if self._daemon is not None:
            return
        if self._search is None:
            pause_s = _FIRST_PAUSE_S * (2**self._failures - 1)
            self._search = DaemonSearch(self._connector, is_first=not self._was_connected, pause_s=pause_s)
        if self.relay.needs_daemon:
            self._search.request_daemon()

    def _with_daemon(self, event: int) -> None:
        if event & select.POLLOUT:
            self.send()
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
        self.received_at_s = time.monotonic()
        for line in self.relay.receive_from_daemon(data):
            self._stops.receive(line, self.received_at_s)

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
            self.relay.daemon_lost(
                "daemon_restarted",
                render(
                    localize(
                        "The daemon stopped before it answered, so this call may or may not have taken effect. The "
                        "next call uses a new daemon."
                    )
                ),
            )
        else:
            stopped = self._stops.sentences(time.monotonic()) if fault.code == "link_lost" else ""
            self.relay.daemon_lost(fault.code, sentences(fault, stopped))
        self._failures = 0 if self._has_received else self._failures + 1
        if self._failures < _MAX_FAILURES:
            self.search_daemon()
        else:
            self._failures = 0
            self._report_failure(daemon_gone())

    def _finish_search(self, _: int) -> None:
        search, self._search = self._search, None
        assert search is not None
        search.close()
        if isinstance(search.outcome, socket.socket):
            self._connect(search.outcome)
        elif isinstance(search.outcome, DragomanError):
            self._report_failure(search.outcome)
        elif self.relay.needs_daemon:  # a request arrived just as the search gave up
            self.search_daemon()

    def _connect(self, daemon: socket.socket) -> None:
        daemon.setblocking(False)
        self._daemon = daemon
        self._was_connected = True
        self._has_received = False
        self._reported_code = ""
        self.failure = None
        self.relay.daemon_found()
        self.send()

    def _report_failure(self, error: DragomanError) -> None:
        """Report the error on standard error and to the pending calls. The client's next line starts a new search."""
        if error.code != self._reported_code:  # once: a client may not read standard error, and a full pipe blocks
            self._reported_code = error.code
            with contextlib.suppress(OSError, AttributeError):  # standard error is closed
                report_error(error)
        self.failure = error
        self.relay.daemon_not_found(error.code, sentences(error))


def sentences(error: DragomanError, state: str = "") -> str:
    """What happened, what is known of the programs there, and what to do."""
    parts = (render(error.message), state, render(error.hint) if error.hint else "")
    return " ".join(it for it in parts if it)
