"""Conversations as gateway payloads: the rows of a list, and the messages of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.chat.conversations import Conversation, RecordedToolCall, StoredMessage
from dragoman.chat.runs import ChatRun

Json = dict[str, Any]


def session_row(conversation: Conversation, *, is_running: bool, model: str) -> Json:
    name = conversation.label or conversation.key.split(":", 2)[-1]
    label = {"label": conversation.label} if conversation.label else {}
    return {
        "key": conversation.key,
        "kind": "direct",
        **label,
        "displayName": name,
        "updatedAt": conversation.updated_ms,
        "sessionId": conversation.id,
        "modelProvider": "dragoman",
        "model": model,
        "hasActiveRun": is_running,
    }


def session_entry(conversation: Conversation) -> Json:
    label = {"label": conversation.label} if conversation.label else {}
    return {"sessionId": conversation.id, "updatedAt": conversation.updated_ms, **label}


def history_message(message: StoredMessage, most_characters: int) -> Json:
    """A history message.

    Tool calls are inside the message that made them, as in real gateways; their results follow as rows.
    """
    text = message.text[:most_characters]
    calls = [{"type": "toolCall", "id": it.id, "name": it.tool, "arguments": it.input or {}} for it in message.calls]
    content = [{"type": "text", "text": text}] if text or not (calls or message.error) else []
    return {
        "role": message.role,
        "content": [*content, *calls],
        "timestamp": message.at_ms,
        **_outcome_fields(message),
        "__openclaw": {"id": message.id, "seq": message.seq, **_message_details(message)},
    }


def _message_details(message: StoredMessage) -> Json:
    """Details of a message.

    With the run id, a client that lost the response to `chat.send` sees whether its message arrived. Each call has its
    title, its position in the text, and its duration.
    """
    calls = {
        call.id: {
            "title": call.title or call.tool,
            "after": _utf16_length(message.text[: call.after]),
            "tookMs": call.took_ms,
        }
        for call in message.calls
    }
    known = {"by": message.by, "runId": message.run_id, "calls": calls}
    return {name: value for name, value in known.items() if value}


def _utf16_length(text: str) -> int:
    """The length as JavaScript counts it."""
    return len(text.encode("utf-16-le", errors="replace")) // 2


def _outcome_fields(message: StoredMessage) -> Json:
    """The row of a failed run has its error, and no content if it wrote none, in versions 3 and 4."""
    if message.role != "assistant":
        return {}
    stopped = {"stopReason": {"final": "stop"}.get(message.outcome, message.outcome)}
    return {**stopped, "errorMessage": message.error} if message.error else stopped


def history(rows: Sequence[StoredMessage], most_characters: int) -> list[Json]:
    """The newest messages within the character limit, oldest first. Tool output counts like text."""
    newest_first: list[Json] = []
    left = most_characters
    for message in reversed(rows):
        if left <= 0:
            break
        row = history_message(message, left)
        left -= len(message.text)
        results: list[Json] = []
        for call in message.calls:
            results.append(_result(message, call, max(0, left)))
            left -= len(call.output or call.error or "")
        newest_first += [*reversed(results), row]
    return list(reversed(newest_first))


def in_flight(run: ChatRun) -> Json:
    """The text of a run so far, for clients that join in the middle of it."""
    run_output = run.run_output
    calls = run_output.calls if run_output else ()
    text = run_output.text if run_output else ""
    events = [
        event
        for call in calls
        for event in _call_events(call, text, is_open=bool(run_output and call.id in run_output.open_calls))
    ]
    tool = [{"runId": run.id, "sessionKey": run.session_key, "stream": "tool", "data": data} for data in events]
    return {"runId": run.id, "text": text, "events": tool}


def _call_events(call: RecordedToolCall, text: str, *, is_open: bool) -> list[Json]:
    named = {"name": call.tool, "toolCallId": call.id, "title": call.title or call.tool}
    start = {"phase": "start", **named, "args": call.input or {}, "after": _utf16_length(text[: call.after])}
    content = [{"type": "text", "text": call.output or call.error or ""}]
    ended = {"isError": call.error is not None, "result": {"content": content}, "tookMs": call.took_ms}
    result = {"phase": "result", **named, **ended}
    return [start] if is_open else [start, result]


def _result(message: StoredMessage, call: RecordedToolCall, most_characters: int) -> Json:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.tool,
        "isError": call.error is not None,
        "content": [{"type": "text", "text": (call.output or call.error or "")[:most_characters]}],
        "timestamp": message.at_ms,
    }
