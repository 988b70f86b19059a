"""Logging: structured lines to a rotating 0600 file, readable ones to the terminal. Never a token or an environment.

Rule for callers: log what happened and to which client, not the content. The filter is a second line of defence.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

import anyio

from dragoman.core.redaction import Redactor
from dragoman.core.safe_text import printable
from dragoman.io.files.private_files import ensure_private_folder, open_private

_BYTES_A_FILE = 5 << 20
# Logs are attached to bug reports: they hold no secrets, whatever the settings show to agents.
_REDACTOR = Redactor()
_OLD_FILES = 3
LINES_PER_SECOND = 20
"""Per message template and second: a peer may cause the same event millions of times, and people read only the first
few.
"""
_WINDOW_S = 1.0
_MAX_TEMPLATES = 500
_SUMMARY_EVERY_S = 5.0


class JsonLineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": _REDACTOR.text(record.getMessage()),
        }
        if record.exc_info:
            line["exception"] = _REDACTOR.text(record.exc_text or self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class PrivateRotatingFileHandler(RotatingFileHandler):
    """A log file with mode 0600 that is never opened through a symbolic link, also after a rotation."""

    def _open(self) -> io.TextIOWrapper:
        fd = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return os.fdopen(fd, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        """On a full disk, lines of the log are lost: there is nowhere to report that."""


class TerminalLogFormatter(logging.Formatter):
    """Escapes control characters, because messages may contain foreign text."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(_REDACTOR.text(super().format(record)))


@dataclass(slots=True)
class _Window:
    began_s: float
    written: int = 0
    left_out: int = 0


class RateLimitedHandler(logging.Handler):
    """Limits the records per message template and second, before they are formatted, so that dropped ones cost little.

    The number of dropped records is logged with the first record after that second, or by `summarize`.
    """

    def __init__(self, handlers: Iterable[logging.Handler], now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._handlers = list(handlers)
        self._now_s = now_s
        self._windows: dict[tuple[str, int, str], _Window] = {}

    def emit(self, record: logging.LogRecord) -> None:
        now_s = self._now_s()
        self._end_windows(now_s)
        key = (record.name, record.levelno, str(record.msg)[:200])
        if key not in self._windows and len(self._windows) >= _MAX_TEMPLATES:
            key = ("dragoman.logs", record.levelno, "%s")
        window = self._windows.setdefault(key, _Window(now_s))
        if window.written < LINES_PER_SECOND:
            window.written += 1
            self._forward(record)
        else:
            window.left_out += 1

    def summarize(self) -> None:
        with self.lock or contextlib.nullcontext():
            self._end_windows(self._now_s())

    def close(self) -> None:
        self._end_windows(float("inf"))
        for handler in self._handlers:
            handler.close()
        super().close()

    def _end_windows(self, now_s: float) -> None:
        for key, window in list(self._windows.items()):
            if now_s - window.began_s < _WINDOW_S:
                break  # in the order in which they began
            del self._windows[key]
            if window.left_out:
                name, level, template = key
                values = (window.left_out, template)
                self._forward(
                    logging.LogRecord(name, level, "", 0, "%d more like this were left out: %s", values, None)
                )

    def _forward(self, record: logging.LogRecord) -> None:
        for handler in self._handlers:
            if record.levelno >= handler.level:
                handler.handle(record)


class SecretFilter(logging.Filter):
    """Replaces the current tokens in messages and tracebacks."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redacted(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._redacted(logging.Formatter().formatException(record.exc_info))
        return True

    def _redacted(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, "<token>")
        return text


def start_logging(file: Path, *, level: str, terminal: bool, secrets: Callable[[], Iterable[str]]) -> None:
    ensure_private_folder(file.parent)
    handlers: list[logging.Handler] = [PrivateRotatingFileHandler(file, maxBytes=_BYTES_A_FILE, backupCount=_OLD_FILES)]
    handlers[0].setFormatter(JsonLineFormatter())
    if terminal:
        handlers.append(logging.StreamHandler(sys.stderr))
        handlers[1].setFormatter(TerminalLogFormatter("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S"))
    for handler in handlers:
        handler.addFilter(SecretFilter(secrets))
    logging.basicConfig(level=level.upper(), handlers=[RateLimitedHandler(handlers)], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # its start and stop lines repeat ours
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)


async def summarize_logs() -> None:
    """Log the number of dropped records also if no other record follows."""
    while True:
        await anyio.sleep(_SUMMARY_EVERY_S)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, RateLimitedHandler):
                handler.summarize()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether to log it: uvicorn reports a WebSocket that we refuse as an application error, and strangers could fill
    the log.
    """
    return "without completing handshake" not in record.getMessage()
