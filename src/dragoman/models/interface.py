"""The interface of a language model: the request, and the deltas that it streams back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

import msgspec


class ToolOffer(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of the arguments."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it. The code that runs the tool validates it."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One message: of the person, of the model (with the calls it made), or the result of one call."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[ToolOffer, ...] = ()
    max_tokens: int = 1024
    silence_s: float = 30.0
    """How long the model may send nothing. The caller limits the whole request."""


class TextDelta(msgspec.Struct, frozen=True):
    text: str


class ToolCallDelta(msgspec.Struct, frozen=True):
    """A part of call number `index`; id and name come with its first part."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class Usage(msgspec.Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0


class ModelFinished(msgspec.Struct, frozen=True):
    """Always the last delta, and only if the provider sent it: a stream that was cut has none."""

    reason: Literal["end", "length", "tool_calls", "refused"]
    usage: Usage = Usage()


Delta = TextDelta | ToolCallDelta | ModelFinished


class Model(Protocol):
    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """The caller closes the stream (`contextlib.aclosing`), which ends the request. Raises `ModelError`."""
        ...


class AssembledReply:
    """Parts put together: the text, and the calls in the order in which the model made them."""

    def __init__(self) -> None:
        self.text = ""
        self.finished: ModelFinished | None = None
        self._calls: dict[int, list[str]] = {}

    def add(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self.text += delta.text
        elif isinstance(delta, ModelFinished):
            self.finished = delta
        else:
            call = self._calls.setdefault(delta.index, ["", "", ""])
            for at, part in enumerate((delta.id, delta.name, delta.arguments)):
                call[at] += part

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(id=id, name=name, arguments=arguments or "{}")
            for _, (id, name, arguments) in sorted(self._calls.items())
        )
