"""A run as a gateway tells it: twice, as `agent` events in pieces and as `chat` events with the whole text so far.

The inverse of the wire's reducer. Clients of both protocols get the same frames; protocol 4 adds fields to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from dragoman.wire.gateway.messages import TOOL_EVENTS
from dragoman.wire.gateway.vocabulary import (
    ChatEvent,
    Diff,
    Done,
    Status,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUpdate,
    Usage,
)

CHAT_EVERY_MS = 150
_REPEATED = 8_192
"""Characters that each piece repeats what came before it; beyond, the `chat` frames do, now and then."""
_AGENT = "main"

Json = dict[str, Any]


class Frame(NamedTuple):
    """One event for every reader, or only for those with a capability."""

    event: str
    payload: Json
    needs: str = ""


class Speech:
    """One run's frames. Owns its numbers and the text so far."""

    def __init__(self, run_id: str, session_key: str, started_ms: int) -> None:
        self._run_id = run_id
        self._session_key = session_key
        self._started_ms = started_ms
        self._seq = 0
        self._segments = [""]
        self._told_text = ""
        self._told_at_ms = 0
        self._names: dict[str, tuple[str, str]] = {}

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self._segments))

    def begin(self) -> list[Frame]:
        return [self._agent("lifecycle", {"phase": "start", "startedAt": self._started_ms}, self._started_ms)]

    def tell(self, event: ChatEvent, now_ms: int) -> list[Frame]:
        match event:
            case TextDelta():
                return self._said(event, now_ms)
            case ToolStart():
                return self._tool_began(event, now_ms)
            case ToolUpdate():
                return self._tool_went_on(event, now_ms)
            case ToolResult():
                return self._tool_ended(event, now_ms)
            case Status():
                return self._status(event, now_ms)
            case Usage():
                return [self._agent("usage", _usage(event), now_ms)]
            case Diff():
                return [self._agent("diff", _diff(event), now_ms)]
            case Done():
                return self._ended(event, now_ms)
            case _:
                return []

    def _said(self, event: TextDelta, now_ms: int) -> list[Frame]:
        self._segments += [""] * (event.segment + 1 - len(self._segments))
        before = self._segments[event.segment]
        if event.replace:
            self._segments[event.segment :] = [event.content]
        else:
            self._segments[event.segment] += event.content
        told = [self._agent("assistant", self._piece(event, before), now_ms)]
        if now_ms - self._told_at_ms >= CHAT_EVERY_MS:
            told += self._chat_delta(now_ms)
        return told

    def _piece(self, event: TextDelta, before: str) -> Json:
        """The message is named: readers then join messages as the `chat` frames do. What takes the place of something
        stands in `text`; its `delta` has no more than was added, since some readers append that and look at nothing
        else."""
        segment = self._segments[event.segment]
        repeated = {"text": segment} if len(segment) <= _REPEATED or event.replace else {}
        added = segment[len(before) :] if segment.startswith(before) else ""
        return {**repeated, "delta": added, "itemId": f"message-{event.segment + 1}"}

    def _chat_delta(self, now_ms: int) -> list[Frame]:
        text = self.text
        if text == self._told_text:
            return []
        grown = text.startswith(self._told_text)
        delta = text[len(self._told_text) :] if grown else text
        self._told_text, self._told_at_ms = text, now_ms
        more = {"deltaText": delta} | ({} if grown else {"replace": True})
        return [self._chat("delta", {**more, "message": _message(text, now_ms)})]

    def _tool_began(self, event: ToolStart, now_ms: int) -> list[Frame]:
        title = event.title or event.tool
        self._names[event.id] = (event.tool, title)
        arguments = {} if event.input is UNSET else msgspec.json.decode(event.input)
        call = {"phase": "start", "name": event.tool, "toolCallId": event.id, "title": title, "args": arguments}
        return [
            self._item(event.id, "start", "running", now_ms),
            self._agent("tool", call, now_ms, needs=TOOL_EVENTS),
        ]

    def _tool_went_on(self, event: ToolUpdate, now_ms: int) -> list[Frame]:
        name, _ = self._name_of(event.id)
        partial = {"content": [{"type": "text", "text": event.output or ""}]}
        call = {"phase": "update", "name": name, "toolCallId": event.id, "partialResult": partial}
        return [self._agent("tool", call, now_ms, needs=TOOL_EVENTS), self._item(event.id, "update", "running", now_ms)]

    def _tool_ended(self, event: ToolResult, now_ms: int) -> list[Frame]:
        name, _ = self._name_of(event.id)
        is_error = event.error is not None
        result = {"content": [{"type": "text", "text": _result_text(event)}]}
        call = {"phase": "result", "name": name, "toolCallId": event.id, "isError": is_error, "result": result}
        return [
            self._agent("tool", call, now_ms, needs=TOOL_EVENTS),
            self._item(event.id, "end", "failed" if is_error else "completed", now_ms),
        ]

    def _status(self, event: Status, now_ms: int) -> list[Frame]:
        return [self._chat("status", {"phase": event.phase}), self._agent("run_status", {"phase": event.phase}, now_ms)]

    def _ended(self, event: Done, now_ms: int) -> list[Frame]:
        """The end of the run, what the last pause kept back, then the one terminal state."""
        lifecycle = {"phase": "end", "startedAt": self._started_ms, "endedAt": now_ms}
        last = self._chat_delta(now_ms)
        message = {"message": _message(self.text, now_ms)} if self.text else {}
        ends: dict[str, Json] = {
            "final": message,
            "aborted": {"stopReason": "rpc", **message},
            "error": {"errorMessage": event.stop_reason, **message},
        }
        return [self._agent("lifecycle", lifecycle, now_ms), *last, self._chat(event.outcome, ends[event.outcome])]

    def _item(self, id: str, phase: str, status: str, now_ms: int) -> Frame:
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

    def _agent(self, stream: str, data: Json, now_ms: int, *, needs: str = "") -> Frame:
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
        return Frame("agent", payload, needs)

    def _chat(self, state: str, more: Json) -> Frame:
        payload = {
            "runId": self._run_id,
            "sessionKey": self._session_key,
            "agentId": _AGENT,
            "seq": self._seq,
            "state": state,
            **more,
        }
        return Frame("chat", payload)


def _result_text(event: ToolResult) -> str:
    """What it wrote, then what went wrong, where the one does not say the other."""
    error = event.error or ""
    return event.output if error in event.output else "\n".join(filter(None, (event.output, error)))


def _message(text: str, now_ms: int) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": now_ms}


def _usage(event: Usage) -> Json:
    found = {"inputTokens": event.input_tokens, "outputTokens": event.output_tokens, "totalTokens": event.total_tokens}
    return {name: count for name, count in found.items() if count is not None}


def changed_file(event: Diff, now_ms: int) -> Json:
    """Of a run that is not ours, and so without a place in its order."""
    about = {"runId": event.run_id, "sessionKey": event.session_key}
    return {**about, "stream": "diff", "data": _diff(event), "ts": now_ms}


def _diff(event: Diff) -> Json:
    return {
        "path": event.path,
        "original": event.original,
        "modified": event.modified,
        "toolCallId": event.tool_id,
        "partial": event.partial,
    }
