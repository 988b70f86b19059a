"""The pump's search for a daemon: finds one, waits for one that is coming, or starts one.

In a thread of its own, because a start takes a second and the client may leave or speak meanwhile.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.errors import DragomanError, system_refused
from dragoman.phrases import say
from dragoman.places import Places
from dragoman.transport.control_link import ControlLink
from dragoman.transport.lock import is_held

FOUND_WITHIN_S = 30.0
COMES_BACK_WITHIN_S = 10.0
# One that ended in order was most often ended by `dragoman restart`, which starts the next: let it.
RESTARTED_WITHIN_S = 4.0
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.25
_ABSENT = {"not_running", "daemon_gone"}


@dataclass(frozen=True, slots=True)
class Seeker:
    """Who searches, and what the daemon is to know about it."""

    places: Places
    workspace: Path
    about: Mapping[str, Any]

    def open(self, *, is_first: bool) -> ControlLink:
        """Whoever comes again had another daemon before: what it knew of that one's sessions is out of date."""
        return ControlLink.open(self.places, role="mcp", about={**self.about, "reconnected": not is_first})

    def start(self) -> None:
        from dragoman.cli import launcher

        if not self.may_start():
            raise DragomanError(
                "not_running",
                say("No daemon is running, and the setting mcp_starts_daemon is false."),
                hint=say("Start one with `dragoman up`; then try again."),
            )
        launcher.start(self.places, launcher.Wish(self.workspace))

    def may_start(self) -> bool:
        """Asked only when no daemon of ours runs: what reads the settings is slow to import."""
        from dragoman.settings import load_settings

        return load_settings(self.places).mcp_starts_daemon


class Search:
    """Readable at `bell` when it is over; then `outcome` has the link, the reason why not, or None: nobody asked."""

    def __init__(self, seeker: Seeker, *, is_first: bool, pause_s: float) -> None:
        self._seeker = seeker
        self._is_first = is_first
        self._pause_s = pause_s
        self._began = time.monotonic()
        self._wanted = threading.Event()
        self.bell, self._ring = os.pipe()
        self.outcome: socket.socket | DragomanError | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def want(self) -> None:
        """The client has something to say. Before that no daemon is started: somebody may have ended it on purpose."""
        self._wanted.set()

    def close(self) -> None:
        os.close(self.bell)

    def _run(self) -> None:
        try:
            time.sleep(self._pause_s)
            link = self._search()
            self.outcome = link.hand_over() if link else None
        except DragomanError as error:
            self.outcome = error
        except OSError as error:
            self.outcome = system_refused(error)
        except Exception as error:  # noqa: BLE001  the client must hear of it: nobody sees a thread that died
            self.outcome = _unforeseen(error)
        finally:
            os.close(self._ring)

    def _search(self) -> ControlLink | None:
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return self._in_step(self._seeker.open(is_first=self._is_first))
            except DragomanError as error:
                if error.code not in _ABSENT or self._took(FOUND_WITHIN_S):
                    raise
            if self._took(COMES_BACK_WITHIN_S) and not self._wanted.is_set():
                return None
            if self._is_ours_to_start():
                self._seeker.start()
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _is_ours_to_start(self) -> bool:
        if not self._wanted.is_set() or is_held(self._seeker.places.lock_file):
            return False
        crashed = self._seeker.places.socket.exists()  # an orderly end removes it
        return self._is_first or crashed or self._took(RESTARTED_WITHIN_S)

    def _in_step(self, link: ControlLink) -> ControlLink:
        """Another version's daemon is replaced when idle; only by who just came, or two versions would take turns."""
        if not self._is_first or link.welcome.version == __version__:
            return link
        from dragoman.cli import launcher

        status = launcher.find(self._seeker.places).status
        if status is None or not launcher.replaceable(status) or not self._seeker.may_start():
            return link
        link.close()
        launcher.end(self._seeker.places)
        self._seeker.start()
        return self._seeker.open(is_first=True)

    def _took(self, seconds: float) -> bool:
        return time.monotonic() - self._began > seconds


def _unforeseen(error: Exception) -> DragomanError:
    return DragomanError(
        "internal_error",
        say("Dragoman failed: {reason}.", reason=f"{type(error).__name__}: {error}"),
        hint=say("This is a fault of Dragoman: please report it with what `dragoman logs` shows."),
    )
