"""What of a terminal's life stands in the journal, to be found by its words."""

from __future__ import annotations

from dragoman.events import Event
from dragoman.terminal.model import ENDED_BY, Command, Terminal
from dragoman.terminal.told import Failed, Notice

_TEXT_CHARACTERS = 4_000


def began(terminal: Terminal) -> Event:
    told = {"parent": terminal.parent, "owner": terminal.owner, "attributes": terminal.attributes}
    return Event(kind="terminal.began", session=terminal.id, body=told)


def ended(terminal: Terminal) -> Event:
    told = {"exit_code": terminal.exit_code, "by": terminal.attributes.get(ENDED_BY, "")}
    return Event(kind="terminal.ended", session=terminal.id, body=told)


def command_ended(command: Command) -> Event:
    told = {
        "command": command.id,
        "line": command.line[:_TEXT_CHARACTERS],
        "cwd": command.cwd,
        "exit_code": command.exit_code,
        "verified": command.verified,
        "output_bytes": command.output_bytes,
        "lost_bytes": command.lost_bytes,
    }
    text = command.line[:_TEXT_CHARACTERS]
    return Event(kind="terminal.command_ended", session=command.terminal, cause=command.id, text=text, body=told)


def noticed(terminal: str, notice: Notice) -> Event:
    if isinstance(notice, Failed):
        return Event(kind="terminal.command_failed", session=terminal, body={"exit_code": notice.exit_code})
    text = notice.text[:_TEXT_CHARACTERS]
    return Event(kind="terminal.pattern_seen", session=terminal, text=text, body={"text": text})
