"""The chat completions interface of OpenAI, which most other servers speak too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from dragoman.models.asking import Dialect
from dragoman.models.faults import nonsense, refused
from dragoman.models.port import Asked, Delta, Finished, TextDelta, ToolCallDelta, Turn, Usage

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


class _Call(msgspec.Struct):
    index: int = 0
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Said(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Said = msgspec.field(default_factory=_Said)
    finish_reason: str | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None
    error: Any = None


class _Hearing:
    """The tokens come in a chunk after the one with the reason, so the end is told at `[DONE]`, or where the stream
    ends without it."""

    def __init__(self) -> None:
        self._reason: Literal["end", "length", "tool_calls", "refused"] | None = None
        self._usage = Usage()

    def hear(self, event: bytes) -> Iterable[Delta]:
        if event.strip() == b"[DONE]":
            finished = self.end()
            if finished is None:
                raise nonsense()
            return [finished]
        chunk = msgspec.json.decode(event, type=_Chunk)
        if chunk.error is not None:
            raise refused(500, b"", None)
        if chunk.usage is not None:
            self._usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        return [delta for choice in (chunk.choices or [])[:1] for delta in self._said(choice)]

    def end(self) -> Finished | None:
        return Finished(self._reason, self._usage) if self._reason is not None else None

    def _said(self, choice: _Choice) -> Iterable[Delta]:
        if choice.finish_reason is not None:
            self._reason = _REASONS.get(choice.finish_reason, "end")
        if choice.delta.content:
            yield TextDelta(choice.delta.content)
        for call in choice.delta.tool_calls or []:
            yield ToolCallDelta(call.index, call.id or "", call.function.name or "", call.function.arguments or "")


def dialect(address: str) -> Dialect:
    """OpenAI's newer models refuse the old name of the limit, and servers of others know no other."""
    limit = "max_completion_tokens" if address.startswith(ADDRESS) else "max_tokens"

    def body(name: str, asked: Asked) -> Mapping[str, Any]:
        asks = {"model": name, "messages": _messages(asked), limit: asked.max_tokens, "stream": True}
        return {**asks, "stream_options": {"include_usage": True}, **_tools(asked)}

    return Dialect("/chat/completions", _headers, body, _Hearing)


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _tools(asked: Asked) -> Mapping[str, Any]:
    offered = [{"name": tool.name, "description": tool.description, "parameters": tool.schema} for tool in asked.tools]
    return {"tools": [{"type": "function", "function": tool} for tool in offered]} if offered else {}


def _messages(asked: Asked) -> list[Mapping[str, Any]]:
    return [{"role": "system", "content": asked.system}, *map(_message, asked.turns)]


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
