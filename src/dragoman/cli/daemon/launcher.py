"""Start and stop a daemon: no other module does.

It spawns the daemon, reads its first line, and detects that another start won the race for the lock.
"""

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
from dragoman.core.errors import DragomanError, ErrorSpec, RemoteProtocolError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.errors import not_answering
from dragoman.io.files.lock import is_held
from dragoman.io.files.private_files import read_private
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.io.processes.process_info import is_process_running
from dragoman.protocols.control import DaemonState

STARTS_WITHIN_S = 20.0
ANSWERS_WITHIN_S = 3.0
ENDS_WITHIN_S = 10.0
_POLL_INTERVAL_S = 0.02
_MAX_LINE_LENGTH = 1 << 20

_ABSENT = {"not_running", "daemon_gone"}
_HUNG = {"not_answering", "not_dragoman"}


@dataclass(frozen=True, slots=True)
class DaemonStartOptions:
    """How to start a daemon. A port that the user named is used, or the start fails."""

    workspace: Path
    port: int | None = None
    verbose: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def command(self) -> list[str]:
        # -P keeps the working folder off the import path, so that a workspace cannot replace modules.
        command = [sys.executable, "-P", "-m", "dragoman.daemon", "--workspace", str(self.workspace)]
        command += ["--port", str(self.port)] if self.port is not None else []
        return command + (["--verbose"] if self.verbose else [])


@dataclass(frozen=True, slots=True)
class StartedDaemon:
    state: DaemonState
    login_code: str
    by_us: bool


@dataclass(frozen=True, slots=True)
class DaemonCheck:
    """What was found: a daemon that answers (`status`), one that holds the lock but does not answer (`hung`), or
    none.
    """

    status: dict[str, Any] | None = None
    hung: DragomanError | None = None

    @property
    def any(self) -> bool:
        return self.status is not None or self.hung is not None

    def require_answering(self) -> None:
        if self.hung is not None:
            raise self.hung


def check_daemon(paths: Paths) -> DaemonCheck:
    """Look for a daemon, and wait for one that is starting or stopping. It is `hung` if the lock stays held without an
    answer.
    """
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            with ControlClient.open(paths, within_s=ANSWERS_WITHIN_S) as link:
                return DaemonCheck(status=link.call("status", within_s=ANSWERS_WITHIN_S))
        except DragomanError as error:
            if error.code in _HUNG:
                return DaemonCheck(hung=error)
            if error.code not in _ABSENT:
                raise
        if not is_held(paths.lock_file):
            return DaemonCheck()
        if time.monotonic() >= deadline:
            return DaemonCheck(hung=not_answering())
        time.sleep(_POLL_INTERVAL_S)


def is_replaceable(running: dict[str, Any]) -> bool:
    """Whether to replace the daemon: it has another version and no active sessions. `status` reports one that
    is busy.
    """
    return running["version"] != __version__ and not ending_sessions(running)


def ending_sessions(running: dict[str, Any]) -> list[dict[str, Any]]:
    """The sessions that end with the daemon. Sessions lent by an editor continue there."""
    return [session for session in running["sessions"] if session.get("ends", True)]


def start(paths: Paths, options: DaemonStartOptions, *, system: SystemCalls = REAL_SYSTEM) -> StartedDaemon:
    """Start a daemon, or return the one that won the race for the lock."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        line = _spawn(options, deadline, system)
        if "state" in line:
            return StartedDaemon(DaemonState.from_json(line["state"]), str(line["login_code"]), by_us=True)
        error = line["error"]
        if error.get("code") != "already_running":
            raise DragomanError(
                str(error.get("code", "start_failed")),
                _verbatim(error.get("message")),
                hint=_verbatim(error.get("hint")),
            )
        winner = _race_winner(paths, deadline)
        if winner is not None:
            return winner


def end(paths: Paths) -> None:
    """Ask the daemon to stop and wait for it; kill it if it does not stop. A daemon that has already gone counts as
    stopped.
    """
    try:
        with ControlClient.open(paths, within_s=ANSWERS_WITHIN_S) as link:
            state = DaemonState.from_json(link.call("state", within_s=ANSWERS_WITHIN_S))
            with contextlib.suppress(DragomanError):  # it may exit before it answers
                link.call("shutdown", within_s=ANSWERS_WITHIN_S)
    except DragomanError as error:
        if error.code not in _ABSENT:
            raise
        return
    if not _wait(lambda: _has_ended(paths, state), ENDS_WITHIN_S):
        kill(paths, state)


def kill_hung(paths: Paths) -> None:
    """Kill the daemon that holds the lock without answering, if the state file names that process."""
    state = read_state(paths)
    if state is None or not is_process_running(state.pid, state.process_started):
        raise DragomanError(
            "unknown_holder",
            localize("An unknown process holds the lock {path}.", path=paths.lock_file),
            hint=localize("Find it with `fuser {path}` and stop it manually.", path=paths.lock_file),
        )
    kill(paths, state)


def kill(paths: Paths, state: DaemonState) -> None:
    """Kill the process as a last resort, after checking that it is that daemon: same pid and same start time."""
    if is_process_running(state.pid, state.process_started):
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.pid, signal.SIGKILL)
    if not _wait(lambda: _has_ended(paths, state), ENDS_WITHIN_S):
        raise DragomanError(
            "will_not_end",
            localize("The daemon (pid {pid}) does not stop.", pid=state.pid),
            hint=localize("Stop that process manually, then try again."),
        )


def read_state(paths: Paths) -> DaemonState | None:
    with contextlib.suppress(FileNotFoundError, RemoteProtocolError):
        return DaemonState.decode(read_private(paths.state_file))
    return None


def _has_ended(paths: Paths, state: DaemonState) -> bool:
    """Whether the process ended. The lock alone does not tell: another start may take it as soon as it is free."""
    return not is_held(paths.lock_file) or not is_process_running(state.pid, state.process_started)


def _wait(condition: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_INTERVAL_S)
    return True


def _race_winner(paths: Paths, deadline: float) -> StartedDaemon | None:
    """The daemon that holds the lock; None if the lock was released and we should try again."""
    while is_held(paths.lock_file):
        with contextlib.suppress(DragomanError), ControlClient.open(paths, within_s=2.0) as link:
            return StartedDaemon(DaemonState.from_json(link.call("state")), "", by_us=False)
        if time.monotonic() >= deadline:
            state = read_state(paths)
            raise DragomanError(
                "not_answering",
                localize(
                    "Another daemon (pid {pid}) holds the lock and does not respond.", pid=state.pid if state else "?"
                ),
                hint=localize("Replace it with `dragoman up --take-over`."),
            )
        time.sleep(_POLL_INTERVAL_S)
    return None


def _spawn(options: DaemonStartOptions, deadline: float, system: SystemCalls) -> dict[str, Any]:
    reader, writer = os.pipe()
    try:
        try:
            child = system.spawn(options.command(), environment=_environment(options), cwd=Path("/"), output=writer)
        except OSError as error:
            raise _not_started(reason=localize("it cannot be run: {reason}", reason=error.strerror)) from error
        finally:
            os.close(writer)
        try:
            return _read_first_message(child, reader, deadline)
        except BaseException:  # also Ctrl-C: stop the child that nobody waits for
            _terminate(child)
            raise
    finally:
        os.close(reader)


def _environment(options: DaemonStartOptions) -> dict[str, str]:
    """The requested environment, with DRAGOMAN_HOME made absolute, because the daemon has another working folder."""
    wanted = dict(options.environment)
    home = wanted.get("DRAGOMAN_HOME")
    return {**wanted, "DRAGOMAN_HOME": str(Path(home).expanduser().absolute())} if home else wanted


def _read_first_message(child: subprocess.Popen[bytes], reader: int, deadline: float) -> dict[str, Any]:
    """Read the daemon's first JSON line and skip interpreter warnings. Without one, its last line explains the
    failure.
    """
    last = ""
    for text in _read_lines(reader, deadline):
        line = _decode_object(text)
        if "error" in line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(ENDS_WITHIN_S)
        if "error" in line or "state" in line:
            return line
        last = text.decode(errors="replace").strip() or last
    raise _not_started(reason=localize("it printed: {words}", words=last) if last else localize("it printed nothing"))


def _read_lines(reader: int, deadline: float) -> Iterator[bytes]:
    data = b""
    while len(data) < _MAX_LINE_LENGTH:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(reader, 65536) if ready else b""
        if not piece:
            break
        *whole, data = (data + piece).split(b"\n")
        yield from whole
    yield data


def _decode_object(text: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    return {}


def _terminate(child: subprocess.Popen[bytes]) -> None:
    """Terminate the child so that it can clean up; kill it only if it does not exit in time."""
    child.terminate()
    try:
        child.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def require_folder(workspace: Path) -> Path:
    path = workspace.expanduser().absolute()
    if not path.is_dir():
        raise DragomanError(
            "no_such_folder",
            localize("The workspace {path} is not a folder.", path=path),
            hint=localize("Pass an existing folder with --workspace."),
        )
    return path


_not_started = ErrorSpec(
    "start_failed",
    "The daemon did not start: {reason}.",
    "See `dragoman logs`, or run `dragoman doctor` to diagnose the problem.",
)


def _verbatim(text: object) -> LocalizedText:
    return localize("{text}", text=text or "")
