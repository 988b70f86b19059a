"""What an agent did wrong, said so that it can repair it: a code, a place in its message, and a sentence."""

from __future__ import annotations

from dragoman.errors import RemoteProtocolError


class A2uiError(RemoteProtocolError):
    """A refused message. `pointer` is an RFC 6901 pointer into the message (or list of messages) as it came in."""

    def __init__(self, code: str, pointer: str, message: str) -> None:
        super().__init__(code, message)
        self.args = (code, pointer, message)
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.message} (at {self.pointer or 'the whole message'})"

    def under(self, prefix: str) -> A2uiError:
        """The same error, seen from the document that contains the message."""
        return A2uiError(self.code, prefix + self.pointer, self.message)
