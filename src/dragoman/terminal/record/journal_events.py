"""Journal events about terminals and their commands."""

from __future__ import annotations

from dragoman.core.events import Event
from dragoman.terminal.model import (
    AGENT,
    ENDED_BY,
    CommandFailedNotice,
    RecordedCommand,
    RecordedTerminal,
    TerminalNotice,
)

_TEXT_CHARACTERS = 4_000
PERSON = "terminal"


def terminal_began(terminal: RecordedTerminal) -> Event:
    body = {
        "parent": terminal.parent,
        "owner": terminal.owner,
        "attributes": terminal.attributes,
        "by": _owner_name(terminal),
    }
    return Event(kind="terminal.began", session=terminal.id, body=body, workspace=terminal.attributes.get("cwd", ""))


def terminal_ended(terminal: RecordedTerminal) -> Event:
    why = terminal.attributes.get(ENDED_BY, "")
    body = {"exit_code": terminal.exit_code, "why": why, "by": "" if why else _owner_name(terminal)}
    return Event(kind="terminal.ended", session=terminal.id, body=body, workspace=terminal.attributes.get("cwd", ""))


def command_ended(command: RecordedCommand, terminal: RecordedTerminal) -> Event:
    body = {
        "by": _owner_name(terminal),
        "command": command.id,
        "line": command.line[:_TEXT_CHARACTERS],
        "cwd": command.cwd,
        "exit_code": command.exit_code,
        "verified": command.verified,
        "output_bytes": command.output_bytes,
        "lost_bytes": command.lost_bytes,
    }
    text = command.line[:_TEXT_CHARACTERS]
    return Event(
        kind="terminal.command_ended",
        session=command.terminal,
        cause=command.id,
        text=text,
        body=body,
        workspace=command.cwd,
    )


def notice_event(terminal: RecordedTerminal, notice: TerminalNotice, line: str) -> Event:
    """A search for the command finds its own event, so the text here does not repeat the line."""
    by, place = _owner_name(terminal), terminal.attributes.get("cwd", "")
    if isinstance(notice, CommandFailedNotice):
        body = {"exit_code": notice.exit_code, "line": line[:_TEXT_CHARACTERS], "by": by}
        text = f"failed with exit code {notice.exit_code}"
        return Event(kind="terminal.command_failed", session=terminal.id, text=text, body=body, workspace=place)
    text = notice.text[:_TEXT_CHARACTERS]
    body = {"text": text, "by": by}
    return Event(kind="terminal.pattern_seen", session=terminal.id, text=text, body=body, workspace=place)


def _owner_name(terminal: RecordedTerminal) -> str:
    """The id of the client that it runs for, or the person who uses it."""
    return terminal.attributes.get(AGENT) or PERSON
