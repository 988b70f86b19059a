"""The chat completions API of OpenAI, which most other servers speak too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from dragoman.models.errors import invalid_response, provider_refused
from dragoman.models.http_model import ProviderDialect
from dragoman.models.interface import Delta, ModelFinished, ModelRequest, TextDelta, ToolCallDelta, Turn, Usage

ADDRESS = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"

_REASONS: Mapping[str, Literal["end", "length", "tool_calls", "refused"]] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _OpenaiToolCall(msgspec.Struct):
    index: int = 0
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _OpenaiDelta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_OpenaiToolCall] | None = None


class _Choice(msgspec.Struct):
    delta: _OpenaiDelta = msgspec.field(default_factory=_OpenaiDelta)
    finish_reason: str | None = None


class _OpenaiUsage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _OpenaiUsage | None = None
    error: Any = None


class _OpenaiDecoder:
    """The token counts come in a chunk after the finish reason, so the end is reported at `[DONE]`, or at the end of
    the stream."""

    def __init__(self) -> None:
        self._reason: Literal["end", "length", "tool_calls", "refused"] | None = None
        self._usage = Usage()

    def decode_event(self, event: bytes) -> Iterable[Delta]:
        if event.strip() == b"[DONE]":
            finished = self.end()
            if finished is None:
                raise invalid_response()
            return [finished]
        chunk = msgspec.json.decode(event, type=_Chunk)
        if chunk.error is not None:
            raise provider_refused(500, b"", None)
        if chunk.usage is not None:
            self._usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        return [delta for choice in (chunk.choices or [])[:1] for delta in self._choice_deltas(choice)]

    def end(self) -> ModelFinished | None:
        return ModelFinished(self._reason, self._usage) if self._reason is not None else None

    def _choice_deltas(self, choice: _Choice) -> Iterable[Delta]:
        if choice.finish_reason is not None:
            self._reason = _REASONS.get(choice.finish_reason, "end")
        if choice.delta.content:
            yield TextDelta(choice.delta.content)
        for call in choice.delta.tool_calls or []:
            yield ToolCallDelta(call.index, call.id or "", call.function.name or "", call.function.arguments or "")


def dialect(address: str) -> ProviderDialect:
    """OpenAI's newer models refuse the old name of the limit, and other servers know no other."""
    limit = "max_completion_tokens" if address.startswith(ADDRESS) else "max_tokens"

    def body(name: str, request: ModelRequest) -> Mapping[str, Any]:
        asks = {"model": name, "messages": _messages(request), limit: request.max_tokens, "stream": True}
        return {**asks, "stream_options": {"include_usage": True}, **_tools(request)}

    return ProviderDialect("/chat/completions", _headers, body, _OpenaiDecoder)


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _tools(request: ModelRequest) -> Mapping[str, Any]:
    offered = [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema} for tool in request.tools
    ]
    return {"tools": [{"type": "function", "function": tool} for tool in offered]} if offered else {}


def _messages(request: ModelRequest) -> list[Mapping[str, Any]]:
    return [{"role": "system", "content": request.system}, *map(_message, request.turns)]


def _message(turn: Turn) -> Mapping[str, Any]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    if not turn.calls:
        return {"role": turn.role, "content": turn.text}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in turn.calls
    ]
    return {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
