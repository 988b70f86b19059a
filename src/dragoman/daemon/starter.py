"""The one who started us and waits to hear: a person at a terminal, or the launcher at a pipe."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dragoman.daemon.banner import banner
from dragoman.errors import DragomanError, system_refused
from dragoman.phrases import preferred_language, say
from dragoman.transport.private_files import open_private

if TYPE_CHECKING:
    from dragoman.daemon.app import Running  # and all that it puts together

log = logging.getLogger(__name__)


class Starter(Protocol):
    def ready(self, running: Running) -> None: ...

    def failed(self, error: DragomanError) -> int: ...


class Foreground:
    def ready(self, running: Running) -> None:
        _say(banner(running, preferred_language()), sys.stdout.fileno())

    def failed(self, error: DragomanError) -> int:
        message, hint = _words(error)
        _say(f"dragoman: {message}\n" + (f"  {hint}\n" if hint else ""), sys.stderr.fileno())
        return 1


class Launcher:
    """Reads one line. It may have been killed meanwhile: that is no reason to end what others may have found by now."""

    def __init__(self, log_file: Path) -> None:
        self._log_file = log_file
        self._told = False

    def ready(self, running: Running) -> None:
        self._tell({"state": asdict(running.state), "login_code": running.login_code})
        self._let_go_of_the_pipe()

    def failed(self, error: DragomanError) -> int:
        message, hint = _words(error)
        if self._told:
            log.error("ended: %s (%s)", message, error.code)
        else:
            self._tell({"error": {"code": error.code, "message": message, "hint": hint}})
        return 1

    def _tell(self, line: dict[str, object]) -> None:
        self._told = True
        _say(json.dumps(line) + "\n", sys.stdout.fileno())

    def _let_go_of_the_pipe(self) -> None:
        """From here on nobody reads our output: what the interpreter itself has to say goes to the log."""
        fd = open_private(self._log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        os.close(fd)


def in_words(error: Exception) -> DragomanError:
    """What nobody foresaw, as a sentence; its traceback is in the log."""
    if isinstance(error, OSError):
        return system_refused(error)
    return DragomanError(
        "internal_error",
        say("Dragoman failed: {reason}.", reason=f"{type(error).__name__}: {error}"),
        hint=say("This is a fault of Dragoman: please report it with what `dragoman logs` shows."),
    )


def _words(error: DragomanError) -> tuple[str, str]:
    language = preferred_language()
    return error.message.in_language(language), error.hint.in_language(language) if error.hint else ""


def _say(text: str, fd: int) -> None:
    """Without a buffer, so that nothing is left to be flushed at the end into a pipe or a terminal that has gone."""
    data = text.encode(errors="backslashreplace")
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(fd, data) :]
