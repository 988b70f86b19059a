"""`dragoman journal` and `dragoman forget`: read, search, export and erase the journal, through the daemon that owns
it.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.caller import record_scope
from dragoman.cli.output import ExitCode, confirm, progress, render, show_json_line, show_message, show_text, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.core.errors import DragomanError
from dragoman.core.labels import event_text
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable
from dragoman.protocols.control import ControlItem

Json = Annotated[bool, Parameter(negative="", help=render(localize("Print one JSON object per line.")))]
AllWorkspaces = Annotated[
    bool, Parameter(negative="", help=render(localize("Search all workspaces, not only the current one.")))
]
Session = Annotated[str, Parameter(help=render(localize("Only this session.")))]


def tail(
    *,
    follow: Annotated[bool, Parameter(alias="-f", negative="", help=render(localize("Follow new entries.")))] = False,
    lines: Annotated[int, Parameter(alias="-n", help=render(localize("Number of newest events to show.")))] = 20,
    json: Json = False,
) -> int:
    with open_daemon() as link:
        for item in link.stream("journal_tail", {"lines": lines, "follow": follow}, idle_s=None if follow else 10):
            if isinstance(item, ControlItem):
                _show_event(item.value, as_json=json)
                sys.stdout.flush()  # show it immediately, also in a pipe
    return ExitCode.OK


def search(
    words: Annotated[
        str, Parameter(help=render(localize("Words that must all match; a trailing * matches any ending.")))
    ],
    *,
    limit: Annotated[int, Parameter(alias="-n", help=render(localize("Maximum number of results.")))] = 20,
    ranked: Annotated[
        bool, Parameter(negative="", help=render(localize("Sort by best match instead of newest first.")))
    ] = False,
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    wanted = {"words": words, "limit": limit, "ranked": ranked} | record_scope(all_workspaces=all_workspaces)
    with open_daemon() as link:
        found = link.call("journal_search", wanted)["events"]
    for row in found:
        _show_event(row, as_json=json)
    if not found:
        warn(localize("No results."))
    return ExitCode.OK


def export() -> int:
    with open_daemon() as link:
        for item in link.stream("journal_export", idle_s=60):
            if isinstance(item, ControlItem):
                show_json_line(item.value)
    return ExitCode.OK


def forget(
    *,
    session: Session = "",
    before: Annotated[str, Parameter(help=render(localize("Erase events older than this date (ISO 8601).")))] = "",
    everything: Annotated[
        bool, Parameter(name="--all", negative="", help=render(localize("Erase the whole journal.")))
    ] = False,
    yes: Annotated[bool, Parameter(negative="", help=render(localize("Skip confirmation.")))] = False,
) -> int:
    scope = _scope(session, before, everything=everything)
    with open_daemon() as link:
        if not yes and not _confirm_erase(link.call("journal_count", scope)["events"]):
            warn(localize("Cancelled. Pass --yes to skip confirmation."))
            return ExitCode.DECLINED
        with progress(localize("Erasing")):
            erased = link.call("journal_forget", scope, within_s=600)["events"]
    show_message(localize("Events erased: {count}.", count=erased))
    return ExitCode.OK


def _confirm_erase(events: int) -> bool:
    warn(localize("Events to erase: {count}.", count=events))
    return confirm(localize("Erase permanently?"))


def _scope(session: str, before: str, *, everything: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {"session": session} if session else {}
    chosen |= {"before_ns": _nanoseconds(before)} if before else {}
    chosen |= {"all": True} if everything else {}
    if len(chosen) != 1:
        raise DragomanError(
            "bad_scope",
            localize("Pass exactly one of --session, --before and --all."),
            hint=localize("For example: dragoman forget --before 2026-01-31"),
        )
    return chosen


def _nanoseconds(date: str) -> int:
    try:
        at = datetime.fromisoformat(date)
    except ValueError as error:
        raise DragomanError(
            "bad_date",
            localize("Invalid date: {date}.", date=date),
            hint=localize("Use 2026-01-31 or 2026-01-31T12:00:00Z."),
        ) from error
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e9)


def _show_event(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json_line(row)
        return
    at = datetime.fromtimestamp(row["at_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    text = render(event_text(row["kind"], row["text"], row["body"]))
    words = [str(row["sequence"]), at, row["kind"], row["session"], text]
    show_text(printable("  ".join(word for word in words if word)))
