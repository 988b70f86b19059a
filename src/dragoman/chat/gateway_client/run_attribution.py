"""Find the run that an event belongs to, where the gateway does not name it.

Real gateways name the run and the session in every event. The events of the protocol document name neither, and may
come before the answer that contains the run's id. So messages sent over this connection are remembered in order, and
an event without names belongs to the oldest message whose answer is not complete: such a gateway works on one message
after another. Events that come before the run has a name are held until it has one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, UnsetType

from dragoman.core.ids import new_id
from dragoman.protocols.gateway import EventFrame, SequenceGap, canonical_session_key
from dragoman.protocols.gateway.chat_events import Outcome
from dragoman.protocols.gateway.payloads import read, size_of
from dragoman.protocols.gateway.reducer import outcome_of

HELD_AT_MOST = 1_000
HELD_BYTES_AT_MOST = 8 << 20
RUNS_AT_MOST = 64
_STREAMS = frozenset({"assistant", "tool", "item", "command_output"})
_KINDS = frozenset({"text_delta", "tool_start", "tool_update", "tool_result", "diff", "a2ui"})
_CHAT_ENDS: dict[str, Outcome] = {"final": "final", "aborted": "aborted", "error": "error"}

AttributedEvents = list[EventFrame | SequenceGap]


class _EventPayload(msgspec.Struct, rename="camel"):
    run_id: str | None = None
    session_key: str | None = None
    stream: str | None = None
    kind: str | None = None
    state: str | None = None
    stop_reason: str | None = None


class _SentParams(msgspec.Struct, rename="camel"):
    """The members of a request that are read. Others are skipped, however large."""

    session_key: str | None = None
    idempotency_key: str | None = None
    run_id: str | None = None


_PAYLOAD = msgspec.json.Decoder(_EventPayload)
_SENT = msgspec.json.Decoder(_SentParams)


class _RunReference(NamedTuple):
    """How an event refers to its run; `form` is which of the two event forms it has."""

    form: str
    run_id: str
    session_key: str
    end: Outcome | None
    has_content: bool


@dataclass(slots=True)
class _SentRun:
    key: str
    session_key: str
    id: str = ""
    """The gateway's id; empty until it has responded."""
    is_abandoned: bool = False
    """Nobody waits for it any more, so a newer run comes first."""


class RunAttribution:
    """The runs of one connection.

    It starts empty with each connection: a gateway that was away may have forgotten every run.
    """

    def __init__(self) -> None:
        self._runs: dict[str, _SentRun] = {}
        self._over: deque[str] = deque(maxlen=RUNS_AT_MOST)
        self._held: list[EventFrame] = []
        self._held_bytes = 0
        self._last_end: tuple[str, Outcome] | None = None
        self._session_key = "main"

    def reset(self) -> None:
        self._runs.clear()
        self._last_end = None
        self._pop_held()

    def requested(self, method: str, params: Any) -> str:
        """Note an outgoing request about runs. Returns the key of a message, for `answered` or `refused`."""
        if method not in ("chat.send", "chat.abort"):
            return ""
        given = _sent_params(params)
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
            self._add(_SentRun(key, session_key))

    def answered(self, key: str, run_id: str) -> AttributedEvents:
        """The gateway has named the run. Without a name, the key of the message is used."""
        run = self._runs.get(key)
        if run is not None:
            run.id = run_id or key
            self._last_end = None
            if run.id in self._over:
                del self._runs[key]
        return self._release()

    def refused(self, key: str) -> AttributedEvents:
        self._runs.pop(key, None)
        return self._release()

    def leave(self, session_key: str, run_id: str = "") -> None:
        """Somebody stopped the run or no longer waits for it; without an id, every run of the session."""
        for run in self._runs.values():
            if run_id in (run.id, run.key) or (not run_id and _is_same_session(run.session_key, session_key)):
                run.is_abandoned = True

    def on_event(self, frame: EventFrame) -> AttributedEvents:
        """The event with its missing names. Nothing while it is held, or if it repeats an end."""
        about = _run_reference(frame)
        if about is None:
            return [frame]
        if self._held:
            return self._hold(frame)
        return self._attribute_named(frame, about) if about.run_id else self._attribute_unnamed(frame, about)

    def _attribute_named(self, frame: EventFrame, about: _RunReference) -> AttributedEvents:
        run = next((it for it in self._runs.values() if about.run_id in (it.id, it.key)), None)
        self._note(about, run, about.run_id)
        if about.session_key:
            return [frame]
        return [_with_names(frame, about.run_id, run.session_key if run else self._session_key)]

    def _attribute_unnamed(self, frame: EventFrame, about: _RunReference) -> AttributedEvents:
        if self._repeats_end(about):
            return []
        run = self._running(about)
        if run is None:
            # Neither an end nor a summary starts a run.
            if not about.has_content or about.form == "chat":
                return []
            run = self._add(_SentRun(new_id("run"), about.session_key or self._session_key))
            run.id = run.key
        if not run.id:
            return self._hold(frame)
        self._note(about, run, run.id)
        return [_with_names(frame, run.id, about.session_key or run.session_key)]

    def _running(self, about: _RunReference) -> _SentRun | None:
        of_session = (
            run
            for run in self._runs.values()
            if not about.session_key or _is_same_session(run.session_key, about.session_key)
        )
        is_abort = about.end == "aborted"
        return min(of_session, key=lambda run: run.is_abandoned is not is_abort, default=None)

    def _repeats_end(self, about: _RunReference) -> bool:
        """A gateway that sends both `done` and a `chat` state has ended the run once."""
        if self._last_end is None or self._last_end[0] == about.form:
            return False
        if about.end is None:
            return about.form == "chat"
        repeats = about.end == self._last_end[1]
        self._last_end = None
        return repeats

    def _note(self, about: _RunReference, run: _SentRun | None, run_id: str) -> None:
        if about.has_content:
            self._last_end = None
        if about.end is None:
            return
        self._last_end = (about.form, about.end)
        self._over.append(run_id)
        if run is not None:
            self._runs.pop(run.key, None)

    def _add(self, run: _SentRun) -> _SentRun:
        if len(self._runs) >= RUNS_AT_MOST:
            del self._runs[next(iter(self._runs))]
        self._runs[run.key] = run
        return run

    def _hold(self, frame: EventFrame) -> AttributedEvents:
        self._held.append(frame)
        self._held_bytes += size_of(frame.payload)
        if len(self._held) <= HELD_AT_MOST and self._held_bytes <= HELD_BYTES_AT_MOST:
            return []
        self._pop_held()
        return [SequenceGap(expected=0, received=0)]

    def _release(self) -> AttributedEvents:
        return [event for frame in self._pop_held() for event in self.on_event(frame)]

    def _pop_held(self) -> list[EventFrame]:
        held, self._held, self._held_bytes = self._held, [], 0
        return held


class _Started(msgspec.Struct, rename="camel"):
    run_id: str | None = None


_STARTED = msgspec.json.Decoder(_Started)


def run_id_of(answer: Raw | UnsetType) -> str:
    """The run id in the response to a message."""
    started = read(answer, _STARTED)
    return (started.run_id if started else None) or ""


def _run_reference(frame: EventFrame) -> _RunReference | None:
    """None for an event that belongs to no run, or that is not shown."""
    payload = read(frame.payload, _PAYLOAD) if frame.event in ("agent", "chat") else None
    if payload is None:
        return None
    names = (payload.run_id or "", payload.session_key or "")
    if frame.event == "chat":
        end, goes_on = _CHAT_ENDS.get(payload.state or ""), payload.state == "delta"
        return _RunReference("chat", *names, end, goes_on) if end or goes_on else None
    if payload.stream:
        return _RunReference("stream", *names, None, True) if payload.stream in _STREAMS else None
    if payload.kind == "done":
        return _RunReference("kind", *names, outcome_of(payload.stop_reason or "end_turn"), False)
    return _RunReference("kind", *names, None, True) if payload.kind in _KINDS else None


def _sent_params(params: Any) -> _SentParams:
    """From an object, or from encoded JSON."""
    if isinstance(params, Raw):
        return read(params, _SENT) or _SentParams()
    try:
        return msgspec.convert(params, _SentParams)
    except msgspec.ValidationError:
        return _SentParams()


def _with_names(frame: EventFrame, run_id: str, session_key: str) -> EventFrame:
    """Append the names at the end: of a duplicate member, the last counts."""
    if isinstance(frame.payload, UnsetType):
        return frame
    names = msgspec.json.encode({"runId": run_id, "sessionKey": session_key})
    written = bytes(frame.payload).rstrip().removesuffix(b"}") + b"," + names.removeprefix(b"{")
    return msgspec.structs.replace(frame, payload=Raw(written))


def _is_same_session(one: str, other: str) -> bool:
    return canonical_session_key(one) == canonical_session_key(other)
