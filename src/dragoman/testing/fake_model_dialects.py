"""How the fake model speaks: the events of both providers' interfaces, as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol


class Speaking(Protocol):
    def says(self, text: str) -> bytes: ...

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]: ...

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes: ...

    def fails(self, kind: str) -> bytes: ...


class SpeakingOpenai:
    _REASONS: Mapping[str, str] = {"end": "stop", "refused": "content_filter"}

    def __init__(self) -> None:
        self._calls = 0

    def says(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]:
        index, self._calls = self._calls, self._calls + 1
        first = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield self._chunk({"tool_calls": [first]})
        for piece in arguments:
            yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes:
        usage = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
        last = self._chunk({}, self._REASONS.get(reason, reason))
        return last + _event({"object": "chat.completion.chunk", "choices": [], "usage": usage}) + b"data: [DONE]\n\n"

    def fails(self, kind: str) -> bytes:
        return _event({"error": {"message": kind, "type": kind}})

    def _chunk(self, delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event({"object": "chat.completion.chunk", "choices": [choice], "usage": None})


class SpeakingAnthropic:
    _REASONS: Mapping[str, str] = {
        "end": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "refused": "refusal",
    }

    def __init__(self) -> None:
        self._blocks = 0
        self._begun = b""

    def says(self, text: str) -> bytes:
        block = self._begins({"type": "text", "text": ""}) if not self._begun else b""
        self._begun = b"text"
        return block + self._part({"type": "text_delta", "text": text})

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]:
        self._begun = b""
        yield self._begins({"type": "tool_use", "id": id, "name": name, "input": {}})
        for piece in arguments:
            yield self._part({"type": "input_json_delta", "partial_json": piece})

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes:
        usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        delta = {"stop_reason": self._REASONS[reason], "stop_sequence": None}
        return self._named({"type": "message_delta", "delta": delta, "usage": usage}) + self._named(
            {"type": "message_stop"}
        )

    def fails(self, kind: str) -> bytes:
        return self._named({"type": "error", "error": {"type": kind, "message": kind}})

    def _begins(self, block: Mapping[str, Any]) -> bytes:
        before = b"" if self._blocks else self._greeting()
        self._blocks += 1
        return before + self._named({"type": "content_block_start", "index": self._blocks - 1, "content_block": block})

    def _greeting(self) -> bytes:
        message = {"id": "msg_1", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}
        return self._named({"type": "message_start", "message": message}) + self._named({"type": "ping"})

    def _part(self, delta: Mapping[str, Any]) -> bytes:
        return self._named({"type": "content_block_delta", "index": self._blocks - 1, "delta": delta})

    def _named(self, event: Mapping[str, Any]) -> bytes:
        return b"event: %s\n" % event["type"].encode() + _event(event)


DIALECTS: Mapping[str, Callable[[], Speaking]] = {"completions": SpeakingOpenai, "messages": SpeakingAnthropic}


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"
