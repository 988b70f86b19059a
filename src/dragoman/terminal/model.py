"""The nouns of the terminal: a terminal, a command that ran in it, and where its output stands in the record."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from dragoman.journal import Span
from dragoman.wire.osc import SUSPENDED

# Attributes that our own wrapper adds to a session's start; a client that does not know them sends none.
VERIFIES = "dragoman.verifies"
"""`1`: commands of this session are verified by a nonce, unless their id says otherwise (`UNVERIFIED`)."""
RESUMES_AT = "dragoman.resumes_at"
"""How many bytes of output this session has sent before the ones that follow; those known already are dropped."""
GAP = "dragoman.gap"
"""How many bytes of output were lost at this point, because nobody took them in time."""
STREAMS = "dragoman.stream"
"""`1`: answers to questions may come in several responses."""
LANGUAGE = "dragoman.language"
"""Of its shell, in which it is answered."""
FOLDER = "dragoman.folder"
"""Where a wrapped shell stands at its prompt."""
AGENT = "dragoman.agent"
"""The client on whose behalf the terminal runs; absent in a person's."""
ENDED_BY = "dragoman.ended_by"
"""Why a terminal of an agent was ended; absent where its shell ended by itself."""
EndedBy = Literal["client_left", "unused", "made_room", "daemon_ended", "daemon_died"]
PRIVATE = "dragoman.private"
"""`1`: from here on nothing is recorded but that the terminal lives; `0`: again."""

UNVERIFIED = ":unverified"
"""The end of the id of a command whose marks had no nonce of ours: shown, never run."""

RUNNING = ":running"
"""The end of the name that a command has while it runs, after its terminal's; its id comes with its end."""


IMPORTED = "dragoman.imported"
"""The id that a recording had where it came from; absent where a terminal was recorded here."""
_READS_THE_RECORD = re.compile(
    r"\s*(?:\w+=\S*\s+)*(?:\S*/)?dragoman\s+(?:history|last|ask|replay|terminals|journal)\b[^;&\n]*"
)


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    parent: str = ""
    attributes: dict[str, str] = {}
    started_ns: int
    ended_ns: int | None = None
    exit_code: int | None = None

    @property
    def owner(self) -> Literal["person", "agent"]:
        return "agent" if AGENT in self.attributes else "person"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    terminal: str
    line: str = ""
    """Redacted; empty where the shell did not tell it."""
    cwd: str = ""
    started_ns: int
    ended_ns: int | None = None
    exit_code: int | None = None
    verified: bool = False
    output: Span | None = None
    """Of the terminal's stream, in the record's own frames; None where it printed nothing or nothing is kept."""
    output_bytes: int = 0
    lost_bytes: int = 0
    summary: str = ""
    """What its client says of its output, redacted."""
    line_told: bool = True
    """Whether its client told the line with its end; else it is from the command's beginning, or unknown."""
    claimed_ns: int | None = None
    """When its client says that it began, where that had not come yet."""

    @property
    def is_doubtful(self) -> bool:
        """Its wrapper gives its shell a nonce, and the marks had none: a program may have printed them. A client that
        gives none tells of its own commands, and those are taken at its word."""
        return not self.verified and self.id.endswith(UNVERIFIED)

    @property
    def failed(self) -> bool:
        """One that was stopped by Ctrl-Z has not ended."""
        return self.exit_code not in (None, 0) and self.exit_code not in SUSPENDED

    @property
    def reads_the_record(self) -> bool:
        """Whether it is a question of a person to the record: what it printed stands there already."""
        return self.verified and _READS_THE_RECORD.fullmatch(self.line) is not None


class Piece(msgspec.Struct, frozen=True):
    """A stretch of a terminal's stream, as it is read back."""

    at_ms: int
    kind: Literal["input", "output", "gap"]
    data: bytes
    """Of a gap: the number of lost bytes, in decimal."""
