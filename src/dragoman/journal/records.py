"""Events as rows: what is stored, what is refused, and the words that search finds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw
import msgspec

from dragoman.errors import DragomanError
from dragoman.events import Event, Recorded
from dragoman.phrases import say

# Bulk bytes belong into segment files; an event larger than this is a mistake of the caller.
EVENT_LIMIT_BYTES = 256 * 1024
# Far from where any reader, here or in a browser, runs out of stack: one event must never make a page unreadable.
NESTING_LIMIT = 100

COLUMNS = "sequence, at_ns, kind, session, cause, text, body, workspace"

# Scripts without spaces between words: every character is a word of its own, and a search for several is a phrase.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]")
# A step of SQLite runs without Python's lock: many rows a step, so that a busy event loop cannot starve the writer.
_ROWS_A_STEP = (100, 10, 1)
_ONE_ROW = "(?,?,?,?,?,?,?,?,?)"
_INSERT = {
    rows: f"insert into events ({COLUMNS}, words) values {','.join([_ONE_ROW] * rows)}"  # noqa: S608
    for rows in _ROWS_A_STEP
}
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_INDEX = "insert into search (rowid, text) select sequence, text from searchable where sequence between ? and ?"


class Draft(NamedTuple):
    """An event redacted and encoded, not yet numbered. `words` is set where search needs other text than is shown."""

    kind: str
    session: str
    cause: str
    text: str
    body: str
    workspace: str
    words: str | None


def draft(event: Event) -> Draft:
    text = clean(event.text)
    body = _encode(event.body)
    _require_flat(body)
    words = None if text.isascii() else split_words(text)
    labels = (clean(event.kind), clean(event.session), clean(event.cause))
    workspace = clean(event.workspace)
    _require_small(sum(map(len, (*labels, text, body, workspace))))
    return Draft(*labels, text, body, workspace, None if words == text else words)


def split_words(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text)


def insert(connection: apsw.Connection, first_sequence: int, at_ns: int, drafts: Iterable[Draft]) -> int:
    """Rows and search entries together; returns the last sequence number given."""
    rows = [(sequence, at_ns, *row) for sequence, row in enumerate(drafts, first_sequence)]
    done = 0
    for size in _ROWS_A_STEP:
        while len(rows) - done >= size:
            connection.execute(_INSERT[size], [value for row in rows[done : done + size] for value in row])
            done += size
    last = first_sequence + len(rows) - 1
    connection.execute(_INDEX, (first_sequence, last))
    return last


def recorded(row: tuple[Any, ...]) -> Recorded:
    sequence, at_ns, kind, session, cause, text, body, workspace = row
    event = Event(
        kind=kind, session=session, cause=cause, text=text, body=msgspec.json.decode(body), workspace=workspace
    )
    return Recorded(sequence=sequence, at_ns=at_ns, event=event)


def _require_small(size: int) -> None:
    if size > EVENT_LIMIT_BYTES:
        raise DragomanError(
            "event_too_large",
            say("An event of {size} characters is larger than the journal takes.", size=size),
            hint=say("Write bulk bytes to a segment and record their span."),
        )


def _require_flat(body: str) -> None:
    if body.count("[") + body.count("{") <= NESTING_LIMIT:
        return
    depths = itertools.accumulate(_STEPS.get(token, 0) for token in _NESTING.findall(body))
    if max(depths) > NESTING_LIMIT:
        raise _not_json(say("nested more than {limit} deep", limit=NESTING_LIMIT))


def _encode(body: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(body)).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _not_json(error) from error


def _not_json(reason: object) -> DragomanError:
    return DragomanError(
        "event_not_json",
        say("An event's body cannot be written as JSON: {reason}.", reason=reason),
        hint=say("Use only objects, lists, strings, numbers, booleans and null."),
    )


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    return value


def clean(text: str) -> str:
    """Program output may carry lone surrogates, which no UTF-8 file can hold, and NUL, which would hide the rest."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
