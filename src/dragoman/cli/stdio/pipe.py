"""`dragoman pipe`: joins standard input and output to this machine's daemon, for a command on another machine.

It runs at the far end of ssh or `docker exec`, as the user there. It opens no port and checks no token: whoever can run
it could also run any other command. What a client may do is decided here, by this machine's daemon.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from dragoman import __version__
from dragoman.cli.caller import fit_environment, working_folder
from dragoman.cli.daemon import launcher
from dragoman.cli.output import ExitCode
from dragoman.cli.stdio.mcp import private_stdout
from dragoman.core.errors import DragomanError, RemoteProtocolError, dragoman_failed, system_refused
from dragoman.core.paths import Paths, find_paths
from dragoman.io.drivers.control_client import WELCOME_WITHIN_S, connect_to_daemon
from dragoman.io.drivers.pipe_driver import KEEP_ALIVE_S, PipeDriver
from dragoman.io.errors import daemon_not_running
from dragoman.io.net.descriptors import read_available
from dragoman.io.net.targets import REMOTE_FOLDER
from dragoman.protocols.control import ControlLines, encode_line
from dragoman.protocols.pipe import MAX_QUERY, Greeting, PipeConnection, PipeFailure, PipeFrame, PipeFrameKind
from dragoman.workspace.file_comparison import answer_lines
from dragoman.workspace.repository import find_repository

_GREETS_WITHIN_S = 20.0
_HELLO_WITHIN_S = 20.0
_MAX_FOLDERS = 32
# In no name of a file of this system; other surrogates stand for bytes that are not UTF-8.
_UNFIT = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")


class _NearSideGoneError(Exception):
    """The other machine closed the connection, or was silent for too long."""


def pipe() -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    out = private_stdout()
    if f"/{REMOTE_FOLDER}/" in sys.prefix:
        from dragoman.cli.remote.idle_removal import ensure_watcher

        ensure_watcher(Path(sys.prefix))
    with contextlib.suppress(_NearSideGoneError, RemoteProtocolError):
        return _Pipe(out).run()
    return ExitCode.FAILED


class _Pipe:
    """One connection from another machine. It sends nothing to the daemon before the versions were compared."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._connection = PipeConnection(skips_noise=False)

    def run(self) -> int:
        ours = Greeting(__version__)
        self._send(ours.encode())
        theirs = next(self._messages(_GREETS_WITHIN_S))
        if not isinstance(theirs, Greeting) or ours.compare(theirs) != "agreed":
            return ExitCode.FAILED  # the other side has both versions too, and says what to do
        try:
            daemon = self._open_daemon(may_start=theirs.starts_daemon)
        except DragomanError as error:
            self._refuse(error)
            return ExitCode.FAILED
        with daemon:
            self._send(self._connection.send(PipeFrameKind.READY))
            daemon.sendall(self._hello())
            end = PipeDriver(self._connection, 0, self._out, daemon, answer=answer_query).run()
        return ExitCode.OK if end == "finished" else ExitCode.FAILED

    def _open_daemon(self, *, may_start: bool) -> socket.socket:
        """In a thread: a start may take twenty seconds, and the other side takes silence for a hang."""
        opening = _Opening(may_start=may_start)
        while not opening.is_over(KEEP_ALIVE_S):
            self._send(self._connection.send(PipeFrameKind.KEEP_ALIVE))
        return opening.result()

    def _hello(self) -> bytes:
        """The caller's first line, with what only this machine knows, and the bytes behind it."""
        lines = ControlLines()
        for message in self._messages(_HELLO_WITHIN_S):
            if isinstance(message, PipeFrame) and message.kind is PipeFrameKind.DATA:
                for hello in lines.feed(message.payload):
                    return encode_line(self._localized(hello)) + lines.pop_rest()
            elif isinstance(message, PipeFrame) and message.kind is PipeFrameKind.QUERY:
                self._send(self._connection.send_reply(message, answer_query(message.query_payload)))
            elif isinstance(message, PipeFrame) and message.kind is PipeFrameKind.END:
                break
        raise _NearSideGoneError

    def _messages(self, within_s: float) -> Iterator[Greeting | PipeFrame]:
        deadline = time.monotonic() + within_s
        while True:
            yield from self._connection.receive_data(b"")  # frames that arrived with the ones before
            ready, _, _ = select.select([0], (), (), max(0.0, deadline - time.monotonic()))
            data = read_available(0) if ready else b""
            if data == b"":
                raise _NearSideGoneError
            yield from self._connection.receive_data(data or b"")

    def _localized(self, hello: dict[str, Any]) -> dict[str, Any]:
        try:
            return _localized(hello)
        except DragomanError as error:  # as the daemon itself refuses a caller
            texts = {"code": error.code, "message": str(error.message), "hint": str(error.hint or "")}
            self._send(self._connection.send_data(encode_line({"id": 0, "error": texts})))
            self._send(self._connection.send(PipeFrameKind.END))
            raise _NearSideGoneError from error

    def _refuse(self, error: DragomanError) -> None:
        failure = PipeFailure(error.code, str(error.message), str(error.hint or ""))
        self._send(self._connection.send_failure(failure))

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except OSError as error:
            raise _NearSideGoneError from error


class _Opening:
    def __init__(self, *, may_start: bool) -> None:
        self._may_start = may_start
        self._outcome: socket.socket | Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_over(self, within_s: float) -> bool:
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def result(self) -> socket.socket:
        if isinstance(self._outcome, socket.socket):
            return self._outcome
        assert self._outcome is not None
        raise self._outcome

    def _run(self) -> None:
        try:
            self._outcome = _open_daemon(find_paths(), may_start=self._may_start)
        except DragomanError as error:
            self._outcome = error
        except Exception as error:  # noqa: BLE001  a person has to learn of it, on the other machine
            self._outcome = dragoman_failed(reason=error)


def _open_daemon(paths: Paths, *, may_start: bool) -> socket.socket:
    try:
        return connect_to_daemon(paths, WELCOME_WITHIN_S)
    except DragomanError as error:
        if error.code != "not_running" or not may_start:
            raise
    from dragoman.core.settings.loader import load_settings

    if not load_settings(paths).mcp_starts_daemon:
        raise daemon_not_running()
    try:
        launcher.start(paths, launcher.DaemonStartOptions(Path(working_folder())))
    except OSError as error:
        raise system_refused(error) from error
    return connect_to_daemon(paths, WELCOME_WITHIN_S)


def _localized(hello: dict[str, Any]) -> dict[str, Any]:
    """The hello of a caller on another machine, whose folders and variables mean nothing here.

    Programs get this user's login environment, and over it the variables that the caller named. The folder is one of
    this machine; that somebody works in it from afar does not make it trusted.
    """
    about = hello.get("about")
    if not isinstance(about, Mapping) or not about:
        return {**hello, "about": {"remote": True}}
    named = about.get("environment")
    folder = launcher.require_folder(login_path(about.get("workspace")))
    here = {
        "workspace": str(folder),
        "cwd": str(folder),
        "environment": fit_environment({**os.environ, **(_texts(named) if isinstance(named, Mapping) else {})}),
        "client_pid": os.getpid(),
        "remote": True,
    }
    return {**hello, "about": {**about, **here}}


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}


def _end(*_: object) -> NoReturn:
    raise _NearSideGoneError


def answer_query(payload: bytes) -> bytes:
    try:
        query = json.loads(payload)
    except (ValueError, RecursionError):
        query = None
    reply: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):  # there is nothing to say about what is no path of this system
        if isinstance(query, dict) and query.get("query") == "folders":
            reply = _folders(query)
        elif isinstance(query, dict) and query.get("query") == "lines":
            reply = answer_lines(query)
    encoded = json.dumps(reply, separators=(",", ":")).encode()
    return encoded if len(encoded) <= MAX_QUERY else b"{}"


def login_path(named: object) -> Path:
    """The folder that the caller named, relative to the login folder, which is also the one without a name."""
    text = named if isinstance(named, str) and _UNFIT.search(named) is None else ""
    try:
        return Path(working_folder()) / Path(text).expanduser()
    except RuntimeError:  # a `~user` that does not exist
        return Path(working_folder()) / text


def _folders(query: Mapping[str, Any]) -> dict[str, Any]:
    named = query.get("folders")
    reply: dict[str, Any] = {"folders": [_folder(it) for it in named[:_MAX_FOLDERS]] if isinstance(named, list) else []}
    if "checkout" in query and (repository := find_repository(login_path(query["checkout"]))) is not None:
        # The history is walked only if the remotes do not answer the question.
        roots = () if repository.origin and repository.origin == query.get("origin") else repository.roots()
        reply["checkout"] = {**_folder(str(repository.top)), "origin": repository.origin, "roots": roots}
    return reply


def _folder(named: object) -> dict[str, Any]:
    path = Path(os.path.normpath(login_path(named)))
    return {"path": str(path), "real": os.path.realpath(path), "is_folder": path.is_dir()}
