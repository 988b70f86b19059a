"""What commands print: messages, JSON, errors with their exit code, questions and progress.

Standard library only: the fast commands import it. `rich` is loaded only when a spinner is shown.
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
    """The exit codes that scripts may rely on; listed in docs/reference/commands.md."""

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
    """Print data instead of a message: a snippet, a path, a log line."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def show_json(value: object) -> None:
    """Print JSON in ASCII: no locale can damage it, and no terminal interprets any of it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def show_json_line(value: object) -> None:
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")


def show_status_line(localized: LocalizedText | None = None) -> None:
    """Replace the status line on a terminal; without a text, erase it."""
    sys.stderr.write("\r\x1b[2K" + (render(localized) if localized else ""))
    sys.stderr.flush()


def report_error(error: DragomanError, *, as_json: bool = False) -> int:
    """Print an error and return the exit code. Errors become text only here."""
    shown = error_json(error)
    if as_json:
        show_json({"error": shown})
    else:
        hint = f"  {shown['hint']}\n" if shown["hint"] else ""
        sys.stderr.write(printable(f"dragoman: {shown['message']}\n{hint}"))
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    return ExitCode.NOT_RUNNING if error.code == "not_running" else ExitCode.FAILED


def error_json(error: DragomanError) -> dict[str, str]:
    language = preferred_language()
    hint = error.hint.in_language(language) if error.hint else ""
    return {"code": error.code, "message": error.message.in_language(language), "hint": hint}


def confirm(question: LocalizedText) -> bool:
    """Ask the user. Without a terminal the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    # Discard what was typed before the question appeared.
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stderr.write(question.in_language(preferred_language()) + " [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}


def escape_unencodable_output() -> None:
    """Escape characters that the locale lacks: Chinese on a Latin-1 terminal must not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush_output() -> bool:
    """Flush the output and return whether that worked. On failure the rest is discarded."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()
        return False
    return True


def discard_output() -> None:
    """Stop writing to a reader that has gone: the interpreter flushes again when it exits, and would report an
    error.
    """
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(phrases: Iterable[LocalizedText], stream: TextIO) -> None:
    """Print messages. Their values come from files and other programs, so control characters are escaped."""
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
