"""Errors: a stable code for programs, a sentence for people, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import TypeVar

from dragoman.phrases import Language, Phrase, say, sentences

_E = TypeVar("_E", bound=Exception)


class DragomanError(Exception):
    """Something a caller can act on. Faces turn it into text or JSON in one place each."""

    def __init__(self, code: str, message: Phrase, *, hint: Phrase | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.in_language("en")

    def in_language(self, language: Language) -> str:
        return sentences((self.message, self.hint), language)


class UsageError(DragomanError):
    """What was typed is not a command: a word of it is unknown, missing, too much, or not of its kind."""


def without_frames(error: _E) -> _E:
    """What it says, to be kept. Where it was raised would keep alive what was handled there, such as a message of
    megabytes, and in a circle: until the collector comes by, which many peers in a row can wait out."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error


def system_refused(error: OSError) -> DragomanError:
    """A system call that nothing could be done about, as a sentence."""
    where = error.filename or "?"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DragomanError(
            "disk_full",
            say("The disk is full: {path} could not be written.", path=where),
            hint=say("Free some space, then try again."),
        )
    return DragomanError(
        "system_refused",
        say("The system refused {path}: {reason}.", path=where, reason=error.strerror or error),
        hint=say("`dragoman doctor` looks for what may be wrong."),
    )


def disk_full() -> DragomanError:
    return DragomanError(
        "disk_full",
        say("The disk is full: nothing more can be recorded. What was acknowledged is safe."),
        hint=say("Free some space; recording goes on by itself."),
    )


def journal_io_failed(reason: object) -> DragomanError:
    return DragomanError(
        "journal_io_failed",
        say("The journal could not be read or written: {reason}.", reason=reason),
        hint=say("Check the disk that holds the journal."),
    )


def write_fault_row(fault: DragomanError | None) -> dict[str, str] | None:
    """Why nothing is recorded now, as a report carries it; whoever shows it says it in their own language."""
    return None if fault is None else {"code": fault.code, "reason": str(fault.message.values.get("reason", ""))}


def write_fault_lines(row: Mapping[str, str] | None) -> list[Phrase]:
    if row is None:
        return []
    fault = disk_full() if row["code"] == "disk_full" else journal_io_failed(row["reason"])
    return [say("{message} {hint}", message=fault.message, hint=fault.hint)]


class ProtocolError(Exception):
    """A protocol was broken. English only: it goes to logs, close reasons and people who debug protocols."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class LocalProtocolError(ProtocolError):
    """We misused a connection; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol; its connection ends, and only that."""
