"""The events of a run: `agent` events in pieces, and `chat` events with the whole text so far.

This is the inverse of the reducer in `protocols.gateway`. Clients of both protocol versions get the same events;
version 4 adds fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from dragoman.protocols.gateway.chat_events import (
    ChatDiff,
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    ToolResult,
    ToolStart,
    ToolUpdate,
)
from dragoman.protocols.gateway.messages import TOOL_EVENTS

CHAT_EVERY_MS = 150
_REPEATED_CHARACTERS = 8_192
"""Up to this length, each piece repeats the text before it. Beyond, only the occasional `chat` frames do."""
_AGENT = "main"

Json = dict[str, Any]


class OutgoingEvent(NamedTuple):
    """One event for every reader, or only for those with a capability."""

    event: str
    payload: Json
    needs: str = ""


class RunEvents:
    """The events of one run. It owns their sequence numbers and the text so far."""

    def __init__(self, run_id: str, session_key: str, started_ms: int) -> None:
        self._run_id = run_id
        self._session_key = session_key
        self._started_ms = started_ms
        self._seq = 0
        self._segments = [""]
        self._sent_text = ""
        self._sent_at_ms = 0
        self._names: dict[str, tuple[str, str]] = {}

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self._segments))

    def begin(self) -> list[OutgoingEvent]:
        return [self._agent("lifecycle", {"phase": "start", "startedAt": self._started_ms}, self._started_ms)]

    def publish(self, event: ChatEvent, now_ms: int) -> list[OutgoingEvent]:
        match event:
            case ChatTextDelta():
                return self._text_events(event, now_ms)
            case ToolStart():
                return self._tool_started(event, now_ms)
            case ToolUpdate():
                return self._tool_updated(event, now_ms)
            case ToolResult():
                return self._tool_ended(event, now_ms)
            case ChatStatus():
                return self._status_events(event, now_ms)
            case ChatUsage():
                return [self._agent("usage", _usage(event), now_ms)]
            case ChatDiff():
                return [self._agent("diff", _diff(event), now_ms)]
            case Done():
                return self._end_events(event, now_ms)
            case _:
                return []

    def _text_events(self, event: ChatTextDelta, now_ms: int) -> list[OutgoingEvent]:
        self._segments += [""] * (event.segment + 1 - len(self._segments))
        before = self._segments[event.segment]
        if event.replace:
            self._segments[event.segment :] = [event.content]
        else:
            self._segments[event.segment] += event.content
        events = [self._agent("assistant", self._piece(event, before), now_ms)]
        if now_ms - self._sent_at_ms >= CHAT_EVERY_MS:
            events += self._chat_delta(now_ms)
        return events

    def _piece(self, event: ChatTextDelta, before: str) -> Json:
        """One piece of text, with its message id: readers then join messages as the `chat` frames do.

        A replacement is in `text`; its `delta` holds only what was added, since some readers append that and read
        nothing else.
        """
        segment = self._segments[event.segment]
        repeated = {"text": segment} if len(segment) <= _REPEATED_CHARACTERS or event.replace else {}
        added = segment[len(before) :] if segment.startswith(before) else ""
        return {**repeated, "delta": added, "itemId": f"message-{event.segment + 1}"}

    def _chat_delta(self, now_ms: int) -> list[OutgoingEvent]:
        text = self.text
        if text == self._sent_text:
            return []
        grown = text.startswith(self._sent_text)
        delta = text[len(self._sent_text) :] if grown else text
        self._sent_text, self._sent_at_ms = text, now_ms
        more = {"deltaText": delta} | ({} if grown else {"replace": True})
        return [self._chat("delta", {**more, "message": _message(text, now_ms)})]

    def _tool_started(self, event: ToolStart, now_ms: int) -> list[OutgoingEvent]:
        title = event.title or event.tool
        self._names[event.id] = (event.tool, title)
        arguments = {} if event.input is UNSET else msgspec.json.decode(event.input)
        call = {"phase": "start", "name": event.tool, "toolCallId": event.id, "title": title, "args": arguments}
        return [
            self._item(event.id, "start", "running", now_ms),
            self._agent("tool", call, now_ms, needs=TOOL_EVENTS),
        ]

    def _tool_updated(self, event: ToolUpdate, now_ms: int) -> list[OutgoingEvent]:
        name, _ = self._name_of(event.id)
        partial = {"content": [{"type": "text", "text": event.output or ""}]}
        call = {"phase": "update", "name": name, "toolCallId": event.id, "partialResult": partial}
        return [self._agent("tool", call, now_ms, needs=TOOL_EVENTS), self._item(event.id, "update", "running", now_ms)]

    def _tool_ended(self, event: ToolResult, now_ms: int) -> list[OutgoingEvent]:
        name, _ = self._name_of(event.id)
        is_error = event.error is not None
        result = {"content": [{"type": "text", "text": _result_text(event)}]}
        call = {"phase": "result", "name": name, "toolCallId": event.id, "isError": is_error, "result": result}
        return [
            self._agent("tool", call, now_ms, needs=TOOL_EVENTS),
            self._item(event.id, "end", "failed" if is_error else "completed", now_ms),
        ]

    def _status_events(self, event: ChatStatus, now_ms: int) -> list[OutgoingEvent]:
        return [self._chat("status", {"phase": event.phase}), self._agent("run_status", {"phase": event.phase}, now_ms)]

    def _end_events(self, event: Done, now_ms: int) -> list[OutgoingEvent]:
        """The end of the run: the text that the last pause held back, then the one terminal state."""
        lifecycle = {"phase": "end", "startedAt": self._started_ms, "endedAt": now_ms}
        last = self._chat_delta(now_ms)
        message = {"message": _message(self.text, now_ms)} if self.text else {}
        ends: dict[str, Json] = {
            "final": message,
            "aborted": {"stopReason": "rpc", **message},
            "error": {"errorMessage": event.stop_reason, **message},
        }
        return [self._agent("lifecycle", lifecycle, now_ms), *last, self._chat(event.outcome, ends[event.outcome])]

    def _item(self, id: str, phase: str, status: str, now_ms: int) -> OutgoingEvent:
        name, title = self._name_of(id)
        data = {
            "itemId": f"tool:{id}",
            "toolCallId": id,
            "name": name,
            "kind": "tool",
            "phase": phase,
            "title": title,
            "status": status,
        }
        return self._agent("item", data, now_ms)

    def _name_of(self, id: str) -> tuple[str, str]:
        return self._names.get(id, ("", ""))

    def _agent(self, stream: str, data: Json, now_ms: int, *, needs: str = "") -> OutgoingEvent:
        self._seq += 1
        payload = {
            "runId": self._run_id,
            "stream": stream,
            "data": data,
            "sessionKey": self._session_key,
            "agentId": _AGENT,
            "seq": self._seq,
            "ts": now_ms,
        }
        return OutgoingEvent("agent", payload, needs)

    def _chat(self, state: str, more: Json) -> OutgoingEvent:
        payload = {
            "runId": self._run_id,
            "sessionKey": self._session_key,
            "agentId": _AGENT,
            "seq": self._seq,
            "state": state,
            **more,
        }
        return OutgoingEvent("chat", payload)


def _result_text(event: ToolResult) -> str:
    """The output, then the error, unless one contains the other."""
    error = event.error or ""
    return event.output if error in event.output else "\n".join(filter(None, (event.output, error)))


def _message(text: str, now_ms: int) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": now_ms}


def _usage(event: ChatUsage) -> Json:
    found = {"inputTokens": event.input_tokens, "outputTokens": event.output_tokens, "totalTokens": event.total_tokens}
    return {name: count for name, count in found.items() if count is not None}


def diff_event_payload(event: ChatDiff, now_ms: int) -> Json:
    """The payload for a run that is not Dragoman's own, and so has no sequence number."""
    about = {"runId": event.run_id, "sessionKey": event.session_key}
    return {**about, "stream": "diff", "data": _diff(event), "ts": now_ms}


def _diff(event: ChatDiff) -> Json:
    return {
        "path": event.path,
        "original": event.original,
        "modified": event.modified,
        "toolCallId": event.tool_id,
        "partial": event.partial,
    }
