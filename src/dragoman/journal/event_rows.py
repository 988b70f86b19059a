"""Events as database rows: what is stored, what is refused, and the text that search finds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw
import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event, RecordedEvent
from dragoman.core.localization import localize
from dragoman.journal.errors import not_json

# Bulk bytes belong in segment files; an event larger than this is a mistake of the caller.
EVENT_LIMIT_BYTES = 256 * 1024
# Far below the depth at which any reader, here or in a browser, overflows its stack: one event must not make a page
# unreadable.
NESTING_LIMIT = 100

COLUMNS = "sequence, at_ns, kind, session, cause, text, body, workspace"

# Scripts without spaces between words: every character is a word, and a search for several is a phrase.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]")
# A SQLite step runs without Python's lock: with many rows per step, a busy event loop cannot starve the writer.
_ROWS_A_STEP = (100, 10, 1)
_ONE_ROW = "(?,?,?,?,?,?,?,?,?)"
_INSERT = {
    rows: f"insert into events ({COLUMNS}, words) values {','.join([_ONE_ROW] * rows)}"  # noqa: S608
    for rows in _ROWS_A_STEP
}
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_INDEX = "insert into search (rowid, text) select sequence, text from searchable where sequence between ? and ?"


class EventDraft(NamedTuple):
    """An event that is redacted and encoded, but not numbered yet. `words` is set if the search text differs from
    the shown text."""

    kind: str
    session: str
    cause: str
    text: str
    body: str
    workspace: str
    words: str | None


def draft_event(event: Event) -> EventDraft:
    text = clean_text(event.text)
    body = _encode(event.body)
    _require_flat(body)
    words = None if text.isascii() else split_words(text)
    labels = (clean_text(event.kind), clean_text(event.session), clean_text(event.cause))
    workspace = clean_text(event.workspace)
    _require_small(sum(map(len, (*labels, text, body, workspace))))
    return EventDraft(*labels, text, body, workspace, None if words == text else words)


def split_words(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text)


def insert_events(connection: apsw.Connection, first_sequence: int, at_ns: int, drafts: Iterable[EventDraft]) -> int:
    """Insert rows and search entries together; return the last sequence number."""
    rows = [(sequence, at_ns, *row) for sequence, row in enumerate(drafts, first_sequence)]
    done = 0
    for size in _ROWS_A_STEP:
        while len(rows) - done >= size:
            connection.execute(_INSERT[size], [value for row in rows[done : done + size] for value in row])
            done += size
    last = first_sequence + len(rows) - 1
    connection.execute(_INDEX, (first_sequence, last))
    return last


def event_from_row(row: tuple[Any, ...]) -> RecordedEvent:
    sequence, at_ns, kind, session, cause, text, body, workspace = row
    event = Event(
        kind=kind, session=session, cause=cause, text=text, body=msgspec.json.decode(body), workspace=workspace
    )
    return RecordedEvent(sequence=sequence, at_ns=at_ns, event=event)


def _require_small(size: int) -> None:
    if size > EVENT_LIMIT_BYTES:
        raise DragomanError(
            "event_too_large",
            localize("The event is too large for the journal: {size} characters.", size=size),
            hint=localize("Write large data to a segment and record its span."),
        )


def _require_flat(body: str) -> None:
    if body.count("[") + body.count("{") <= NESTING_LIMIT:
        return
    depths = itertools.accumulate(_STEPS.get(token, 0) for token in _NESTING.findall(body))
    if max(depths) > NESTING_LIMIT:
        raise not_json(reason=localize("nested more than {limit} levels deep", limit=NESTING_LIMIT))


def _encode(body: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(body)).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise not_json(reason=error) from error


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    return value


def clean_text(text: str) -> str:
    """Program output may contain lone surrogates, which UTF-8 cannot encode, and NUL, which would hide the rest."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
