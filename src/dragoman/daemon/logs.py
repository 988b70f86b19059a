"""Logs: structured lines to a rotating 0600 file, readable ones to the terminal. Never a token or an environment.

Rule for callers: log what happened and to whom, not what it contained. The filter is for what slips through.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from dragoman.transport.private_files import ensure_private_folder, open_private
from dragoman.visible import visible

_BYTES_A_FILE = 5 << 20
_OLD_FILES = 3


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class PrivateRotatingFile(RotatingFileHandler):
    """Opened 0600 and never through a symbolic link, also after each rotation."""

    def _open(self) -> io.TextIOWrapper:
        fd = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return os.fdopen(fd, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        """A full disk loses lines of the log, and nothing else: there is nowhere left to say so."""


class ForTerminal(logging.Formatter):
    """What others sent must not move the cursor of the one who watches."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class WithoutSecrets(logging.Filter):
    """Blots out the present tokens wherever they stand in a message or a traceback."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._blotted(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._blotted(logging.Formatter().formatException(record.exc_info))
        return True

    def _blotted(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, "<token>")
        return text


def start_logging(file: Path, *, level: str, terminal: bool, secrets: Callable[[], Iterable[str]]) -> None:
    ensure_private_folder(file.parent)
    handlers: list[logging.Handler] = [PrivateRotatingFile(file, maxBytes=_BYTES_A_FILE, backupCount=_OLD_FILES)]
    handlers[0].setFormatter(JsonLines())
    if terminal:
        handlers.append(logging.StreamHandler(sys.stderr))
        handlers[1].setFormatter(ForTerminal("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S"))
    for handler in handlers:
        handler.addFilter(WithoutSecrets(secrets))
    logging.basicConfig(level=level.upper(), handlers=handlers, force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # its start and stop lines repeat ours
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """uvicorn calls a WebSocket that we refuse before the upgrade an error of the application; strangers could fill
    the log with it."""
    return "without completing handshake" not in record.getMessage()
