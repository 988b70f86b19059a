"""Events: what happened, in the past tense. The journal numbers them; everything else reads them."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened, before the journal has seen it.

    `kind` is dotted and past tense (`daemon.started`), `session` names the session it belongs to, `cause` the id of
    what caused it (a call, a command, another event), `text` is what search finds, `body` the data as JSON types.
    `workspace` is the folder whose clients may find it; an event without one is shown to a person alone.
    """

    kind: str
    session: str = ""
    cause: str = ""
    text: str = ""
    body: dict[str, Any] = {}
    workspace: str = ""


class RecordedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its place in the journal: the sequence never goes back, even when the wall clock does."""

    sequence: int
    at_ns: int
    event: Event
