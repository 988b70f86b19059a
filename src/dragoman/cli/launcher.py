"""The one module that starts a daemon: spawns it, waits for its first line, and knows a race that was lost."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Phrase, say
from dragoman.places import Places
from dragoman.transport.control_link import ControlLink
from dragoman.transport.lock import is_held
from dragoman.transport.private_files import read_private
from dragoman.transport.system import REAL_SYSTEM, System
from dragoman.wire.control import DaemonState

STARTS_WITHIN_S = 20.0
ENDS_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Wish:
    """How a daemon should be started. A port that a person named is taken exactly or not at all."""

    workspace: Path
    port: int | None = None
    verbose: bool = False

    def command(self) -> list[str]:
        # -P keeps the working folder out of the import path: a workspace must not lend us its modules.
        command = [sys.executable, "-P", "-m", "dragoman.daemon", "--workspace", str(self.workspace)]
        command += ["--port", str(self.port)] if self.port is not None else []
        return command + (["--verbose"] if self.verbose else [])


@dataclass(frozen=True, slots=True)
class Started:
    state: DaemonState
    login_code: str
    by_us: bool


def start(places: Places, wish: Wish, *, system: System = REAL_SYSTEM) -> Started:
    """A running daemon: the one we started, or the one that won the race."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        line = _first_line(wish, deadline, system)
        if "state" in line:
            return Started(DaemonState.from_json(line["state"]), str(line["login_code"]), by_us=True)
        error = line.get("error", {})
        if error.get("code") != "already_running":
            raise DragomanError(
                str(error.get("code", "start_failed")),
                _verbatim(error.get("message")),
                hint=_verbatim(error.get("hint")),
            )
        winner = _winner(places, deadline)
        if winner is not None:
            return winner


def end(places: Places, link: ControlLink) -> None:
    """Ask for an orderly end and wait until the lock is free; a daemon that cannot is killed, and it is said."""
    state = read_state(places)
    link.call("shutdown")
    if not _wait_free(places, ENDS_WITHIN_S) and state is not None:
        kill(places, state)


def kill(places: Places, state: DaemonState) -> None:
    """The last resort, for a process proven to be that daemon: same pid, started at the same time."""
    import signal

    import psutil

    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        if abs(psutil.Process(state.pid).create_time() - state.process_started) < 1:
            os.kill(state.pid, signal.SIGKILL)
    if not _wait_free(places, ENDS_WITHIN_S):
        raise DragomanError(
            "will_not_end",
            say("The daemon (pid {pid}) does not end.", pid=state.pid),
            hint=say("End that process by hand, then try again."),
        )


def read_state(places: Places) -> DaemonState | None:
    with contextlib.suppress(FileNotFoundError, RemoteProtocolError):
        return DaemonState.decode(read_private(places.state_file))
    return None


def _wait_free(places: Places, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while is_held(places.lock_file):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _winner(places: Places, deadline: float) -> Started | None:
    """Who holds the lock; None when it was let go meanwhile, and it is our turn again."""
    while is_held(places.lock_file):
        with contextlib.suppress(DragomanError), ControlLink.open(places, within_s=2.0) as link:
            status = link.call("state")
            return Started(DaemonState.from_json(status), "", by_us=False)
        if time.monotonic() >= deadline:
            state = read_state(places)
            raise DragomanError(
                "not_answering",
                say("Another daemon (pid {pid}) holds the lock and does not answer.", pid=state.pid if state else "?"),
                hint=say("Replace it with `dragoman up --take-over`."),
            )
        time.sleep(_LOOK_EVERY_S)
    return None


def _first_line(wish: Wish, deadline: float, system: System) -> dict[str, Any]:
    reader, writer = os.pipe()
    try:
        try:
            child = system.spawn(wish.command(), environment=os.environ, cwd=Path("/"), output=writer)
        except OSError as error:
            raise _not_started(say("it could not be run: {reason}", reason=error.strerror)) from error
        finally:
            os.close(writer)
        return _parsed(_read_line(reader, deadline), child)
    finally:
        os.close(reader)


def _read_line(reader: int, deadline: float) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) < 1 << 20:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(reader, 65536) if ready else b""
        if not piece:
            break
        data += piece
    return data


def _parsed(data: bytes, child: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Anything but a JSON line is an interpreter that could not even start us: its last words are the reason."""
    with contextlib.suppress(ValueError):
        line = json.loads(data)
        if isinstance(line, dict):
            if "error" in line:
                child.wait(ENDS_WITHIN_S)
            return line
    if child.poll() is None:
        child.kill()
    child.wait(ENDS_WITHIN_S)
    words = data.decode(errors="replace").strip().rsplit("\n", 1)[-1]
    raise _not_started(say("it said: {words}", words=words) if words else say("it said nothing"))


def _not_started(reason: Phrase) -> DragomanError:
    return DragomanError(
        "start_failed",
        say("The daemon did not start: {reason}.", reason=reason),
        hint=say("See `dragoman logs`, and `dragoman doctor` for what may be wrong."),
    )


def _verbatim(text: object) -> Phrase:
    return say("{text}", text=text or "")
