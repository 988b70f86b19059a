"""Reduce the frames of a gateway to the events that a chat shows.

A real gateway reports every reply twice, as `agent` events (pieces, tools, phases) and as `chat` events (the whole
text so far, and the end); the specification reports it once, by `payload.kind`. The reducer makes one stream of
either: text is never doubled, every tool call has one start and one result, every run has one `done`, and a repeated
or late frame changes nothing. Health, ticks and lifecycle are not for the chat; `lifecycle error` is not even an end,
because the gateway retries by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Raw, UnsetType

from dragoman.protocols.gateway.chat_events import ApprovalRequest, ChatEvent, ChatGap, Outcome
from dragoman.protocols.gateway.connection import SequenceGap
from dragoman.protocols.gateway.messages import EventFrame, SessionDefaults, canonical_session_key
from dragoman.protocols.gateway.payloads import (
    ApprovalPayload,
    AssistantData,
    ChatPayload,
    KindPayload,
    PhaseData,
    RunPayload,
    ToolData,
    UsageData,
    read,
    size_of,
)
from dragoman.protocols.gateway.run import KINDS, GatewayRun

MAX_RUNS = 256
MAX_ENDED_RUNS = 1024
MAX_KEPT_BYTES = 64 << 20  # over all runs: their texts, and the output of open tool calls
_CHECK_EVERY_BYTES = 16 << 20

_T = TypeVar("_T", bound=msgspec.Struct)

_RUN = msgspec.json.Decoder(RunPayload)
_CHAT = msgspec.json.Decoder(ChatPayload)
_APPROVAL = msgspec.json.Decoder(ApprovalPayload)
_KIND = msgspec.json.Decoder(KindPayload)
_ASSISTANT = msgspec.json.Decoder(AssistantData)
_PHASE = msgspec.json.Decoder(PhaseData)
_USAGE = msgspec.json.Decoder(UsageData)
_TOOL = msgspec.json.Decoder(ToolData)

_REAL = SessionDefaults()
_OUTCOMES: dict[str, Outcome] = {"final": "final", "aborted": "aborted", "error": "error"}
# The specification puts an error's message in place of the reason: an unknown reason is an error.
_OUTCOMES_OF_REASONS: dict[str, Outcome] = {
    "end_turn": "final",
    "stop": "final",
    "stop_sequence": "final",
    "max_tokens": "final",
    "aborted": "aborted",
}


def outcome_of(stop_reason: str) -> Outcome:
    return _OUTCOMES_OF_REASONS.get(stop_reason, "error")


class Reducer:
    """Outlives connections: a run goes on over a reconnect. State is bounded; a run that was dropped is restored."""

    def __init__(self, defaults: SessionDefaults | None = _REAL) -> None:
        """Without defaults a session's key is taken as it is spelled: the specification's gateway has one spelling."""
        self.defaults = defaults
        self._runs: dict[str, GatewayRun] = {}
        self._ended: dict[str, None] = {}
        self._bytes_since_check = 0
        self.unreadable = 0
        self._events: dict[str, Callable[[Raw | UnsetType], list[ChatEvent]]] = {
            "agent": self._agent,
            "session.tool": self._agent,
            "chat": self._chat,
            "dragoman.approval.requested": self._approval,
        }
        # Lists of known values: protocol 4 added a chat state, which broke the rule "anything but delta ends the run".
        self._chat_states: dict[str, Callable[[GatewayRun, ChatPayload], list[ChatEvent]]] = {
            "delta": self._chat_delta,
            "status": lambda run, frame: run.status(frame.phase, frame.seq),
            "final": self._chat_end,
            "aborted": self._chat_end,
            "error": self._chat_end,
        }
        self._streams: dict[str, Callable[[GatewayRun, RunPayload], list[ChatEvent]]] = {
            "assistant": self._assistant,
            "tool": self._tool,
            "item": self._tool,
            "command_output": self._tool,
            "run_status": self._run_status,
            "usage": self._usage,
        }

    def feed(self, event: EventFrame | SequenceGap) -> list[ChatEvent]:
        """The chat events of a frame, often none."""
        if isinstance(event, SequenceGap):
            return [ChatGap(expected=event.expected, received=event.received)]
        handler = self._events.get(event.event)
        if handler is None:
            return []
        events = handler(event.payload)
        self._count_bytes(size_of(event.payload))
        return events

    def _count_bytes(self, read: int) -> None:
        """What is kept grows no faster than what is read, so an occasional check is enough."""
        self._bytes_since_check += read
        if self._bytes_since_check < _CHECK_EVERY_BYTES:
            return
        self._bytes_since_check = 0
        kept = sum(run.size for run in self._runs.values())
        while kept > MAX_KEPT_BYTES:
            kept -= self._runs.pop(next(iter(self._runs))).size

    def _agent(self, payload: Raw | UnsetType) -> list[ChatEvent]:
        frame = self._read(payload, _RUN)
        if frame is None:
            return []
        if not frame.stream:
            return self._kind(frame, payload) if frame.kind in {"done", *KINDS} else []
        handler = self._streams.get(frame.stream)
        run = self._run(frame.run_id, frame.session_key) if handler else None
        return handler(run, frame) if handler and run else []

    def _chat(self, payload: Raw | UnsetType) -> list[ChatEvent]:
        frame = self._read(payload, _CHAT)
        handler = self._chat_states.get(frame.state) if frame else None
        run = self._run(frame.run_id, frame.session_key) if frame and handler else None
        return handler(run, frame) if frame and handler and run else []

    def _approval(self, payload: Raw | UnsetType) -> list[ChatEvent]:
        frame = self._read(payload, _APPROVAL)
        run = self._run(frame.run_id, frame.session_key) if frame else None
        if frame is None or run is None:
            return []
        wanted = ApprovalRequest(
            run_id=run.run_id,
            session_key=run.session_key,
            id=frame.id,
            tool=frame.tool,
            subject=frame.subject,
            for_trust=frame.kind == "trust",
        )
        return [wanted]

    def _chat_delta(self, run: GatewayRun, frame: ChatPayload) -> list[ChatEvent]:
        if frame.message is not None:
            return run.corrected(frame.message.text, frame.seq)
        return run.extended(frame.delta_text or "", frame.seq, replace=frame.replace)

    def _chat_end(self, run: GatewayRun, frame: ChatPayload) -> list[ChatEvent]:
        outcome = _OUTCOMES[frame.state]
        reasons = {"final": "end_turn", "aborted": "aborted", "error": frame.error_message or "error"}
        text = frame.message.text if frame.message is not None else None
        return self._end(run, reasons[outcome], outcome, text)

    def _assistant(self, run: GatewayRun, frame: RunPayload) -> list[ChatEvent]:
        data = self._read(frame.data, _ASSISTANT)
        return run.add_text(data.delta, data.text, data.item_id, frame.seq) if data else []

    def _tool(self, run: GatewayRun, frame: RunPayload) -> list[ChatEvent]:
        data = self._read(frame.data, _TOOL)
        return run.tool(frame.stream, data, frame.seq) if data and data.tool_call_id else []

    def _run_status(self, run: GatewayRun, frame: RunPayload) -> list[ChatEvent]:
        data = self._read(frame.data, _PHASE)
        return run.status(data.phase, frame.seq) if data else []

    def _usage(self, run: GatewayRun, frame: RunPayload) -> list[ChatEvent]:
        data = self._read(frame.data, _USAGE)
        return run.usage(data, frame.seq) if data else []

    def _kind(self, frame: RunPayload, payload: Raw | UnsetType) -> list[ChatEvent]:
        data = self._read(payload, _KIND)
        run = self._run(frame.run_id, frame.session_key)
        if data is None or run is None:
            return []
        if frame.kind == "done":
            reason = data.stop_reason or "end_turn"
            return self._end(run, reason, outcome_of(reason), None)
        return KINDS[frame.kind](run, data)

    def _end(self, run: GatewayRun, reason: str, outcome: Outcome, text: str | None) -> list[ChatEvent]:
        self._runs.pop(run.key, None)
        # A run without an id cannot be distinguished from the next one, so its end is not remembered.
        if run.run_id:
            self._ended[run.key] = None
        if len(self._ended) > MAX_ENDED_RUNS:
            del self._ended[next(iter(self._ended))]
        return run.end(reason, outcome, text)

    def _run(self, run_id: str, session_key: str) -> GatewayRun | None:
        """The run that a frame belongs to; None once that run has ended.

        Frames without a run id are found by their session.
        """
        session = canonical_session_key(session_key, self.defaults) if self.defaults else session_key
        run = self._runs.get(run_id) if run_id else self._latest_of(session)
        if run is not None:
            return run
        key = run_id or f"session {session}"
        if key in self._ended:
            return None
        if len(self._runs) >= MAX_RUNS:
            del self._runs[next(iter(self._runs))]
        self._runs[key] = run = GatewayRun(key, run_id, session)
        return run

    def _latest_of(self, session: str) -> GatewayRun | None:
        return next((run for run in reversed(self._runs.values()) if run.session_key == session), None)

    def _read(self, payload: Raw | UnsetType, decoder: msgspec.json.Decoder[_T]) -> _T | None:
        found = read(payload, decoder)
        self.unreadable += found is None
        return found
