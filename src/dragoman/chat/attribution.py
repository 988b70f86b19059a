"""Which run an event belongs to, where the gateway does not say.

Real gateways name the run and the session in every event. The protocol document's events name neither, and may come
before the answer that tells the run's id. So whoever sends messages over this connection is remembered in order, and an
event without names belongs to the oldest message whose answer is not complete: such a gateway works through one message
after another. What it says before it has named the run is held back until it has.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, UnsetType

from dragoman.ids import new_id
from dragoman.wire.gateway import EventFrame, SequenceGap, canonical_session_key
from dragoman.wire.gateway.payloads import read, size_of
from dragoman.wire.gateway.reducer import outcome_of
from dragoman.wire.gateway.vocabulary import Outcome

HELD_AT_MOST = 1_000
HELD_BYTES_AT_MOST = 8 << 20
RUNS_AT_MOST = 64
_STREAMS = frozenset({"assistant", "tool", "item", "command_output"})
_KINDS = frozenset({"text_delta", "tool_start", "tool_update", "tool_result", "diff", "a2ui"})
_CHAT_ENDS: dict[str, Outcome] = {"final": "final", "aborted": "aborted", "error": "error"}

Told = list[EventFrame | SequenceGap]


class _Payload(msgspec.Struct, rename="camel"):
    run_id: str | None = None
    session_key: str | None = None
    stream: str | None = None
    kind: str | None = None
    state: str | None = None
    stop_reason: str | None = None


class _Sent(msgspec.Struct, rename="camel"):
    """Of a request: what else it holds, however much, is not read."""

    session_key: str | None = None
    idempotency_key: str | None = None
    run_id: str | None = None


_PAYLOAD = msgspec.json.Decoder(_Payload)
_SENT = msgspec.json.Decoder(_Sent)


class _About(NamedTuple):
    """What an event says of its run; `form` is which of the two ways of telling it comes in."""

    form: str
    run_id: str
    session_key: str
    end: Outcome | None
    has_content: bool


@dataclass(slots=True)
class _Run:
    key: str
    session_key: str
    id: str = ""
    """As the gateway calls it; empty until it has answered."""
    is_left: bool = False
    """Nobody waits for it any more: a newer one goes before it."""


class Attribution:
    """Of one connection: begun anew with each, since a gateway that was away may have forgotten every run."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._over: deque[str] = deque(maxlen=RUNS_AT_MOST)
        self._held: list[EventFrame] = []
        self._held_bytes = 0
        self._last_end: tuple[str, Outcome] | None = None
        self._session_key = "main"

    def reset(self) -> None:
        self._runs.clear()
        self._last_end = None
        self._let_go()

    def requested(self, method: str, params: Any) -> str:
        """What goes out about runs. Returns the key of a message, which `answered` or `refused` is told later."""
        if method not in ("chat.send", "chat.abort"):
            return ""
        given = _sent(params)
        if method == "chat.abort":
            self.leave(given.session_key or "", given.run_id or "")
            return ""
        key = given.idempotency_key or ""
        if key:
            self.sent(key, given.session_key or "")
        return key

    def sent(self, key: str, session_key: str) -> None:
        """A message is on its way."""
        self._session_key = session_key
        if key not in self._runs:
            self._add(_Run(key, session_key))

    def answered(self, key: str, run_id: str) -> Told:
        """The gateway has named the run; without a name, it is called by the key of the message."""
        run = self._runs.get(key)
        if run is not None:
            run.id = run_id or key
            self._last_end = None
            if run.id in self._over:
                del self._runs[key]
        return self._release()

    def refused(self, key: str) -> Told:
        self._runs.pop(key, None)
        return self._release()

    def leave(self, session_key: str, run_id: str = "") -> None:
        """Somebody stopped the run, or no longer waits for it; without an id, all of the session."""
        for run in self._runs.values():
            if run_id in (run.id, run.key) or (not run_id and _is_same(run.session_key, session_key)):
                run.is_left = True

    def heard(self, frame: EventFrame) -> Told:
        """The event with the names it lacks; nothing while it is held back, or where it repeats an end."""
        about = _about(frame)
        if about is None:
            return [frame]
        if self._held:
            return self._hold(frame)
        return self._of_named(frame, about) if about.run_id else self._of_nameless(frame, about)

    def _of_named(self, frame: EventFrame, about: _About) -> Told:
        run = next((it for it in self._runs.values() if about.run_id in (it.id, it.key)), None)
        self._note(about, run, about.run_id)
        if about.session_key:
            return [frame]
        return [_completed(frame, about.run_id, run.session_key if run else self._session_key)]

    def _of_nameless(self, frame: EventFrame, about: _About) -> Told:
        if self._repeats_the_end(about):
            return []
        run = self._running(about)
        if run is None:
            # Neither an end nor a summary begins anything.
            if not about.has_content or about.form == "chat":
                return []
            run = self._add(_Run(new_id("run"), about.session_key or self._session_key))
            run.id = run.key
        if not run.id:
            return self._hold(frame)
        self._note(about, run, run.id)
        return [_completed(frame, run.id, about.session_key or run.session_key)]

    def _running(self, about: _About) -> _Run | None:
        of_session = (
            run for run in self._runs.values() if not about.session_key or _is_same(run.session_key, about.session_key)
        )
        is_of_left = about.end == "aborted"
        return min(of_session, key=lambda run: run.is_left is not is_of_left, default=None)

    def _repeats_the_end(self, about: _About) -> bool:
        """A gateway that ends a run with `done` and with a `chat` state has ended it once."""
        if self._last_end is None or self._last_end[0] == about.form:
            return False
        if about.end is None:
            return about.form == "chat"
        repeats = about.end == self._last_end[1]
        self._last_end = None
        return repeats

    def _note(self, about: _About, run: _Run | None, run_id: str) -> None:
        if about.has_content:
            self._last_end = None
        if about.end is None:
            return
        self._last_end = (about.form, about.end)
        self._over.append(run_id)
        if run is not None:
            self._runs.pop(run.key, None)

    def _add(self, run: _Run) -> _Run:
        if len(self._runs) >= RUNS_AT_MOST:
            del self._runs[next(iter(self._runs))]
        self._runs[run.key] = run
        return run

    def _hold(self, frame: EventFrame) -> Told:
        self._held.append(frame)
        self._held_bytes += size_of(frame.payload)
        if len(self._held) <= HELD_AT_MOST and self._held_bytes <= HELD_BYTES_AT_MOST:
            return []
        self._let_go()
        return [SequenceGap(expected=0, received=0)]

    def _release(self) -> Told:
        return [told for frame in self._let_go() for told in self.heard(frame)]

    def _let_go(self) -> list[EventFrame]:
        held, self._held, self._held_bytes = self._held, [], 0
        return held


class _Started(msgspec.Struct, rename="camel"):
    run_id: str | None = None


_STARTED = msgspec.json.Decoder(_Started)


def run_id_of(answer: Raw | UnsetType) -> str:
    """Of the answer to a message."""
    started = read(answer, _STARTED)
    return (started.run_id if started else None) or ""


def _about(frame: EventFrame) -> _About | None:
    """None for what is not of a run, or is for nobody to show."""
    told = read(frame.payload, _PAYLOAD) if frame.event in ("agent", "chat") else None
    if told is None:
        return None
    names = (told.run_id or "", told.session_key or "")
    if frame.event == "chat":
        end, goes_on = _CHAT_ENDS.get(told.state or ""), told.state == "delta"
        return _About("chat", *names, end, goes_on) if end or goes_on else None
    if told.stream:
        return _About("stream", *names, None, True) if told.stream in _STREAMS else None
    if told.kind == "done":
        return _About("kind", *names, outcome_of(told.stop_reason or "end_turn"), False)
    return _About("kind", *names, None, True) if told.kind in _KINDS else None


def _sent(params: Any) -> _Sent:
    """From an object, or one that is already written."""
    if isinstance(params, Raw):
        return read(params, _SENT) or _Sent()
    try:
        return msgspec.convert(params, _Sent)
    except msgspec.ValidationError:
        return _Sent()


def _completed(frame: EventFrame, run_id: str, session_key: str) -> EventFrame:
    """With the names behind everything else: of a member that is there twice, the last counts."""
    if isinstance(frame.payload, UnsetType):
        return frame
    names = msgspec.json.encode({"runId": run_id, "sessionKey": session_key})
    written = bytes(frame.payload).rstrip().removesuffix(b"}") + b"," + names.removeprefix(b"{")
    return msgspec.structs.replace(frame, payload=Raw(written))


def _is_same(one: str, other: str) -> bool:
    return canonical_session_key(one) == canonical_session_key(other)
