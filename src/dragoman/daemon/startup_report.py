"""Reports how the start went: to a person at a terminal, or to the launcher through a pipe."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dragoman.core.errors import DragomanError, dragoman_failed, system_refused
from dragoman.core.localization import Language, LocalizedText, localize, preferred_language
from dragoman.io.files.private_files import open_private

if TYPE_CHECKING:
    from dragoman.daemon.app import RunningDaemon

log = logging.getLogger(__name__)


def banner(running: RunningDaemon, language: Language) -> str:
    state = running.state
    lines: list[LocalizedText] = [
        localize("Dragoman {version} is running in {workspace}.", version=state.version, workspace=state.workspace),
        localize("  Page:        {address}/#code={code}", address=state.page_address, code=running.login_code),
        localize(
            "               The link works once and expires in two minutes. For a new one, run this in "
            "another terminal:"
        ),
        localize("               {command}", command=_prefixed("page")),
        localize("  Claude Code: {line}", line=_claude()),
        localize("  Cursor:      {line}", line=_prefixed("client-config cursor --write")),
        localize("  Press Ctrl-C to stop."),
    ]
    if state.wanted_port not in {0, state.port}:
        lines.insert(
            1,
            localize(
                "  Port {wanted} is in use; using port {port} instead.", wanted=state.wanted_port, port=state.port
            ),
        )
    return "".join(line.in_language(language) + "\n" for line in lines)


def _claude() -> str:
    home = os.environ.get("DRAGOMAN_HOME")
    variable = f" -e {shlex.quote(f'DRAGOMAN_HOME={home}')}" if home else ""
    return f"claude mcp add -s user dragoman{variable} -- {_command()} mcp"


def _prefixed(arguments: str) -> str:
    """The command with the environment variables that it needs in another terminal to reach this daemon."""
    home = os.environ.get("DRAGOMAN_HOME")
    variable = f"DRAGOMAN_HOME={shlex.quote(home)} " if home else ""
    return f"{variable}{_command()} {arguments}"


def _command() -> str:
    """The bare name if the shell finds this installation by it, else the full path."""
    own = Path(sys.executable).with_name("dragoman")
    found = shutil.which("dragoman")
    return "dragoman" if found and Path(found).resolve() == own.resolve() else shlex.quote(str(own))


class StartupReporter(Protocol):
    def ready(self, running: RunningDaemon) -> None: ...

    def failed(self, error: DragomanError) -> int: ...


class ForegroundReporter:
    def ready(self, running: RunningDaemon) -> None:
        _write(banner(running, preferred_language()), sys.stdout.fileno())

    def failed(self, error: DragomanError) -> int:
        message, hint = _localized_texts(error)
        _write(f"dragoman: {message}\n" + (f"  {hint}\n" if hint else ""), sys.stderr.fileno())
        return 1


class LauncherReporter:
    """Writes one line of JSON to the launcher. If the launcher was killed meanwhile, the daemon still runs."""

    def __init__(self, log_file: Path) -> None:
        self._log_file = log_file
        self._has_reported = False

    def ready(self, running: RunningDaemon) -> None:
        """Report the start, and redirect later output of the interpreter to the log.

        The log is opened first: a log that cannot be opened prevents the start, but must not end a daemon that was
        reported as running.
        """
        fd = open_private(self._log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._report({"state": asdict(running.state), "login_code": running.login_code})
        for output in (1, 2):
            os.dup2(fd, output)
        os.close(fd)

    def failed(self, error: DragomanError) -> int:
        message, hint = _localized_texts(error)
        if self._has_reported:
            log.error("ended: %s (%s)", message, error.code)
        else:
            self._report({"error": {"code": error.code, "message": message, "hint": hint}})
        return 1

    def _report(self, line: dict[str, object]) -> None:
        self._has_reported = True
        _write(json.dumps(line) + "\n", sys.stdout.fileno())


def as_dragoman_error(error: Exception) -> DragomanError:
    """An unexpected error as a message; its traceback is in the log."""
    if isinstance(error, OSError):
        return system_refused(error)
    return dragoman_failed(reason=error)


def _localized_texts(error: DragomanError) -> tuple[str, str]:
    language = preferred_language()
    return error.message.in_language(language), error.hint.in_language(language) if error.hint else ""


def _write(text: str, fd: int) -> None:
    """Write unbuffered, so that nothing is left to flush into a pipe or terminal that has been closed."""
    data = text.encode(errors="backslashreplace")
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(fd, data) :]
