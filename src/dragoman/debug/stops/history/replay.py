"""What a replay of a session shows: its events, stops and output in time, and the source files that it went through.

A page reads the parts as it needs them. A recording holds all of them, within bounds, and says what was cut.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dragoman.core.redaction import Redactor
from dragoman.debug.session.output import OutputMark, SessionOutput
from dragoman.debug.stops.history.stop_history import StopHistory, unknown_session
from dragoman.debug.stops.history.store import StopContents, StopRecord
from dragoman.journal import Journal

STOPS_AT_ONCE = 500
ANSWER_BYTES = 1 << 20
_MAX_EVENTS = 20_000
_MAX_STOPS_BYTES = 8 << 20
_MAX_SOURCE_BYTES = 2 << 20
_MAX_FILES = 200
_MAX_NAMES = 200
_MAX_LINE_CHARACTERS = 2000
# Without a session: breakpoints, and the questions of agents to a person.
_KINDS_AROUND = ("breakpoint.set", "breakpoint.changed", "breakpoint.removed", "canvas.action_taken")

ReadLines = Callable[[str, Path, Collection[str]], Awaitable[Sequence[str] | None]]
"""The lines of a file as a client in a workspace may read it; the files that a stack names are allowed."""


class ReplayStop(msgspec.Struct, frozen=True):
    number: int
    at_ns: int
    reason: str
    seen: StopContents


class ReplayOutput(msgspec.Struct, frozen=True):
    """`start` counts the characters before the text: those that were asked to be left out, or are no longer kept."""

    text: str = ""
    start: int = 0
    marks: tuple[OutputMark, ...] = ()


class RecordedSource(msgspec.Struct, frozen=True):
    path: str
    lines: Sequence[str]


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    title: str
    workspace: str
    events: Sequence[dict[str, Any]]
    stops: Sequence[ReplayStop]
    output: ReplayOutput
    sources: Sequence[RecordedSource]
    names: dict[str, str]
    """Names of agents by their id."""
    cut: dict[str, int]
    """How much of each part is not in it."""


class SessionReplays:
    """Reads recorded sessions for a person, of any folder."""

    def __init__(
        self,
        journal: Journal,
        history: StopHistory,
        printed_by: Callable[[str], SessionOutput | None],
        read_lines: ReadLines,
        redactor: Redactor,
    ) -> None:
        self._journal = journal
        self._history = history
        self._printed_by = printed_by
        self._read_lines = read_lines
        self._redactor = redactor

    async def stops(self, session: str, after: int) -> list[ReplayStop]:
        return [_replay_stop(it) for it in await self._history.of_session(session, after=after, limit=STOPS_AT_ONCE)]

    def output(self, session: str, after: int = 0) -> ReplayOutput:
        printed = self._printed_by(session)
        if printed is None:
            return ReplayOutput()
        page = printed.page(after, most=ANSWER_BYTES)
        marks = tuple(it for it in printed.marks if it.end > after)
        return ReplayOutput(page.text, after + page.missed, marks)

    async def recording(self, session: str) -> Recording:
        """Everything of one session. What is too much is left out, the oldest first."""
        events = await self._journal.read(session=session, limit=_MAX_EVENTS)
        if not events:
            raise unknown_session(session)
        first = next((it.event.body for it in events if it.event.kind == "debug.started"), {})
        around = await self._journal.read(
            max(0, events[0].sequence - 1000), limit=_MAX_EVENTS, kinds=_KINDS_AROUND, workspace=first.get("workspace")
        )
        upto = events[-1].sequence + 1000
        rows = sorted([*events, *(it for it in around if it.sequence <= upto)], key=lambda it: it.sequence)
        every = await self._history.of_session(session)
        stops = _newest_within([_replay_stop(it) for it in every], _MAX_STOPS_BYTES)
        workspace = str(first.get("workspace", ""))
        sources, missing = await self._sources(stops, workspace)
        cut = {"stops": len(every) - len(stops), "files": missing}
        return Recording(
            session=session,
            title=str(first.get("title", "")),
            workspace=workspace,
            events=[msgspec.to_builtins(it) for it in rows],
            stops=stops,
            output=self.output(session),
            sources=sources,
            names=await self._names(),
            cut={name: count for name, count in cut.items() if count},
        )

    async def _names(self) -> dict[str, str]:
        met = await self._journal.search("mcp connected", limit=_MAX_NAMES, kinds=("mcp.connected",))
        return {it.event.session: str(it.event.body.get("client", "")) for it in reversed(met)}

    async def _sources(self, stops: Sequence[ReplayStop], workspace: str) -> tuple[list[RecordedSource], int]:
        """The files of the person's own frames, as they are now; secrets in them are replaced."""
        named = dict.fromkeys(
            frame.path for stop in stops for frame in stop.seen.frames if frame.path and not frame.is_library
        )
        sources: list[RecordedSource] = []
        room, missing = _MAX_SOURCE_BYTES, max(0, len(named) - _MAX_FILES)
        for path in list(named)[:_MAX_FILES]:
            lines = await self._read_lines(path, Path(workspace or "/"), named)
            size = sum(map(len, lines)) if lines is not None else 0
            if lines is None or size > room:
                missing += 1
                continue
            room -= size
            text = self._redactor.text("\n".join(it[:_MAX_LINE_CHARACTERS] for it in lines))
            sources.append(RecordedSource(path, text.split("\n")))
        return sources, missing


def _replay_stop(stop: StopRecord) -> ReplayStop:
    return ReplayStop(stop.number, stop.at_ns, stop.reason, stop.seen)


def _newest_within(stops: Iterable[ReplayStop], room: int) -> list[ReplayStop]:
    kept: list[ReplayStop] = []
    for stop in reversed(list(stops)):
        room -= len(msgspec.json.encode(stop))
        if room < 0:
            break
        kept.append(stop)
    return kept[::-1]
