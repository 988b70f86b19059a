"""`dragoman journal` and `dragoman forget`: the record, asked of the daemon that owns it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug.workspace import record_scope
from dragoman.cli.output import ExitCode, ask_yes, show_json_line, show_text, shown, tell, warn
from dragoman.cli.progress import working
from dragoman.errors import DragomanError
from dragoman.event_words import event_text
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.visible import visible
from dragoman.wire.control import Item

Json = Annotated[bool, Parameter(negative="", help=shown(say("One JSON object a line.")))]
AllWorkspaces = Annotated[
    bool, Parameter(negative="", help=shown(say("Look in every workspace, not only the one you are in.")))
]
Session = Annotated[str, Parameter(help=shown(say("Only of this session.")))]


def tail(
    *,
    follow: Annotated[bool, Parameter(alias="-f", negative="", help=shown(say("Go on with what comes.")))] = False,
    lines: Annotated[int, Parameter(alias="-n", help=shown(say("How many of the newest events.")))] = 20,
    json: Json = False,
) -> int:
    with ControlLink.open(find_places()) as link:
        for item in link.stream("journal_tail", {"lines": lines, "follow": follow}, idle_s=None if follow else 10):
            if isinstance(item, Item):
                _show(item.value, as_json=json)
                sys.stdout.flush()  # who follows wants it now, also through a pipe
    return ExitCode.OK


def search(
    words: Annotated[
        str, Parameter(help=shown(say("Words that all must stand in it; a trailing * means any ending.")))
    ],
    *,
    limit: Annotated[int, Parameter(alias="-n", help=shown(say("How many at most.")))] = 20,
    ranked: Annotated[
        bool, Parameter(negative="", help=shown(say("Best match first instead of newest first.")))
    ] = False,
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    wanted = {"words": words, "limit": limit, "ranked": ranked} | record_scope(all_workspaces=all_workspaces)
    with ControlLink.open(find_places()) as link:
        found = link.call("journal_search", wanted)["events"]
    for row in found:
        _show(row, as_json=json)
    if not found:
        warn(say("Nothing found."))
    return ExitCode.OK


def export() -> int:
    with ControlLink.open(find_places()) as link:
        for item in link.stream("journal_export", idle_s=60):
            if isinstance(item, Item):
                show_json_line(item.value)
    return ExitCode.OK


def forget(
    *,
    session: Session = "",
    before: Annotated[str, Parameter(help=shown(say("What is older than this date (ISO 8601).")))] = "",
    everything: Annotated[bool, Parameter(name="--all", negative="", help=shown(say("The whole journal.")))] = False,
    yes: Annotated[bool, Parameter(negative="", help=shown(say("Do not ask.")))] = False,
) -> int:
    scope = _scope(session, before, everything=everything)
    with ControlLink.open(find_places()) as link:
        if not yes and not _agreed(link.call("journal_count", scope)["events"]):
            warn(say("Nothing was erased. With --yes it is not asked."))
            return ExitCode.DECLINED
        with working(say("Erasing")):
            erased = link.call("journal_forget", scope, within_s=600)["events"]
    tell(say("{count} events erased.", count=erased))
    return ExitCode.OK


def _agreed(events: int) -> bool:
    warn(say("{count} events would be erased.", count=events))
    return ask_yes(say("Erase it for good?"))


def _scope(session: str, before: str, *, everything: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {"session": session} if session else {}
    chosen |= {"before_ns": _nanoseconds(before)} if before else {}
    chosen |= {"all": True} if everything else {}
    if len(chosen) != 1:
        raise DragomanError(
            "bad_scope",
            say("Say what to forget: exactly one of --session, --before and --all."),
            hint=say("For example: dragoman forget --before 2026-01-31"),
        )
    return chosen


def _nanoseconds(date: str) -> int:
    try:
        at = datetime.fromisoformat(date)
    except ValueError as error:
        raise DragomanError(
            "bad_date",
            say("{date} is not a date.", date=date),
            hint=say("Write it as 2026-01-31 or 2026-01-31T12:00:00Z."),
        ) from error
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e9)


def _show(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json_line(row)
        return
    at = datetime.fromtimestamp(row["at_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    text = shown(event_text(row["kind"], row["text"], row["body"]))
    words = [str(row["sequence"]), at, row["kind"], row["session"], text]
    show_text(visible("  ".join(word for word in words if word)))
