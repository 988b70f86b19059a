"""What the record of terminals is told and asked, and what it answers."""

from __future__ import annotations

import msgspec

from dragoman.terminal.model import Command, Terminal


class CommandTold(msgspec.Struct, frozen=True, kw_only=True):
    """A command that ended, as a client tells it."""

    id: str
    terminal: str
    line: str | None = None
    cwd: str | None = None
    started_ms: int
    ended_ms: int | None = None
    exit_code: int | None = None
    summary: str = ""


class Failed(msgspec.Struct, frozen=True):
    exit_code: int


class PatternSeen(msgspec.Struct, frozen=True):
    text: str


Notice = Failed | PatternSeen


class TerminalSeen(msgspec.Struct, frozen=True, kw_only=True):
    terminal: Terminal
    connected: bool
    running: Command | None = None
    commands: int = 0


class CommandFilter(msgspec.Struct, frozen=True, kw_only=True):
    """All that is set must hold."""

    text: str = ""
    terminal: str = ""
    besides: tuple[str, ...] = ()
    """Not of these terminals."""
    cwd: str = ""
    """This folder and those below it."""
    failed: bool = False
    since_ns: int | None = None
    verified: bool = False

    @property
    def narrows(self) -> bool:
        """Whether something is asked of a command besides its words and its terminal."""
        return bool(self.cwd or self.failed or self.verified or self.since_ns is not None)

    def fits(self, command: Command) -> bool:
        """What narrows, for a command that is at hand."""
        folder = self.cwd.rstrip("/")
        return (
            (not self.cwd or f"{command.cwd}/".startswith(f"{folder}/"))
            and (not self.failed or command.failed)
            and (not self.verified or command.verified)
            and (self.since_ns is None or command.started_ns >= self.since_ns)
        )


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A line of output with all the words."""

    command_id: str
    """Empty for what was printed between commands."""
    terminal: str
    line: str
    at_ns: int = 0


class OutputSearch(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[Hit]
    """Newest first."""
    indexed_upto_ns: int
    """Output from before this moment was found by the index; what is younger was read."""
    scanned_bytes: int
    complete: bool
    """Whether everything was looked at; otherwise the limit or the deadline came first."""
    back_to_ns: int | None = None
    """Where not everything was: about how far back it was."""


class OutputPage(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    """As it was shown, escape sequences and all, secrets redacted."""
    offset: int
    total: int
