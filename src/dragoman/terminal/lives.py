"""Terminals as they live: what is known of each, and how what its client tells again is left out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace

from dragoman.terminal.model import GAP, PRIVATE, RESUMES_AT, RUNNING, VERIFIES, Command, Terminal
from dragoman.terminal.recorder import Recorder, Stretch
from dragoman.terminal.resuming import Left
from dragoman.terminal.stream import Kind
from dragoman.terminal.told import TerminalSeen

# They speak of a moment in the stream, not of the terminal.
MOMENTARY = frozenset({GAP, RESUMES_AT})
_RECENT_COMMANDS = 256


@dataclass(slots=True, eq=False)
class Known:
    """A terminal of the record, living or not."""

    terminal: Terminal
    commands: int = 0
    connected: bool = False
    life: Life | None = None

    def seen(self) -> TerminalSeen:
        return TerminalSeen(
            terminal=self.terminal,
            connected=self.connected,
            running=self.life.present if self.life else None,
            commands=self.commands,
        )


@dataclass(slots=True, eq=False)
class Life:
    """A terminal that is written to. One thing at a time: whoever tells something holds the lock."""

    known: Known
    recorder: Recorder
    last_at_ms: int = 0
    running: Command | None = None
    client_at: int | None = None
    """Which byte of its output the client sends next, where it counts from a point before ours."""
    resends: bool = False
    """Whether its client keeps what is not acknowledged, and sends it again on a new connection."""
    resumed: bool = False
    """Whether commands of this terminal may have been told to an earlier life of ours."""
    unsaved: dict[str, Stretch] = field(default_factory=dict)
    """The last output whose command could not be stored: its client tells the command again."""
    recent: deque[Command] = field(default_factory=lambda: deque(maxlen=_RECENT_COMMANDS))
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def present(self) -> Command | None:
        """What runs, with what it has printed so far."""
        if self.running is None:
            return None
        done = self.recorder.stretch
        return replace(self.running, output=done.span, output_bytes=done.output_bytes, lost_bytes=done.lost_bytes)

    @property
    def line(self) -> str:
        """Of what runs, or else of what ran last."""
        commands = [self.running] if self.running else [*self.recent][-1:]
        return commands[0].line if commands else ""

    @property
    def last_started_ms(self) -> int:
        """A clock may be set back: what ran last would then be listed before what ran earlier."""
        return self.recent[-1].started_ns // 1_000_000 if self.recent else 0

    @property
    def broken(self) -> bool:
        """Nothing more is taken: its client must come back and go on from what is in the record."""
        return self.resends and self.recorder.failed

    @property
    def private(self) -> bool:
        return self.known.terminal.attributes.get(PRIVATE) == "1"

    @property
    def verifies(self) -> bool:
        return self.known.terminal.attributes.get(VERIFIES) == "1"

    def resume_at(self, position: int) -> int:
        """The client goes on from here; how many bytes before it have never come."""
        self.resends = True
        self.client_at = position
        return max(0, position - self.recorder.received)

    def fresh(self, kind: Kind, at_ms: int, data: bytes) -> bytes:
        """What of it was not told before."""
        if self.client_at is None:
            return data
        if kind is Kind.INPUT:
            return b"" if self.client_at < self.recorder.received or at_ms <= self.last_at_ms else data
        known = self.recorder.received - self.client_at
        self.client_at += len(data)
        if self.client_at > self.recorder.received:
            self.client_at = None
        return data[known:] if known > 0 else data

    def repeats(self, at_ms: int, line: str) -> bool:
        """Whether this beginning of a command was told before."""
        if self.client_at is None:
            return False
        if self.client_at < self.recorder.received:
            return True
        known = [*self.recent, *([self.running] if self.running else [])]
        return (at_ms, line) in [(command.started_ns // 1_000_000, command.line) for command in known]

    def repeats_gap(self, lost: int) -> bool:
        if self.client_at is None:
            return False
        return self.client_at < self.recorder.received or self.recorder.last == (Kind.GAP, b"%d" % lost)

    def after(self, left: Left) -> None:
        """Go on where an earlier life of ours stopped."""
        self.recorder.received, self.recorder.shown = left.received, left.shown
        self.recorder.stretch = left.stretch
        self.recorder.output.go_on_after(left.tail)
        self.last_at_ms = left.last_at_ms
        self.recorder.last = left.last
        self.resumed = True
        if left.began:
            self.run(left.began.data.decode("utf-8", "replace"), left.began.at_ms)

    def run(self, line: str, at_ms: int) -> None:
        name = self.known.terminal.id
        self.running = Command(id=name + RUNNING, terminal=name, line=line, started_ns=at_ms * 1_000_000)


def count(text: str | None) -> int:
    """A number that a client tells; what is none counts as nothing."""
    return min(int(text), (1 << 62)) if text and len(text) < 20 and text.isascii() and text.isdigit() else 0
