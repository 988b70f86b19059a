"""Errors: a stable code for programs, a sentence for people, and what to do next."""

from __future__ import annotations

import errno

from dragoman.phrases import Language, Phrase, say


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
        said = [self.message, *([self.hint] if self.hint else [])]
        return " ".join(it.in_language(language) for it in said)


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
