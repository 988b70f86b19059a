"""The messages of the protocol document, which both revisions share; fields stand in their order on the wire.

Not frozen: a frozen dataclass is built three times more slowly, and these are built for every key pressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class IoDirection(Enum):
    INPUT = "Input"
    OUTPUT = "Output"


@dataclass(slots=True)
class SessionStart:
    """A shell begins; sent again with the same id after a reconnect."""

    session_id: str
    parent_session_id: str | None
    timestamp_ms: int
    attrs: dict[str, str]


@dataclass(slots=True)
class SessionEnd:
    """A shell ended."""

    session_id: str
    timestamp_ms: int
    exit_code: int | None


@dataclass(slots=True)
class IoData:
    """What was typed or shown."""

    session_id: str
    direction: IoDirection
    timestamp_ms: int
    data: bytes


@dataclass(slots=True)
class NonZeroExit:
    """A command failed."""

    exit_code: int


@dataclass(slots=True)
class PatternMatch:
    """The output matched something that is watched for."""

    pattern: str


@dataclass(slots=True)
class CommandBoundary:
    """A command begins."""

    command: str


@dataclass(slots=True)
class Event:
    """A notice; the reference defines it and never sends it."""

    session_id: str
    timestamp_ms: int
    event_type: NonZeroExit | PatternMatch | CommandBoundary


@dataclass(slots=True)
class CurrentSession:
    """Ask about the asker's own session."""


@dataclass(slots=True)
class AllSessions:
    """Ask about every session."""


@dataclass(slots=True)
class Sessions:
    """Ask about these sessions."""

    session_ids: list[str]


@dataclass(slots=True)
class Request:
    """A question to the model."""

    request_id: str
    session_id: str
    query: str
    scope: CurrentSession | AllSessions | Sessions


@dataclass(slots=True)
class Response:
    """The model's answer."""

    request_id: str
    content: str
    is_streaming: bool
    is_final: bool


@dataclass(slots=True)
class CommandRecord:
    """One command; the daemon fills the stream's offset and length itself."""

    command_id: str
    session_id: str
    command_line: str | None
    cwd: str | None
    started_at: int
    ended_at: int | None
    output_summary: str
    stream_offset: int
    stream_length: int
    exit_code: int | None


@dataclass(slots=True)
class CommandComplete:
    """A command ended."""

    session_id: str
    record: CommandRecord


@dataclass(slots=True)
class CompletionRequest:
    """`cwd` was added in the newer revision; it is not sent to a peer of the older one."""

    session_id: str
    input: str
    cursor_pos: int
    sequence_id: int
    cwd: str | None = None


@dataclass(slots=True)
class CompletionSuggestion:
    """One completion, with a confidence from 0 to 1."""

    text: str
    confidence: float


@dataclass(slots=True)
class CompletionResponse:
    """The completions for the request with this sequence id."""

    sequence_id: int
    suggestions: list[CompletionSuggestion]


@dataclass(slots=True)
class Ack:
    """Received; in the newer revision also the end of several replies."""
