"""What of a terminal's life stands in the journal, to be found by its words."""

from __future__ import annotations

from dragoman.events import Event
from dragoman.terminal.model import AGENT, ENDED_BY, Command, Terminal
from dragoman.terminal.told import Failed, Notice

_TEXT_CHARACTERS = 4_000
PERSON = "terminal"


def began(terminal: Terminal) -> Event:
    told = {
        "parent": terminal.parent,
        "owner": terminal.owner,
        "attributes": terminal.attributes,
        "by": _whose(terminal),
    }
    return Event(kind="terminal.began", session=terminal.id, body=told, workspace=terminal.attributes.get("cwd", ""))


def ended(terminal: Terminal) -> Event:
    why = terminal.attributes.get(ENDED_BY, "")
    told = {"exit_code": terminal.exit_code, "why": why, "by": "" if why else _whose(terminal)}
    return Event(kind="terminal.ended", session=terminal.id, body=told, workspace=terminal.attributes.get("cwd", ""))


def command_ended(command: Command, terminal: Terminal) -> Event:
    told = {
        "by": _whose(terminal),
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
        body=told,
        workspace=command.cwd,
    )


def noticed(terminal: Terminal, notice: Notice, line: str) -> Event:
    """The command that it is about is found by its own event's words, not by these."""
    by, place = _whose(terminal), terminal.attributes.get("cwd", "")
    if isinstance(notice, Failed):
        told = {"exit_code": notice.exit_code, "line": line[:_TEXT_CHARACTERS], "by": by}
        text = f"failed with exit code {notice.exit_code}"
        return Event(kind="terminal.command_failed", session=terminal.id, text=text, body=told, workspace=place)
    text = notice.text[:_TEXT_CHARACTERS]
    told = {"text": text, "by": by}
    return Event(kind="terminal.pattern_seen", session=terminal.id, text=text, body=told, workspace=place)


def _whose(terminal: Terminal) -> str:
    """The client that it runs for, by its id; else whoever sits at it."""
    return terminal.attributes.get(AGENT) or PERSON
