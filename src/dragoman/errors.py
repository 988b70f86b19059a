"""Errors: a stable code for programs, a sentence for people, and what to do next."""

from __future__ import annotations

from dragoman.phrases import Phrase


class DragomanError(Exception):
    """Something a caller can act on. Faces turn it into text or JSON in one place each."""

    def __init__(self, code: str, message: Phrase, *, hint: Phrase | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else str(self.message)


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
