"""`search_journal`: what happened here before, by words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from pydantic import Field

from dragoman.event_words import event_text
from dragoman.events import Recorded
from dragoman.journal import Journal
from dragoman.phrases import Phrase, joined, say
from dragoman.redaction import Redactor
from dragoman.tools.operation import READS, Caller, Operation, Outcome, Parameters, Result
from dragoman.tools.showing import escaped, one_line, through

MOST_EVENTS = 100
TEXT_SHOWN = 200
# An event may be a quarter of a megabyte; what an answer may weigh in all, so that a hundred of them do not drown it.
DATA_BYTES = 1 << 20


class SearchParameters(Parameters):
    words: Annotated[str, Field(min_length=1, max_length=1000, description="Events with all of these words.")]
    limit: Annotated[int, Field(ge=1, le=MOST_EVENTS, description="At most this many, newest first.")] = 20


class Found(Result):
    sequence: int
    at: str
    kind: str
    session: str
    text: str
    body: dict[str, Any]


class Search(Result):
    events: list[Found]
    left_out: int


@dataclass(frozen=True, slots=True)
class SearchJournal:
    journal: Journal
    redactor: Redactor

    def operation(self) -> Operation:
        return Operation(
            name="search_journal",
            title="Search the journal",
            description="Find events in the record of what happened in this workspace: sessions, commands.",
            parameters=SearchParameters,
            result=Search,
            run=self.run,
            effects=READS,
        )

    async def run(self, caller: Caller, wanted: SearchParameters) -> Outcome:
        rows = await self.journal.search(wanted.words, limit=wanted.limit, workspace=caller.record_of)
        kept = _within_weight(rows)
        search = Search(events=[self._found(row) for row in kept], left_out=len(rows) - len(kept))
        return Outcome(_lines(search), search)

    def _found(self, row: Recorded) -> Found:
        event = row.event
        at = datetime.fromtimestamp(row.at_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Found(
            sequence=row.sequence,
            at=at,
            kind=event.kind,
            session=event.session,
            text=self._shown("", event.text),
            body=through(event.body, self._shown),
        )

    def _shown(self, _: str, text: str) -> str:
        """What happened was often said by others."""
        return escaped(self.redactor.text(text))


def _within_weight(rows: list[Recorded]) -> list[Recorded]:
    kept: list[Recorded] = []
    weight = 0
    for row in rows:
        weight += len(msgspec.json.encode(row))
        if weight > DATA_BYTES and kept:
            break
        kept.append(row)
    return kept


def _lines(search: Search) -> list[Phrase]:
    if not search.events:
        return [say("Nothing in the journal has all of these words.")]
    lines = [_line(event) for event in search.events]
    if search.left_out:
        lines.append(say("{count} older events are left out; more words find fewer.", count=search.left_out))
    return lines


def _line(event: Found) -> Phrase:
    text = " ".join(event.text[: TEXT_SHOWN + 1].split())
    shown = one_line(text if len(event.text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…")
    told = event_text(event.kind, shown, through(event.body, lambda _, text: one_line(text, TEXT_SHOWN)))
    return joined(" ", (f"#{event.sequence} {event.at} {event.kind}", told))
