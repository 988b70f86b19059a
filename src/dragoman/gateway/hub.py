"""Everybody who listens: what runs tell becomes frames once, and each client is given those that it may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anyio
import msgspec
from msgspec import UNSET

from dragoman import __version__
from dragoman.access.links import Links
from dragoman.access.tokens import Tokens
from dragoman.canvas.model import SurfaceChange
from dragoman.chat.approvals import Wanted
from dragoman.clock import Clock
from dragoman.gateway import kind_events
from dragoman.gateway.document_canvas import DocumentCanvas
from dragoman.gateway.grants import APPROVE, READ
from dragoman.gateway.methods import Methods, wanted_approval
from dragoman.gateway.nodes import Nodes
from dragoman.gateway.speech import Frame, Speech
from dragoman.gateway.visit import TICK_MS, Socket, Visit
from dragoman.wire.gateway import EventFrame, Reducer, SequenceGap, Snapshot
from dragoman.wire.gateway.messages import TOOL_EVENTS
from dragoman.wire.gateway.vocabulary import ChatEvent, Done

VISITS_AT_MOST = 500
STRANGERS_AT_MOST = 256
"""Who has not shown a token yet; more at once would take the room of those who have."""
SPEECHES_AT_MOST = 512
"""Of runs that go on; those behind another gateway may never be told to have ended."""
ENDS = ("final", "aborted", "error")
PASSED_ON = frozenset({"agent", "chat", "sessions.changed"})
_FULL = (1013, "too many connections")


class Hub:
    """Owns the visits, and the speech of each run that goes on."""

    def __init__(self, tokens: Tokens, links: Links, clock: Clock, *, largest_bytes: int) -> None:
        self._tokens = tokens
        self._links = links
        self._clock = clock
        self._largest_bytes = largest_bytes
        self._visits: set[Visit] = set()
        self._strangers: set[Visit] = set()
        self._speeches: dict[str, Speech] = {}
        self._relayed = Reducer()
        self._started_s = clock.monotonic_s()
        self.nodes = Nodes(clock)
        self.methods: Methods
        self.canvas: DocumentCanvas | None = None

    async def serve(self, socket: Socket, *, is_person: bool = False) -> None:
        if len(self._visits) >= VISITS_AT_MOST or len(self._strangers) >= STRANGERS_AT_MOST:
            await socket.close(*_FULL)
            return
        visit = Visit(
            socket,
            self.methods,
            self._tokens,
            self._links,
            self._clock,
            came=self._came,
            largest_bytes=self._largest_bytes,
            snapshot=self._snapshot,
            is_person=is_person,
        )
        self._strangers.add(visit)
        try:
            await visit.live()
        finally:
            self._visits.discard(visit)
            self._strangers.discard(visit)
            self.nodes.went(visit)

    async def tick(self) -> None:
        while True:
            await anyio.sleep(TICK_MS / 1000)
            self._everyone(Frame("tick", {"ts": self._now_ms()}))

    def tell(self, event: ChatEvent) -> None:
        """Of a run: what comes too fast for a reader is told again, whole, in the next `chat` frame."""
        now_ms = self._now_ms()
        speech = self._speeches.get(event.run_id)
        frames: list[Frame] = []
        if speech is None:
            if len(self._speeches) >= SPEECHES_AT_MOST:
                del self._speeches[next(iter(self._speeches))]
            speech = self._speeches[event.run_id] = Speech(event.run_id, event.session_key, now_ms)
            frames += speech.begin()
            self.changed(event.session_key, {"phase": "start", "runId": event.run_id})
        frames += speech.tell(event, now_ms)
        for frame in frames:
            _broadcast(frame, self._readers(), may_be_left_out=not _is_end(frame))
            self._tell_nodes(frame, event.session_key)
        self._tell_kind(event)
        if isinstance(event, Done):
            self._speeches.pop(event.run_id, None)
            self.changed(event.session_key, {"phase": "end", "runId": event.run_id})

    def pass_on(self, frame: EventFrame | SequenceGap) -> None:
        """What another gateway told, to those who may read it here; what was lost on the way is a gap here too."""
        if isinstance(frame, SequenceGap):
            for visit in self._readers():
                visit.skip()
        elif frame.event in PASSED_ON and frame.payload is not UNSET:
            about = _about(frame.payload)
            needs = TOOL_EVENTS if about.stream == "tool" else ""
            is_rewritten = kind_events.is_rewritten(about.stream, about.kind)
            for visit in self._readers():
                if not (is_rewritten and visit.reads_kinds):
                    told = Frame(frame.event, {}, needs)
                    visit.broadcast(told, frame.payload, may_be_left_out=about.state not in ENDS)
            if self._kind_readers():
                for event in self._relayed.feed(frame):
                    self._tell_kind(event)

    def drawn(self, change: SurfaceChange) -> None:
        """On the canvas, by whatever agent: for those who read the protocol document's form. A client that was told
        nothing of the surface yet is told the whole."""
        if self.canvas is None:
            return
        if readers := self._kind_readers():
            name = self.canvas.name_of(change.drawer, change.surface_id)
            known = [visit for visit in readers if name in visit.surfaces_told]
            others = [visit for visit in readers if name not in visit.surfaces_told]
            for visits, messages in zip((known, others), self.canvas.messages(change), strict=True):
                for message in messages:
                    _broadcast(Frame("agent", kind_events.of_surface(message)), visits, may_be_left_out=False)
            for visit in readers:
                (visit.surfaces_told.discard if change.after is None else visit.surfaces_told.add)(name)
        if change.after is None:
            self.canvas.forget(change)

    def wanted(self, approval: Wanted) -> None:
        self._tell_of_approval(Frame("dragoman.approval.requested", wanted_approval(approval)))

    def settled(self, approval: Wanted, allowed: bool) -> None:
        decision = {"id": approval.id, "decision": "allow" if allowed else "deny"}
        self._tell_of_approval(Frame("dragoman.approval.resolved", decision))

    def outer_changed(self) -> None:
        """The connection to the gateway that we are a client of; `dragoman.gateway` says how it stands, in words."""
        people = [it for it in self._readers() if it.is_person]
        _broadcast(Frame("dragoman.gateway", {"ts": self._now_ms()}), people, may_be_left_out=False)

    def changed(self, session_key: str, more: Mapping[str, Any]) -> None:
        """To those who asked to hear of sessions, or of this one."""
        payload = {"sessionKey": session_key, "ts": self._now_ms(), **more}
        for visit in self._readers():
            if visit.subscribes_sessions or session_key in visit.messages_of:
                visit.tell("sessions.changed", payload)

    def tell_erased(self) -> None:
        """Something that was said is no more: a gap, at once, since clients read anew what they show after one."""
        for visit in self._readers():
            visit.skip()
        self._everyone(Frame("tick", {"ts": self._now_ms()}))

    def presence(self) -> list[Any]:
        own = {"host": "dragoman", "version": __version__, "mode": "gateway", "reason": "self", "ts": self._now_ms()}
        return [own, *(_presence(visit) for visit in self._visits)]

    def end(self) -> None:
        """In the words of a gateway that stops, so that clients come back."""
        self._everyone(Frame("shutdown", {"reason": "gateway stopping", "restartExpectedMs": None}))
        for visit in self._visits:
            visit.end(1012, "service restart")

    def _tell_kind(self, event: ChatEvent) -> None:
        """In the protocol document's form, to those who read no other."""
        payload = kind_events.of_run(event)
        if payload is not None:
            _broadcast(Frame("agent", payload), self._kind_readers(), may_be_left_out=False)

    def _tell_nodes(self, frame: Frame, session_key: str) -> None:
        """Of the sessions that each asked for, without numbers."""
        for visit in self._visits:
            if visit.is_node and session_key in visit.messages_of:
                visit.tell(frame.event, frame.payload)

    def _everyone(self, frame: Frame) -> None:
        _broadcast(frame, list(self._visits), may_be_left_out=False)

    def _tell_of_approval(self, frame: Frame) -> None:
        """Wherever the conversation is read: it holds the call that waits already. Only people may answer."""
        _broadcast(frame, [it for it in self._visits if it.may(READ) or it.may(APPROVE)], may_be_left_out=False)

    def _came(self, visit: Visit) -> None:
        self._strangers.discard(visit)
        self._visits.add(visit)
        if visit.is_node:
            self.nodes.came(visit)

    def _readers(self) -> list[Visit]:
        return [visit for visit in self._visits if visit.may(READ)]

    def _kind_readers(self) -> list[Visit]:
        return [visit for visit in self._readers() if visit.reads_kinds]

    def _snapshot(self) -> Snapshot:
        return Snapshot(uptime_ms=round((self._clock.monotonic_s() - self._started_s) * 1000))

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


class _About(msgspec.Struct):
    stream: str = ""
    state: str = ""
    kind: str = ""


def _about(payload: msgspec.Raw) -> _About:
    try:
        return msgspec.json.decode(payload, type=_About)
    except msgspec.DecodeError:
        return _About()


def _broadcast(frame: Frame, visits: Iterable[Visit], *, may_be_left_out: bool) -> None:
    """The payload is written once for all; each one's number is its own."""
    written = msgspec.Raw(msgspec.json.encode(frame.payload))
    for visit in visits:
        visit.broadcast(frame, written, may_be_left_out=may_be_left_out)


def _is_end(frame: Frame) -> bool:
    return frame.event == "chat" and frame.payload["state"] in ENDS


def _presence(visit: Visit) -> dict[str, Any]:
    client = visit.params.client if visit.params else None
    return {
        "host": visit.name,
        "version": client.version if client else "",
        "platform": client.platform if client else "",
        "mode": client.mode if client else "",
        "reason": "connect",
        "ts": visit.since_ms,
    }
