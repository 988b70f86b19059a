"""The data types of the terminal domain: terminals, commands, reports of clients, queries and results.

Ids chosen by clients are turned into names of our own here (`terminal_name`, `command_name`), so that an id never
becomes a path or another domain's id.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Literal, Protocol

import msgspec

from dragoman.core.ids import is_safe_id
from dragoman.journal import Span
from dragoman.protocols.osc import SUSPENDED

# Attributes that our own wrapper adds to a session's start. Other clients do not send them.
VERIFIES = "dragoman.verifies"
"""`1`: commands of this session are verified by a nonce, unless their id ends in `UNVERIFIED`."""
RESUMES_AT = "dragoman.resumes_at"
"""How many bytes of output this session sent before the ones that follow. Bytes that are known already are dropped."""
GAP = "dragoman.gap"
"""How many bytes of output were lost at this point, because the daemon did not take them in time."""
STREAMS = "dragoman.stream"
"""`1`: answers to questions may come in several responses."""
LANGUAGE = "dragoman.language"
"""The language of its shell. Answers use it."""
FOLDER = "dragoman.folder"
"""The folder of a wrapped shell at its prompt."""
AGENT = "dragoman.agent"
"""The client that the terminal runs for; absent in a person's terminal."""
ENDED_BY = "dragoman.ended_by"
"""Why an agent's terminal was ended; absent if its shell ended by itself."""
PRIVATE = "dragoman.private"
"""`1`: from here on, only the existence of the terminal is recorded; `0`: recording continues."""
UNVERIFIED = ":unverified"
"""The suffix of the id of a command whose marks lacked our nonce: it is shown, never run."""
RUNNING = ":running"
"""The suffix of a command's name while it runs, after its terminal's name. Its id arrives with its end."""
IMPORTED = "dragoman.imported"
"""The original id of an imported recording; absent if the terminal was recorded here."""
_COMMAND_CHARACTERS = 200

EndedBy = Literal["client_left", "unused", "made_room", "stopped_by_person", "daemon_ended", "daemon_died"]
_READS_THE_RECORD = re.compile(
    r"\s*(?:\w+=\S*\s+)*(?:\S*/)?dragoman\s+(?:history|last|ask|replay|terminals|journal)\b[^;&\n]*"
)


class RecordedTerminal(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    parent: str = ""
    attributes: dict[str, str] = {}
    started_ns: int
    ended_ns: int | None = None
    exit_code: int | None = None

    @property
    def owner(self) -> Literal["person", "agent"]:
        return "agent" if AGENT in self.attributes else "person"


class RecordedCommand(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    terminal: str
    line: str = ""
    """Redacted; empty if the shell did not report it."""
    cwd: str = ""
    started_ns: int
    ended_ns: int | None = None
    exit_code: int | None = None
    verified: bool = False
    output: Span | None = None
    """The span of the terminal's stream, including our frames; None if it printed nothing or nothing is kept."""
    output_bytes: int = 0
    lost_bytes: int = 0
    summary: str = ""
    """The client's summary of the output, redacted."""
    line_told: bool = True
    """Whether the client reported the line with the command's end. Otherwise the line is from the command's start,
    or unknown."""
    claimed_ns: int | None = None
    """The start that the client claimed, if it was in the future."""

    @property
    def is_unverified(self) -> bool:
        """Whether a program may have printed the marks: its wrapper gives the shell a nonce, and these marks had
        none. A client without a nonce reports its own commands, and is believed."""
        return not self.verified and self.id.endswith(UNVERIFIED)

    @property
    def failed(self) -> bool:
        """Whether the command failed. One that was suspended by Ctrl-Z has not ended."""
        return self.exit_code not in (None, 0) and self.exit_code not in SUSPENDED

    @property
    def reads_the_record(self) -> bool:
        """Whether a person queried the record with it: what it printed is in the record already."""
        return self.verified and _READS_THE_RECORD.fullmatch(self.line) is not None


class StreamPiece(msgspec.Struct, frozen=True):
    """A part of a terminal's stream, as it is read back."""

    at_ms: int
    kind: Literal["input", "output", "gap"]
    data: bytes
    """For a gap: the number of lost bytes, in decimal."""


class CommandReport(msgspec.Struct, frozen=True, kw_only=True):
    """A finished command, as its client reports it."""

    id: str
    terminal: str
    line: str | None = None
    cwd: str | None = None
    started_ms: int
    ended_ms: int | None = None
    exit_code: int | None = None
    summary: str = ""


class CommandFailedNotice(msgspec.Struct, frozen=True):
    exit_code: int


class PatternNotice(msgspec.Struct, frozen=True):
    text: str


TerminalNotice = CommandFailedNotice | PatternNotice


class TerminalStatus(msgspec.Struct, frozen=True, kw_only=True):
    terminal: RecordedTerminal
    connected: bool
    running: RecordedCommand | None = None
    commands: int = 0


class CommandFilter(msgspec.Struct, frozen=True, kw_only=True):
    """All conditions that are set must hold."""

    text: str = ""
    terminal: str = ""
    besides: tuple[str, ...] = ()
    """Exclude these terminals."""
    cwd: str = ""
    """This folder and the folders below it."""
    failed: bool = False
    since_ns: int | None = None
    verified: bool = False

    @property
    def narrows(self) -> bool:
        """Whether there is a condition besides the words and the terminal."""
        return bool(self.cwd or self.failed or self.verified or self.since_ns is not None)

    def fits(self, command: RecordedCommand) -> bool:
        """Check these conditions against a command in memory."""
        folder = self.cwd.rstrip("/")
        return (
            (not self.cwd or f"{command.cwd}/".startswith(f"{folder}/"))
            and (not self.failed or command.failed)
            and (not self.verified or command.verified)
            and (self.since_ns is None or command.started_ns >= self.since_ns)
        )


class OutputLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of output that contains all the words."""

    command_id: str
    """Empty for output between commands."""
    terminal: str
    line: str
    at_ns: int = 0


class OutputSearchResult(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[OutputLine]
    """Newest first."""
    indexed_upto_ns: int
    """The index covers output before this time; newer output was scanned."""
    scanned_bytes: int
    complete: bool
    """Whether everything was searched; otherwise the limit or the deadline was reached first."""
    back_to_ns: int | None = None
    """If not everything was searched: roughly how far back the search got."""


class OutputPage(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    """As shown, with escape sequences, and with secrets redacted."""
    offset: int
    total: int


TerminalScope = tuple[str, ...] | None
"""The terminals that an answer may use; None means all of them."""


class TerminalRecord(Protocol):
    """What answers and completions read from the record."""

    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[RecordedCommand]: ...

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage: ...

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearchResult: ...

    def terminal(self, terminal_id: str) -> TerminalStatus: ...

    def history(self) -> AsyncIterator[RecordedCommand]: ...

    def on_command(self, listener: Callable[[RecordedCommand], None]) -> None: ...


# The form of ids that we create ourselves (`debug-1f2e3d4c5b6a7988`): no client may write to their bytes and events.
_OWN_ID_FORM = re.compile(r"(?!terminal-)[a-z]+-[0-9a-f]{16}")


def terminal_name(session_id: str) -> str:
    """The id itself if it is safe as a folder name, else a stable name derived from it."""
    if is_safe_id(session_id) and not _OWN_ID_FORM.fullmatch(session_id):
        return session_id
    return f"t-{_digest(session_id)}"


def command_name(command_id: str, session_id: str) -> str:
    """The name begins with the terminal's name, so that no client can refer to another's commands."""
    own = terminal_name(session_id)
    rest = command_id.removeprefix(f"{session_id}:")
    rest = rest.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if len(rest) > _COMMAND_CHARACTERS:
        rest = _digest(rest) + (UNVERIFIED if rest.endswith(UNVERIFIED) else "")
    return f"{own}:{rest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
