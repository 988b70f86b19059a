"""`dragoman dap --stdio`: the process that an editor starts as its debug adapter. It copies bytes to and from the
daemon.

Standard library only, so that it starts within milliseconds. It does not interpret the bytes of this machine's daemon.
When no daemon can be reached, it answers the editor's first request with the reason.
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
from typing import TYPE_CHECKING, NoReturn

from dragoman.cli.caller import caller_info, working_folder
from dragoman.cli.output import ExitCode, render, report_error
from dragoman.cli.remote.connection import open_daemon
from dragoman.cli.remote.options import is_remote
from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize
from dragoman.core.paths import Paths, find_paths
from dragoman.io.drivers.control_client import ControlClient

if TYPE_CHECKING:
    from dragoman.cli.remote.adapter_guard import AdapterGuard

_CHUNK_SIZE = 1 << 16
_FIRST_REQUEST_TIMEOUT_S = 10.0
_MAX_FIRST_REQUEST = 1 << 20
_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})", re.IGNORECASE)
_ABSENT = frozenset({"not_running", "daemon_gone"})


class _EditorGoneError(Exception):
    """The editor closed the connection."""


def dap(*, stdio: bool = False, attach: str = "", read_only: bool = False, workspace: Path = Path()) -> int:
    if not stdio:
        raise DragomanError(
            "stdio_needed",
            localize("Pass --stdio: editors connect over standard input and output."),
            hint=localize("To connect to a socket, use the path in `dap_socket` in {path}.", path=_state_file()),
        )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with contextlib.suppress(_EditorGoneError):
        try:
            daemon = _open_daemon(find_paths(), attach, workspace, read_only=read_only)
        except DragomanError as error:
            return _answer_with_error(error)
        with daemon:
            return _pump_far(daemon) if is_remote() else _Pump(daemon, None).run()
    return ExitCode.OK


def _pump_far(daemon: ControlClient) -> int:
    from dragoman.cli.remote.adapter_guard import AdapterGuard
    from dragoman.cli.remote.options import chosen_target
    from dragoman.io.net.remote_errors import foreign_far_side

    try:
        return _Pump(daemon, AdapterGuard()).run()
    except RemoteProtocolError as error:
        target = chosen_target()
        fault = foreign_far_side(target=target.name if target else "", reason=error)
        _write_event("output", {"category": "important", "output": f"{render(fault.message)}\n"})
        _write_event("terminated", {})
        return report_error(fault)


def _write_event(event: str, body: dict[str, str]) -> None:
    _write_message({"seq": 1, "type": "event", "event": event, "body": body})


def _write_message(message: dict[str, object]) -> None:
    body = json.dumps(message).encode()
    _write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def _state_file() -> Path:
    return find_paths().state_file


def _open_daemon(paths: Paths, session: str, workspace: Path, *, read_only: bool) -> ControlClient:
    if is_remote():
        about = {**caller_info(workspace), "session": session, "read_only": read_only}
        return open_daemon(role="dap", about=about, starts_daemon=not session)
    folder = Path(working_folder()) if workspace == Path() else workspace.expanduser().absolute()
    about = {**caller_info(folder), "session": session, "read_only": read_only}
    try:
        return ControlClient.open(paths, role="dap", about=about)
    except DragomanError as error:
        if error.code not in _ABSENT or session:  # a new daemon has no session to join
            raise
    from dragoman.cli.daemon import launcher

    launcher.start(paths, launcher.DaemonStartOptions(folder))
    return ControlClient.open(paths, role="dap", about=about)


class _Pump:
    """Copies bytes both ways, no faster than the receiver reads, until the daemon closes. The end of input is passed
    on. With a daemon on another machine, the guard decides what passes.
    """

    def __init__(self, client: ControlClient, guard: AdapterGuard | None) -> None:
        self._client = client
        self._guard = guard
        self._daemon = client.detach_socket()
        self._daemon.settimeout(None)
        self._unsent = bytearray()

    def run(self) -> int:
        reads = {0, self._daemon.fileno()}
        while True:
            ready, _, _ = select.select(reads, (), ())
            if 0 in ready and not self._from_editor():
                reads.discard(0)
                with contextlib.suppress(OSError):
                    self._daemon.shutdown(socket.SHUT_WR)
            if self._daemon.fileno() in ready:
                if not self._from_daemon():
                    fault = self._client.fault()
                    return report_error(fault) if fault else ExitCode.OK
                self._send()

    def _from_editor(self) -> bool:
        data = _read(0)
        self._unsent += self._guard.to_far(data) if self._guard else data
        self._send()
        return bool(data)

    def _send(self) -> None:
        """Read from the daemon meanwhile: it may block until we read."""
        while self._unsent:
            readable, writable, _ = select.select([self._daemon], [self._daemon], ())
            if readable and not self._from_daemon():
                raise _EditorGoneError
            if writable:
                del self._unsent[: _send(self._daemon, self._unsent)]

    def _from_daemon(self) -> bool:
        try:
            data = self._daemon.recv(_CHUNK_SIZE)
        except OSError:
            return False
        if self._guard is None:
            _write(data)
        else:
            _write(self._guard.to_near(data))
            self._unsent += self._guard.take_refusals()
        return bool(data)


def _send(daemon: socket.socket, data: bytes | bytearray) -> int:
    try:
        return daemon.send(data, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
    except OSError:  # it closed, but its last answer can still be read
        return len(data)


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK_SIZE)
    except OSError:
        return b""


def _write(data: bytes) -> None:
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError as error:
        raise _EditorGoneError from error


# When no daemon can be reached.


def _answer_with_error(error: DragomanError) -> int:
    """Report the error to the user and as a DAP response, because editors do not explain an adapter that just exits."""
    status = report_error(error)
    text = f"{render(error.message)} {render(error.hint) if error.hint else ''}".strip()
    request = _first_request()
    if request:
        error_body = {"id": 1, "format": "{text}", "variables": {"text": text, "code": error.code}, "showUser": True}
        answer = {
            "seq": 1,
            "type": "response",
            "request_seq": request.get("seq", 0),
            "success": False,
            "command": request.get("command", ""),
            "message": text,
            "body": {"error": error_body},
        }
        _write_message(answer)
    return status


def _first_request() -> dict[str, object]:
    data, deadline = b"", time.monotonic() + _FIRST_REQUEST_TIMEOUT_S
    while len(data) < _MAX_FIRST_REQUEST:
        header, gap, body = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(header) if gap else None
        if length is not None and len(body) >= int(length[1]):
            with contextlib.suppress(ValueError, RecursionError):
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
