"""`dragoman dap --stdio`: what an editor starts as a debug adapter. A pump between its pipes and the daemon.

Standard library alone: it is up within milliseconds. It understands nothing of what it carries, except when there is
nobody to carry it to: then the editor's first request is answered with the reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import time
from pathlib import Path
from typing import NoReturn

from dragoman.cli.hello import about, working_folder
from dragoman.cli.output import ExitCode, report, shown
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import Places, find_places
from dragoman.transport.control_link import ControlLink

_PIECE = 1 << 16
_ASKED_WITHIN_S = 10.0
_LONGEST_FIRST_REQUEST = 1 << 20
_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})", re.IGNORECASE)
_ABSENT = frozenset({"not_running", "daemon_gone"})


class _EditorGoneError(Exception):
    """Nobody is left to serve."""


def dap(*, stdio: bool = False, attach: str = "", read_only: bool = False, workspace: Path = Path()) -> int:
    if not stdio:
        raise DragomanError(
            "stdio_needed",
            say("An editor is served on standard input and output: say --stdio."),
            hint=say("Editors that connect to a socket find its path as `dap_socket` in {path}.", path=_state_file()),
        )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with contextlib.suppress(_EditorGoneError):
        try:
            daemon = _daemon(find_places(), attach, workspace, read_only=read_only)
        except DragomanError as error:
            return _turned_away(error)
        with daemon:
            return _pump(daemon)
    return ExitCode.OK


def _state_file() -> Path:
    return find_places().state_file


def _daemon(places: Places, session: str, workspace: Path, *, read_only: bool) -> socket.socket:
    folder = Path(working_folder()) if workspace == Path() else workspace.expanduser().absolute()
    told = {**about(folder), "session": session, "read_only": read_only}
    try:
        return ControlLink.open(places, role="dap", about=told).hand_over()
    except DragomanError as error:
        if error.code not in _ABSENT or session:  # a daemon that we start has no sessions to join
            raise
    from dragoman.cli import launcher

    launcher.start(places, launcher.Wish(folder))
    return ControlLink.open(places, role="dap", about=told).hand_over()


def _pump(daemon: socket.socket) -> int:
    """Neither side is read faster than the other takes. The end of one is passed on to the other."""
    daemon.settimeout(None)
    reads = {0, daemon.fileno()}
    while True:
        ready, _, _ = select.select(reads, (), ())
        if 0 in ready and not _pass(0, daemon):
            reads.discard(0)
            with contextlib.suppress(OSError):
                daemon.shutdown(socket.SHUT_WR)
        if daemon.fileno() in ready and not _pass_back(daemon):
            return ExitCode.OK


def _pass(source: int, daemon: socket.socket) -> bool:
    """Both ways at once: a daemon that waits for us to read must not keep us from it."""
    data = whole = _read(source)
    while data:
        readable, writable, _ = select.select([daemon], [daemon], ())
        if readable and not _pass_back(daemon):
            raise _EditorGoneError
        if writable:
            data = data[_sent(daemon, data) :]
    return bool(whole)


def _sent(daemon: socket.socket, data: bytes) -> int:
    try:
        return daemon.send(data, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
    except OSError:  # it has gone, and what it said last is still to be read
        return len(data)


def _pass_back(daemon: socket.socket) -> bool:
    try:
        data = daemon.recv(_PIECE)
    except OSError:
        return False
    _write(data)
    return bool(data)


def _read(source: int) -> bytes:
    try:
        return os.read(source, _PIECE)
    except OSError:
        return b""


def _write(data: bytes) -> None:
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError as error:
        raise _EditorGoneError from error


# When there is nobody to carry it to.


def _turned_away(error: DragomanError) -> int:
    """Said to a person, and to the editor in its own language: an adapter that only dies is told as a riddle."""
    status = report(error)
    text = f"{shown(error.message)} {shown(error.hint) if error.hint else ''}".strip()
    request = _first_request()
    if request:
        told = {"id": 1, "format": "{text}", "variables": {"text": text, "code": error.code}, "showUser": True}
        answer = {
            "seq": 1,
            "type": "response",
            "request_seq": request.get("seq", 0),
            "success": False,
            "command": request.get("command", ""),
            "message": text,
            "body": {"error": told},
        }
        body = json.dumps(answer).encode()
        _write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    return status


def _first_request() -> dict[str, object]:
    data, deadline = b"", time.monotonic() + _ASKED_WITHIN_S
    while len(data) < _LONGEST_FIRST_REQUEST:
        header, gap, body = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(header) if gap else None
        if length is not None and len(body) >= int(length[1]):
            with contextlib.suppress(ValueError):
                value = json.loads(body[: int(length[1])])
                return value if isinstance(value, dict) else {}
            return {}
        ready, _, _ = select.select([0], (), (), max(0.0, deadline - time.monotonic()))
        piece = _read(0) if ready else b""
        if not piece:
            return {}
        data += piece
    return {}


def _end(*_: object) -> NoReturn:
    raise _EditorGoneError
