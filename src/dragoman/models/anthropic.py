"""The messages API of Anthropic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from dragoman.models.errors import invalid_response, provider_refused
from dragoman.models.http_model import ProviderDialect
from dragoman.models.interface import Delta, ModelFinished, ModelRequest, TextDelta, ToolCallDelta, Turn, Usage

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


class _AnthropicUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Begun(msgspec.Struct):
    usage: _AnthropicUsage = msgspec.field(default_factory=_AnthropicUsage)


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""


class _AnthropicDelta(msgspec.Struct):
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
    delta: _AnthropicDelta = msgspec.field(default_factory=_AnthropicDelta)
    usage: _AnthropicUsage = msgspec.field(default_factory=_AnthropicUsage)
    error: _Fault = msgspec.field(default_factory=_Fault)


class _AnthropicDecoder:
    """Ignores unknown event types, as the provider asks its clients to."""

    def __init__(self) -> None:
        self._reason: Literal["end", "length", "tool_calls", "refused"] | None = None
        self._input = self._output = 0

    def decode_event(self, event: bytes) -> Iterable[Delta]:
        decoded = msgspec.json.decode(event, type=_Event)
        if decoded.type == "error":
            raise provider_refused(_STATUS.get(decoded.error.type, 500), b"", None)
        if decoded.type in {"message_start", "message_delta"}:
            self._count(decoded.message.usage if decoded.type == "message_start" else decoded.usage)
        if decoded.type == "message_delta" and decoded.delta.stop_reason is not None:
            self._reason = _REASONS.get(decoded.delta.stop_reason, "end")
        return self._deltas(decoded)

    def _deltas(self, decoded: _Event) -> Iterable[Delta]:
        if decoded.type == "content_block_start" and decoded.content_block.type == "tool_use":
            return [ToolCallDelta(decoded.index, decoded.content_block.id, decoded.content_block.name)]
        if decoded.type == "content_block_start" and decoded.content_block.text:
            return [TextDelta(decoded.content_block.text)]
        if decoded.type == "content_block_delta" and decoded.delta.text:
            return [TextDelta(decoded.delta.text)]
        if decoded.type == "content_block_delta" and decoded.delta.partial_json:
            return [ToolCallDelta(decoded.index, arguments=decoded.delta.partial_json)]
        if decoded.type != "message_stop":
            return []
        finished = self.end()
        if finished is None:
            raise invalid_response()
        return [finished]

    def end(self) -> ModelFinished | None:
        return ModelFinished(self._reason, Usage(self._input, self._output)) if self._reason is not None else None

    def _count(self, tokens: _AnthropicUsage) -> None:
        """Each count is the total so far, not an increment."""
        self._input = tokens.input_tokens if tokens.input_tokens is not None else self._input
        self._output = tokens.output_tokens if tokens.output_tokens is not None else self._output


def dialect() -> ProviderDialect:
    return ProviderDialect("/v1/messages", _headers, _body, _AnthropicDecoder)


def _headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}


def _body(name: str, request: ModelRequest) -> Mapping[str, Any]:
    offered = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
    ]
    asks = {"model": name, "max_tokens": request.max_tokens, "system": request.system, "stream": True}
    return {**asks, "messages": _messages(request.turns), **({"tools": offered} if offered else {})}


def _messages(turns: Iterable[Turn]) -> list[Mapping[str, Any]]:
    """Turns must alternate: the results of several calls are in one user message."""
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
    """The API accepts only an object; anything else that the model wrote is sent back empty."""
    try:
        value = msgspec.json.decode(arguments)
    except msgspec.MsgspecError:
        return {}
    return value if isinstance(value, dict) else {}
