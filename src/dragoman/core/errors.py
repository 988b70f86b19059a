"""Errors: a stable code for programs, a sentence for people, and a hint about what to do next."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, TypeVar

from dragoman.core.localization import Language, LocalizedText, join_sentences, localize

_E = TypeVar("_E", bound=Exception)


class DragomanError(Exception):
    """An error that a caller can act on. Each server turns it into text or JSON in one place.

    `details` holds what the error is about, for programs: names, lines, suggestions.
    """

    def __init__(self, code: str, message: LocalizedText, *, hint: LocalizedText | None = None, **details: Any) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint
        self.details: Mapping[str, Any] = details

    def __str__(self) -> str:
        return self.in_language("en")

    def in_language(self, language: Language) -> str:
        return join_sentences((self.message, self.hint), language)


class ErrorSpec:
    """One row of a domain's table of errors: a stable code, a message, a hint, and how values are shown in them.

    Calling it with the values of both templates makes the error. `tools/catalogue.py` extracts the templates, and
    `tests/test_phrases.py` checks that each call gives exactly the values they name. A subclass sets the class of its
    errors.
    """

    __slots__ = ("_show", "code", "hint", "message")
    error_type: type[DragomanError] = DragomanError

    def __init__(self, code: str, message: str, hint: str = "", /, **show: Callable[[Any], object]) -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self._show = show

    def __call__(self, *, details: Mapping[str, object] | None = None, **values: object) -> DragomanError:
        shown = {name: self._show[name](value) if name in self._show else value for name, value in values.items()}
        hint = _filled(self.hint, shown) if self.hint else None
        return self.error_type(self.code, _filled(self.message, shown), hint=hint, **(details or {}))


def _filled(template: str, values: Mapping[str, object]) -> LocalizedText:
    named = {name for _, name, _, _ in Formatter().parse(template) if name}
    return LocalizedText(template, {name: value for name, value in values.items() if name in named})


def quoted(characters: int) -> Callable[[str], str]:
    """Show foreign text in quotes, cut, with non-ASCII characters escaped."""
    return lambda text: ascii(text[:characters])


def cut(characters: int) -> Callable[[str], str]:
    return lambda text: text[:characters]


def or_else(instead: str) -> Callable[[object], object]:
    """Show a replacement if there is no value."""
    return lambda value: value or instead


def short_number(number: float) -> str:
    return f"{number:g}"


internal_error = ErrorSpec("internal_error", "Internal error in the daemon.", "See `dragoman logs`, then try again.")
dragoman_failed = ErrorSpec(
    "internal_error",
    "Dragoman failed: {reason}.",
    "This is a bug in Dragoman. Please report it with the output of `dragoman logs`.",
    reason=lambda error: f"{type(error).__name__}: {error}",
)


class UsageError(DragomanError):
    """The command line is invalid: a word is unknown, missing, superfluous, or of the wrong type."""


def without_traceback(error: _E) -> _E:
    """The error without its traceback, so that it can be kept.

    The traceback would keep local variables alive, such as a message of megabytes, in a reference cycle: many peers in
    a row could fill the memory before the collector runs.
    """
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error


def system_refused(error: OSError) -> DragomanError:
    """A failed system call as an error with a message."""
    where = error.filename or "?"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _file_not_written(path=where)
    return _system_refused(path=where, reason=error.strerror or error)


_file_not_written = ErrorSpec(
    "disk_full", "The disk is full: cannot write {path}.", "Free some disk space, then try again."
)
_system_refused = ErrorSpec(
    "system_refused", "Cannot access {path}: {reason}.", "Run `dragoman doctor` to diagnose the problem."
)


disk_full = ErrorSpec(
    "disk_full",
    "The disk is full, so recording has stopped. Acknowledged data is safe.",
    "Free some disk space. Recording then resumes automatically.",
)
journal_io_failed = ErrorSpec(
    "journal_io_failed",
    "Cannot read or write the journal: {reason}.",
    "Check the disk where the journal is stored.",
)


def write_fault_json(fault: DragomanError | None) -> dict[str, str] | None:
    """Why nothing is recorded now, as part of a status report. The reader translates it."""
    return None if fault is None else {"code": fault.code, "reason": str(fault.message.values.get("reason", ""))}


def write_fault_lines(row: Mapping[str, str] | None) -> list[LocalizedText]:
    if row is None:
        return []
    fault = disk_full() if row["code"] == "disk_full" else journal_io_failed(reason=row["reason"])
    return [localize("{message} {hint}", message=fault.message, hint=fault.hint)]


class ProtocolError(Exception):
    """A protocol was broken. English only: it goes to logs, close reasons and people who debug protocols."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class LocalProtocolError(ProtocolError):
    """Dragoman misused a connection; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol; only its connection ends."""
