"""What commands print: messages, JSON, errors with their exit code, questions and progress.

Standard library alone: the fast commands import it. `rich` is loaded only when a spinner is shown.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import termios
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from dragoman.core.errors import DragomanError, UsageError
from dragoman.core.localization import LocalizedText, preferred_language
from dragoman.core.safe_text import printable


class ExitCode:
    """What a script may rely on; listed in docs/guides/command-line.md."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_RUNNING = 3
    DECLINED = 4
    PROGRAM_FAILED = 5
    TIMEOUT = 6
    INTERRUPTED = 130


def render(localized: LocalizedText) -> str:
    return localized.in_language(preferred_language())


def show_message(*phrases: LocalizedText) -> None:
    _print(phrases, sys.stdout)


def warn(*phrases: LocalizedText) -> None:
    _print(phrases, sys.stderr)


def show_text(text: str) -> None:
    """Text that is data, not a sentence of ours: a snippet, a path, a log line."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def show_json(value: object) -> None:
    """ASCII, as is every JSON of ours: no locale can spoil it, and a terminal that it lands on obeys none of it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def show_json_line(value: object) -> None:
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")


def show_status_line(localized: LocalizedText | None = None) -> None:
    """A line on a terminal that the next one takes the place of; without a phrase nothing does."""
    sys.stderr.write("\r\x1b[2K" + (render(localized) if localized else ""))
    sys.stderr.flush()


def report_error(error: DragomanError, *, as_json: bool = False) -> int:
    """The one place where an error becomes text here; returns the exit code to leave with."""
    language = preferred_language()
    hint = error.hint.in_language(language) if error.hint else ""
    message = error.message.in_language(language)
    if as_json:
        show_json({"error": {"code": error.code, "message": message, "hint": hint}})
    else:
        sys.stderr.write(printable(f"dragoman: {message}\n" + (f"  {hint}\n" if hint else "")))
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    return ExitCode.NOT_RUNNING if error.code == "not_running" else ExitCode.FAILED


def confirm(question: LocalizedText) -> bool:
    """A person's yes. Anything but a terminal is a no: nothing is agreed to by silence."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    # What was typed or pasted before the question was there is no answer to it.
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stderr.write(question.in_language(preferred_language()) + " [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}


def escape_unencodable_output() -> None:
    """A locale that lacks a character of ours shows its number; Chinese on a Latin-1 terminal is no reason to end."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush_output() -> bool:
    """Write what is still held back; whether that was possible. What was not is forgotten."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()
        return False
    return True


def discard_output() -> None:
    """The reader has gone: the interpreter flushes once more at its end, and must not complain about that."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(phrases: Iterable[LocalizedText], stream: TextIO) -> None:
    """Values come from files, variables and other programs: none of them may move a cursor."""
    language = preferred_language()
    stream.writelines(printable(localized.in_language(language)) + "\n" for localized in phrases)


@contextmanager
def progress(on: LocalizedText) -> Iterator[None]:
    if not sys.stderr.isatty():
        sys.stderr.write(f"{render(on)}…\n")
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{render(on)}…"):
        yield
