"""The report of one session: who requested what, every stop, the last output, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.debug.stops.history.store import StopRecord
from dragoman.journal import Journal

_MAX_EVENTS = 20_000


class ReportEntry(msgspec.Struct, frozen=True, kw_only=True):
    at_ns: int
    kind: str
    """Without the domain: started, resumed, stopped, evaluated …"""
    by: str = ""
    text: str = ""
    body: dict[str, Any] = {}
    stop: StopRecord | None = None


class SessionReport(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    title: str
    workspace: str
    entries: tuple[ReportEntry, ...]
    output: str = ""


class SessionReports:
    def __init__(self, journal: Journal, history: StopHistory, output_of: Callable[[str], str]) -> None:
        """`output_of` returns what a session has printed, as long as the session is known."""
        self._journal = journal
        self._history = history
        self._output_of = output_of

    async def newest(self, workspace: str | None) -> str:
        found = await self._journal.search("debug started", limit=1, kinds=("debug.started",), workspace=workspace)
        if not found:
            raise DragomanError(
                "unknown_session",
                localize("No debug session is recorded."),
                hint=localize("`dragoman debug PROGRAM` starts one; --all-workspaces searches everywhere."),
            )
        return found[0].event.session

    async def of(self, session: str, workspace: str | None) -> SessionReport:
        """A session of another folder is not found, unless every folder is searched."""
        read = await self._journal.read(session=session, limit=_MAX_EVENTS, workspace=workspace)
        events = [it for it in read if it.event.kind.startswith("debug.")]
        if not events:
            raise DragomanError(
                "unknown_session",
                localize("No debug session {id} is recorded.", id=ascii(session)[:80]),
                hint=localize(
                    "`dragoman journal search debug` finds earlier ones; --all-workspaces searches everywhere."
                ),
            )
        stops = {it.number: it for it in await self._history.of_session(session)}
        entries = [_entry(it.at_ns, it.event, stops) for it in events]
        first = events[0].event.body
        return SessionReport(
            session=session,
            title=str(first.get("title", "")),
            workspace=str(first.get("workspace", "")),
            entries=tuple(entries),
            output=self._output_of(session),
        )


def _requester(by: str) -> str:
    """The row of an evidence run, for any client."""
    return by.partition(":")[2] if by.startswith("evidence-") else by


def _entry(at_ns: int, event: Event, stops: Mapping[int, StopRecord]) -> ReportEntry:
    is_stop = event.kind == "debug.stopped"
    return ReportEntry(
        at_ns=at_ns,
        kind=event.kind.partition(".")[2],
        by=_requester(str(event.body.get("by", ""))),
        text=event.text,
        body=event.body,
        stop=stops.get(event.body.get("stop", 0)) if is_stop else None,
    )
