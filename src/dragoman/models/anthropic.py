"""The messages interface of Anthropic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from dragoman.models.asking import Dialect
from dragoman.models.faults import nonsense, refused
from dragoman.models.port import Asked, Delta, Finished, TextDelta, ToolCallDelta, Turn, Usage

ADDRESS = "https://api.anthropic.com"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"

_REASONS: Mapping[str, Literal["end", "length", "tool_calls", "refused"]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "refused",
}
_STATUS = {"overloaded_error": 529, "rate_limit_error": 429, "authentication_error": 401, "permission_error": 403}


class _Tokens(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Begun(msgspec.Struct):
    usage: _Tokens = msgspec.field(default_factory=_Tokens)


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""


class _Part(msgspec.Struct):
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Fault(msgspec.Struct):
    type: str = ""


class _Event(msgspec.Struct):
    type: str
    index: int = 0
    message: _Begun = msgspec.field(default_factory=_Begun)
    content_block: _Block = msgspec.field(default_factory=_Block)
    delta: _Part = msgspec.field(default_factory=_Part)
    usage: _Tokens = msgspec.field(default_factory=_Tokens)
    error: _Fault = msgspec.field(default_factory=_Fault)


class _Hearing:
    """Kinds of event that are not known are passed over, as the provider asks its clients to."""

    def __init__(self) -> None:
        self._reason: Literal["end", "length", "tool_calls", "refused"] | None = None
        self._input = self._output = 0

    def hear(self, event: bytes) -> Iterable[Delta]:
        said = msgspec.json.decode(event, type=_Event)
        if said.type == "error":
            raise refused(_STATUS.get(said.error.type, 500), b"", None)
        if said.type in {"message_start", "message_delta"}:
            self._count(said.message.usage if said.type == "message_start" else said.usage)
        if said.type == "message_delta" and said.delta.stop_reason is not None:
            self._reason = _REASONS.get(said.delta.stop_reason, "end")
        return self._deltas(said)

    def _deltas(self, said: _Event) -> Iterable[Delta]:
        if said.type == "content_block_start" and said.content_block.type == "tool_use":
            return [ToolCallDelta(said.index, said.content_block.id, said.content_block.name)]
        if said.type == "content_block_start" and said.content_block.text:
            return [TextDelta(said.content_block.text)]
        if said.type == "content_block_delta" and said.delta.text:
            return [TextDelta(said.delta.text)]
        if said.type == "content_block_delta" and said.delta.partial_json:
            return [ToolCallDelta(said.index, arguments=said.delta.partial_json)]
        if said.type != "message_stop":
            return []
        finished = self.end()
        if finished is None:
            raise nonsense()
        return [finished]

    def end(self) -> Finished | None:
        return Finished(self._reason, Usage(self._input, self._output)) if self._reason is not None else None

    def _count(self, tokens: _Tokens) -> None:
        """Counts are of the whole so far, not of the part."""
        self._input = tokens.input_tokens if tokens.input_tokens is not None else self._input
        self._output = tokens.output_tokens if tokens.output_tokens is not None else self._output


def dialect() -> Dialect:
    return Dialect("/v1/messages", _headers, _body, _Hearing)


def _headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}


def _body(name: str, asked: Asked) -> Mapping[str, Any]:
    offered = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in asked.tools
    ]
    asks = {"model": name, "max_tokens": asked.max_tokens, "system": asked.system, "stream": True}
    return {**asks, "messages": _messages(asked.turns), **({"tools": offered} if offered else {})}


def _messages(turns: Iterable[Turn]) -> list[Mapping[str, Any]]:
    """Turns alternate here: results of several calls stand in one message of the user."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        role = "assistant" if turn.role == "assistant" else "user"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += _blocks(turn)
        else:
            messages.append({"role": role, "content": _blocks(turn)})
    return list(messages)


def _blocks(turn: Turn) -> list[Mapping[str, Any]]:
    if turn.role == "tool":
        return [{"type": "tool_result", "tool_use_id": turn.call_id, "content": turn.text}]
    text = [{"type": "text", "text": turn.text}] if turn.text else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)} for call in turn.calls
    ]
    return [*text, *calls]


def _object(arguments: str) -> Any:
    """The interface takes an object alone; what the model wrote otherwise is sent back empty."""
    try:
        value = msgspec.json.decode(arguments)
    except msgspec.MsgspecError:
        return {}
    return value if isinstance(value, dict) else {}
