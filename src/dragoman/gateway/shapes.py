"""Conversations as the protocol shows them: rows of a list, messages of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.chat.conversations import Called, Conversation, Said
from dragoman.chat.runs import Run

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


def entry(conversation: Conversation) -> Json:
    label = {"label": conversation.label} if conversation.label else {}
    return {"sessionId": conversation.id, "updatedAt": conversation.updated_ms, **label}


def message(said: Said, most_characters: int) -> Json:
    """Calls stand in the message that made them, as real gateways have it; their results follow as rows."""
    text = said.text[:most_characters]
    calls = [{"type": "toolCall", "id": it.id, "name": it.tool, "arguments": it.input or {}} for it in said.calls]
    content = [{"type": "text", "text": text}] if text or not (calls or said.error) else []
    return {
        "role": said.role,
        "content": [*content, *calls],
        "timestamp": said.at_ms,
        **_ending(said),
        "__openclaw": {"id": said.id, "seq": said.seq, **_whose(said)},
    }


def _whose(said: Said) -> Json:
    """With its run a client that lost the answer to `chat.send` sees whether its message came; of each call, its title,
    where in the text it was made and how long it took."""
    calls = {
        call.id: {"title": call.title or call.tool, "after": _units(said.text[: call.after]), "tookMs": call.took_ms}
        for call in said.calls
    }
    known = {"by": said.by, "runId": said.run_id, "calls": calls}
    return {name: value for name, value in known.items() if value}


def _units(text: str) -> int:
    """As JavaScript counts."""
    return len(text.encode("utf-16-le", errors="replace")) // 2


def _ending(said: Said) -> Json:
    """A failed run's row has its error, and no content where nothing was said: on 3 and on 4."""
    if said.role != "assistant":
        return {}
    stopped = {"stopReason": {"final": "stop"}.get(said.outcome, said.outcome)}
    return {**stopped, "errorMessage": said.error} if said.error else stopped


def history(rows: Sequence[Said], most_characters: int) -> list[Json]:
    """The newest within the characters asked for, oldest first; what tools printed counts as much as what was said."""
    told: list[Json] = []
    left = most_characters
    for said in reversed(rows):
        if left <= 0:
            break
        said_row = message(said, left)
        left -= len(said.text)
        results: list[Json] = []
        for call in said.calls:
            results.append(_result(said, call, max(0, left)))
            left -= len(call.output or call.error or "")
        told += [*reversed(results), said_row]
    return list(reversed(told))


def in_flight(run: Run) -> Json:
    """What was said of a run until now: for whoever comes in the middle of it."""
    voice = run.voice
    calls = voice.calls if voice else ()
    text = voice.text if voice else ""
    events = [
        event
        for call in calls
        for event in _call_events(call, text, is_open=bool(voice and call.id in voice.open_calls))
    ]
    tool = [{"runId": run.id, "sessionKey": run.session_key, "stream": "tool", "data": data} for data in events]
    return {"runId": run.id, "text": text, "events": tool}


def _call_events(call: Called, text: str, *, is_open: bool) -> list[Json]:
    named = {"name": call.tool, "toolCallId": call.id, "title": call.title or call.tool}
    start = {"phase": "start", **named, "args": call.input or {}, "after": _units(text[: call.after])}
    content = [{"type": "text", "text": call.output or call.error or ""}]
    ended = {"isError": call.error is not None, "result": {"content": content}, "tookMs": call.took_ms}
    result = {"phase": "result", **named, **ended}
    return [start] if is_open else [start, result]


def _result(said: Said, call: Called, most_characters: int) -> Json:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.tool,
        "isError": call.error is not None,
        "content": [{"type": "text", "text": (call.output or call.error or "")[:most_characters]}],
        "timestamp": said.at_ms,
    }
