"""The state of known and live terminals, and the detection of data that a client sends again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace

from dragoman.terminal.model import (
    GAP,
    PRIVATE,
    RESUMES_AT,
    RUNNING,
    VERIFIES,
    RecordedCommand,
    RecordedTerminal,
    TerminalStatus,
)
from dragoman.terminal.record.stream import FrameKind, OutputRange, StreamWriter
from dragoman.terminal.record.stream_reader import ResumeState

# These describe a moment in the stream, not the terminal.
MOMENTARY_ATTRIBUTES = frozenset({GAP, RESUMES_AT})
_RECENT_COMMANDS = 256


@dataclass(slots=True, eq=False)
class KnownTerminal:
    """A recorded terminal, live or ended."""

    terminal: RecordedTerminal
    commands: int = 0
    connected: bool = False
    live: LiveTerminal | None = None

    def status(self) -> TerminalStatus:
        return TerminalStatus(
            terminal=self.terminal,
            connected=self.connected,
            running=self.live.present if self.live else None,
            commands=self.commands,
        )


@dataclass(slots=True, eq=False)
class LiveTerminal:
    """A terminal that is being written to. Its lock is held while a report is handled."""

    known: KnownTerminal
    recorder: StreamWriter
    last_at_ms: int = 0
    running: RecordedCommand | None = None
    client_at: int | None = None
    """The offset of the next byte of output from the client, while it resends what we may have."""
    resends: bool = False
    """Whether the client keeps unacknowledged data and sends it again on a new connection."""
    resumed: bool = False
    """Whether commands of this terminal may have been reported to an earlier daemon."""
    unsaved: dict[str, OutputRange] = field(default_factory=dict)
    """The last output whose command could not be stored: its client reports the command again."""
    recent: deque[RecordedCommand] = field(default_factory=lambda: deque(maxlen=_RECENT_COMMANDS))
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def present(self) -> RecordedCommand | None:
        """The running command, with its output so far."""
        if self.running is None:
            return None
        done = self.recorder.output_range
        return replace(self.running, output=done.span, output_bytes=done.output_bytes, lost_bytes=done.lost_bytes)

    @property
    def line(self) -> str:
        """The line of the running command, or of the last one."""
        commands = [self.running] if self.running else [*self.recent][-1:]
        return commands[0].line if commands else ""

    @property
    def last_started_ms(self) -> int:
        """The start of the last command. Clocks are set back; without this, a later command would be listed before
        an earlier one."""
        return self.recent[-1].started_ns // 1_000_000 if self.recent else 0

    @property
    def broken(self) -> bool:
        """Whether nothing more is accepted: the client must reconnect and resume from what is in the record."""
        return self.resends and self.recorder.failed

    @property
    def private(self) -> bool:
        return self.known.terminal.attributes.get(PRIVATE) == "1"

    @property
    def verifies(self) -> bool:
        return self.known.terminal.attributes.get(VERIFIES) == "1"

    def resume_at(self, position: int) -> int:
        """The client resumes here; return how many bytes before it were never received."""
        self.resends = True
        self.client_at = position
        return max(0, position - self.recorder.received)

    def fresh(self, kind: FrameKind, at_ms: int, data: bytes) -> bytes:
        """The part of the data that was not received before."""
        if self.client_at is None:
            return data
        if kind is FrameKind.INPUT:
            return b"" if self.client_at < self.recorder.received or at_ms <= self.last_at_ms else data
        known = self.recorder.received - self.client_at
        self.client_at += len(data)
        if self.client_at > self.recorder.received:
            self.client_at = None
        return data[known:] if known > 0 else data

    def repeats(self, at_ms: int, line: str) -> bool:
        """Whether this start of a command was reported before."""
        if self.client_at is None:
            return False
        if self.client_at < self.recorder.received:
            return True
        known = [*self.recent, *([self.running] if self.running else [])]
        return (at_ms, line) in [(command.started_ns // 1_000_000, command.line) for command in known]

    def repeats_gap(self, lost: int) -> bool:
        if self.client_at is None:
            return False
        return self.client_at < self.recorder.received or self.recorder.last == (FrameKind.GAP, b"%d" % lost)

    def after(self, left: ResumeState) -> None:
        """Continue where an earlier daemon stopped."""
        self.recorder.received, self.recorder.shown = left.received, left.shown
        self.recorder.output_range = left.output_range
        self.recorder.output.resume_after(left.tail)
        self.last_at_ms = left.last_at_ms
        self.recorder.last = left.last
        self.resumed = True
        if left.began:
            self.run(left.began.data.decode("utf-8", "replace"), left.began.at_ms)

    def run(self, line: str, at_ms: int) -> None:
        name = self.known.terminal.id
        self.running = RecordedCommand(id=name + RUNNING, terminal=name, line=line, started_ns=at_ms * 1_000_000)


def parse_count(text: str | None) -> int:
    """Parse a number from a client; invalid values count as 0."""
    return min(int(text), (1 << 62)) if text and len(text) < 20 and text.isascii() and text.isdigit() else 0
