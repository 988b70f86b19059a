"""How `dragoman mcp` gets a daemon: it connects to one, waits for one that is starting, or starts one.

It runs in its own thread, because a start takes a second and the client may write or exit in that time.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dragoman import __version__
from dragoman.core.errors import DragomanError, dragoman_failed, system_refused
from dragoman.core.localization import localize
from dragoman.core.paths import Paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.lock import is_held

SEARCH_TIMEOUT_S = 30.0
UNREQUESTED_TIMEOUT_S = 10.0
# A daemon that stopped normally was most likely stopped by `dragoman restart`: give it time to start the next one.
RESTART_GRACE_S = 4.0
_ABSENT = {"not_running", "daemon_gone"}


class Connector(Protocol):
    """Connects to a daemon, here or on another machine, and knows what to do if there is none."""

    @property
    def first_pause_s(self) -> float: ...

    @property
    def max_pause_s(self) -> float: ...

    def open(self, *, is_first: bool) -> ControlClient: ...

    def retries(self, error: DragomanError, *, is_first: bool) -> bool:
        """Whether to try again after this error."""

    def should_start(self, *, is_first: bool, waited_s: float) -> bool: ...

    def start(self) -> None: ...

    def updated(self, client: ControlClient) -> ControlClient:
        """The connection, or another one to a daemon of this version that replaced an idle one."""

    def fault(self) -> DragomanError | None:
        """Why the last connection broke, if it was not the daemon that ended it."""


@dataclass(frozen=True, slots=True)
class DaemonConnector:
    """Connects to this machine's daemon or starts it, and tells it about this client."""

    paths: Paths
    workspace: Path
    about: Mapping[str, Any]
    first_pause_s: float = 0.01
    max_pause_s: float = 0.25

    def open(self, *, is_first: bool) -> ControlClient:
        """Connect. `reconnected` tells the daemon that the client may still refer to sessions of an earlier daemon."""
        return ControlClient.open(self.paths, role="mcp", about={**self.about, "reconnected": not is_first})

    def retries(self, error: DragomanError, *, is_first: bool) -> bool:  # noqa: ARG002  as for another machine
        return error.code in _ABSENT

    def should_start(self, *, is_first: bool, waited_s: float) -> bool:
        if is_held(self.paths.lock_file):
            return False
        crashed = self.paths.socket.exists()  # a normal exit removes it
        return is_first or crashed or waited_s > RESTART_GRACE_S

    def fault(self) -> DragomanError | None:
        return None

    def updated(self, client: ControlClient) -> ControlClient:
        from dragoman.cli.daemon import launcher

        status = launcher.check_daemon(self.paths).status
        if status is None or not launcher.is_replaceable(status) or not self.may_start():
            return client
        client.close()
        launcher.end(self.paths)
        self.start()
        return self.open(is_first=True)

    def start(self) -> None:
        from dragoman.cli.daemon import launcher

        if not self.may_start():
            raise DragomanError(
                "not_running",
                localize("No daemon is running, and the setting mcp_starts_daemon is false."),
                hint=localize("Run `dragoman up`, then try again."),
            )
        launcher.start(self.paths, launcher.DaemonStartOptions(self.workspace))

    def may_start(self) -> bool:
        """Read only when no daemon is running, because the settings loader is slow to import."""
        from dragoman.core.settings.loader import load_settings

        return load_settings(self.paths).mcp_starts_daemon


class DaemonSearch:
    """A search for a daemon, in its own thread.

    `done_fd` becomes readable when it is over. Then `outcome` is the socket, the error, or None if the client sent
    nothing.
    """

    def __init__(self, connector: Connector, *, is_first: bool, pause_s: float) -> None:
        self._connector = connector
        self._is_first = is_first
        self._pause_s = pause_s
        self._began = time.monotonic()
        self._requested = threading.Event()
        self.done_fd, self._done_writer = os.pipe()
        self.outcome: socket.socket | DragomanError | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def request_daemon(self) -> None:
        """The client sent something. Before that no daemon is started: the user may have stopped it on purpose."""
        self._requested.set()

    def close(self) -> None:
        os.close(self.done_fd)

    def _run(self) -> None:
        try:
            time.sleep(self._pause_s)
            link = self._search()
            self.outcome = link.detach_socket() if link else None
        except DragomanError as error:
            self.outcome = error
        except OSError as error:
            self.outcome = system_refused(error)
        except Exception as error:  # noqa: BLE001  the client must hear of it: nobody sees a thread that died
            self.outcome = dragoman_failed(reason=error)
        finally:
            os.close(self._done_writer)

    def _search(self) -> ControlClient | None:
        pause = self._connector.first_pause_s
        while True:
            try:
                return self._with_same_version(self._connector.open(is_first=self._is_first))
            except DragomanError as error:
                if not self._connector.retries(error, is_first=self._is_first) or self._has_taken(SEARCH_TIMEOUT_S):
                    raise
            if self._has_taken(UNREQUESTED_TIMEOUT_S) and not self._requested.is_set():
                return None
            if self._should_start():
                self._connector.start()
            else:
                time.sleep(pause)
                pause = min(2 * pause, self._connector.max_pause_s)

    def _should_start(self) -> bool:
        waited_s = time.monotonic() - self._began
        return self._requested.is_set() and self._connector.should_start(is_first=self._is_first, waited_s=waited_s)

    def _with_same_version(self, link: ControlClient) -> ControlClient:
        """Replace an idle daemon of another version, only on the first connection: otherwise two versions would take
        turns.
        """
        if not self._is_first or link.welcome.version == __version__:
            return link
        return self._connector.updated(link)

    def _has_taken(self, seconds: float) -> bool:
        return time.monotonic() - self._began > seconds
