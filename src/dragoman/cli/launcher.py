"""The one module that starts and ends a daemon: spawns it, waits for its first line, and knows a race that was lost."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Phrase, say
from dragoman.places import Places
from dragoman.transport.control_link import ControlLink, not_answering
from dragoman.transport.lock import is_held
from dragoman.transport.private_files import read_private
from dragoman.transport.processes import is_running
from dragoman.transport.system import REAL_SYSTEM, System
from dragoman.wire.control import DaemonState

STARTS_WITHIN_S = 20.0
ANSWERS_WITHIN_S = 3.0
ENDS_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.02
_LONGEST_LINE = 1 << 20

_ABSENT = {"not_running", "daemon_gone"}
_HUNG = {"not_answering", "not_dragoman"}


@dataclass(frozen=True, slots=True)
class Wish:
    """How a daemon should be started. A port that a person named is taken exactly or not at all."""

    workspace: Path
    port: int | None = None
    verbose: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

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


@dataclass(frozen=True, slots=True)
class Found:
    """What there is: a daemon that answers, one that does not, or none (then both are None)."""

    status: dict[str, Any] | None = None
    hung: DragomanError | None = None

    @property
    def any(self) -> bool:
        return self.status is not None or self.hung is not None

    def require_answering(self) -> None:
        if self.hung is not None:
            raise self.hung


def find(places: Places) -> Found:
    """One that is just starting or ending is waited for: only a held lock without an answer is a daemon that hangs."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            with ControlLink.open(places, within_s=ANSWERS_WITHIN_S) as link:
                return Found(status=link.call("status", within_s=ANSWERS_WITHIN_S))
        except DragomanError as error:
            if error.code in _HUNG:
                return Found(hung=error)
            if error.code not in _ABSENT:
                raise
        if not is_held(places.lock_file):
            return Found()
        if time.monotonic() >= deadline:
            return Found(hung=not_answering())
        time.sleep(_LOOK_EVERY_S)


def replaceable(running: dict[str, Any]) -> bool:
    """A daemon of another version is replaced while nothing lives in it; a busy one is kept, and `status` names it."""
    return running["version"] != __version__ and not ending(running)


def ending(running: dict[str, Any]) -> list[dict[str, Any]]:
    """The sessions that end with it; others are a person's own, and go on in their editor."""
    return [life for life in running["sessions"] if life.get("ends", True)]


def start(places: Places, wish: Wish, *, system: System = REAL_SYSTEM) -> Started:
    """A running daemon: the one we started, or the one that won the race."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        line = _first_line(wish, deadline, system)
        if "state" in line:
            return Started(DaemonState.from_json(line["state"]), str(line["login_code"]), by_us=True)
        error = line["error"]
        if error.get("code") != "already_running":
            raise DragomanError(
                str(error.get("code", "start_failed")),
                _verbatim(error.get("message")),
                hint=_verbatim(error.get("hint")),
            )
        winner = _winner(places, deadline)
        if winner is not None:
            return winner


def end(places: Places) -> None:
    """Ask for an orderly end and wait for it; a daemon that cannot is killed. One that has gone meanwhile is ended."""
    try:
        with ControlLink.open(places, within_s=ANSWERS_WITHIN_S) as link:
            state = DaemonState.from_json(link.call("state", within_s=ANSWERS_WITHIN_S))
            with contextlib.suppress(DragomanError):  # it may be quicker to go than to answer
                link.call("shutdown", within_s=ANSWERS_WITHIN_S)
    except DragomanError as error:
        if error.code not in _ABSENT:
            raise
        return
    if not _wait(lambda: _has_ended(places, state), ENDS_WITHIN_S):
        kill(places, state)


def end_hung(places: Places) -> None:
    """The one that holds the lock and does not answer, if it is the one that the state file names."""
    state = read_state(places)
    if state is None or not is_running(state.pid, state.process_started):
        raise DragomanError(
            "unknown_holder",
            say("A process that is not known to be the daemon holds {path}.", path=places.lock_file),
            hint=say("Nothing was ended. Find it with `fuser {path}` and end it by hand.", path=places.lock_file),
        )
    kill(places, state)


def kill(places: Places, state: DaemonState) -> None:
    """The last resort, for a process proven to be that daemon: same pid, started at the same time."""
    if is_running(state.pid, state.process_started):
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.pid, signal.SIGKILL)
    if not _wait(lambda: _has_ended(places, state), ENDS_WITHIN_S):
        raise DragomanError(
            "will_not_end",
            say("The daemon (pid {pid}) does not end.", pid=state.pid),
            hint=say("End that process by hand, then try again."),
        )


def read_state(places: Places) -> DaemonState | None:
    with contextlib.suppress(FileNotFoundError, RemoteProtocolError):
        return DaemonState.decode(read_private(places.state_file))
    return None


def _has_ended(places: Places, state: DaemonState) -> bool:
    """The lock alone would not do: another start may have taken it the moment it was free."""
    return not is_held(places.lock_file) or not is_running(state.pid, state.process_started)


def _wait(condition: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _winner(places: Places, deadline: float) -> Started | None:
    """Who holds the lock; None when it was let go meanwhile, and it is our turn again."""
    while is_held(places.lock_file):
        with contextlib.suppress(DragomanError), ControlLink.open(places, within_s=2.0) as link:
            return Started(DaemonState.from_json(link.call("state")), "", by_us=False)
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
            child = system.spawn(wish.command(), environment=_environment(wish), cwd=Path("/"), output=writer)
        except OSError as error:
            raise _not_started(say("it could not be run: {reason}", reason=error.strerror)) from error
        finally:
            os.close(writer)
        try:
            return _heard(child, reader, deadline)
        except BaseException:  # also Ctrl-C: nobody waits for this one any more
            _abandon(child)
            raise
    finally:
        os.close(reader)


def _environment(wish: Wish) -> dict[str, str]:
    """The one wished for, with a home that means the same from the daemon's working folder as it does from here."""
    wanted = dict(wish.environment)
    home = wanted.get("DRAGOMAN_HOME")
    return {**wanted, "DRAGOMAN_HOME": str(Path(home).expanduser().absolute())} if home else wanted


def _heard(child: subprocess.Popen[bytes], reader: int, deadline: float) -> dict[str, Any]:
    """The first line that is for us. An interpreter may warn before it; without one, its last words are the reason."""
    last = ""
    for text in _lines(reader, deadline):
        line = _object(text)
        if "error" in line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(ENDS_WITHIN_S)
        if "error" in line or "state" in line:
            return line
        last = text.decode(errors="replace").strip() or last
    raise _not_started(say("it said: {words}", words=last) if last else say("it said nothing"))


def _lines(reader: int, deadline: float) -> Iterator[bytes]:
    data = b""
    while len(data) < _LONGEST_LINE:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(reader, 65536) if ready else b""
        if not piece:
            break
        *whole, data = (data + piece).split(b"\n")
        yield from whole
    yield data


def _object(text: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    return {}


def _abandon(child: subprocess.Popen[bytes]) -> None:
    """In order if it can, so that it leaves nothing behind."""
    child.terminate()
    try:
        child.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def folder(workspace: Path) -> Path:
    path = workspace.expanduser().absolute()
    if not path.is_dir():
        raise DragomanError(
            "no_such_folder",
            say("The workspace {path} is not a folder.", path=path),
            hint=say("Name one that exists with --workspace."),
        )
    return path


def _not_started(reason: Phrase) -> DragomanError:
    return DragomanError(
        "start_failed",
        say("The daemon did not start: {reason}.", reason=reason),
        hint=say("See `dragoman logs`, and `dragoman doctor` for what may be wrong."),
    )


def _verbatim(text: object) -> Phrase:
    return say("{text}", text=text or "")
