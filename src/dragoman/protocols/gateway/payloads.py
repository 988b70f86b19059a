"""The payloads of `agent`, `chat` and `session.tool` events, as far as a chat reads them."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType


class _PayloadPart(Struct, frozen=True, rename="camel"):
    """Fields that are not read may hold anything, and may change with the gateway's version."""


class RunPayload(_PayloadPart, frozen=True):
    """`kind` is the specification's form only without a `stream`: real tool payloads carry a session's kind there."""

    run_id: str = ""
    session_key: str = ""
    seq: int | None = None
    stream: str = ""
    kind: str = ""
    data: Raw | UnsetType = UNSET


class TextPart(_PayloadPart, frozen=True):
    type: str = ""
    text: str = ""


class ChatMessagePayload(_PayloadPart, frozen=True):
    content: tuple[TextPart, ...] | str = ()

    @property
    def text(self) -> str:
        return joined_text(self.content)


class ChatPayload(_PayloadPart, frozen=True):
    run_id: str = ""
    session_key: str = ""
    seq: int | None = None
    state: str = ""
    message: ChatMessagePayload | None = None
    delta_text: str | None = None
    replace: bool = False
    phase: str = ""
    error_message: str = ""


class ApprovalPayload(_PayloadPart, frozen=True):
    run_id: str = ""
    session_key: str = ""
    id: str = ""
    tool: str = ""
    subject: str = ""
    kind: str = ""


class AssistantData(_PayloadPart, frozen=True):
    delta: str = ""
    text: str | None = None
    item_id: str = ""


class PhaseData(_PayloadPart, frozen=True):
    phase: str = ""


class UsageData(_PayloadPart, frozen=True):
    input_tokens: int | float | None = None
    output_tokens: int | float | None = None
    total_tokens: int | float | None = None


class ToolData(_PayloadPart, frozen=True):
    """The streams `tool`, `item` and `command_output` describe the same call in three ways."""

    tool_call_id: str = ""
    phase: str = ""
    kind: str = ""
    name: str = ""
    title: str = ""
    status: str = ""
    args: Raw | UnsetType = UNSET
    partial_result: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    is_error: bool = False
    error: str | None = None
    output: str | None = None
    progress_text: str | None = None
    summary: str | None = None
    exit_code: int | None = None
    duration_ms: int | float | None = None
    command_bearing: bool = False


class ResultDetails(_PayloadPart, frozen=True):
    exit_code: int | None = None
    duration_ms: int | float | None = None


class ResultBody(_PayloadPart, frozen=True):
    content: tuple[TextPart, ...] | str = ()
    details: ResultDetails | None = None


class KindPayload(_PayloadPart, frozen=True):
    """The specification's own form, in one piece: `content`, `tool`, `id`, … are read by their kind."""

    content: str = ""
    segment: int = 0
    replace: bool = False
    id: str = ""
    tool: str = ""
    title: str | None = ""
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    path: str = ""
    original: str | None = None
    modified: str = ""
    stop_reason: str | None = "end_turn"
    phase: str = ""
    payload: Raw | UnsetType = UNSET
    input_tokens: int | float | None = None
    output_tokens: int | float | None = None
    total_tokens: int | float | None = None


_T = TypeVar("_T", bound=Struct)
_READABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read(payload: Raw | UnsetType, decoder: msgspec.json.Decoder[_T]) -> _T | None:
    """The payload, or None if it has another shape: a chat survives a field that changed its type."""
    if isinstance(payload, UnsetType):
        return None
    try:
        return decoder.decode(payload)
    except _READABLE:
        return None


def size_of(payload: Raw | UnsetType) -> int:
    return 0 if isinstance(payload, UnsetType) else memoryview(payload).nbytes


def joined_text(content: tuple[TextPart, ...] | str) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if part.type == "text")


_BODY = msgspec.json.Decoder(ResultBody)
_TEXT = msgspec.json.Decoder(str)
_EMPTY = (b"null", b"false", b'""')


def text_of(value: Raw | UnsetType) -> str | None:
    """Text as it is, an empty text for an empty value, and anything else as JSON."""
    if isinstance(value, UnsetType) or bytes(value) in _EMPTY:
        return None
    try:
        return _TEXT.decode(value)
    except _READABLE:
        return bytes(value).decode(errors="replace")


def result_body(result: Raw) -> ResultBody:
    """A tool's result: an object with content as a rule, or a plain text, or whatever the tool returned."""
    body = read(result, _BODY)
    if body is not None:
        return body
    try:
        return ResultBody(content=_TEXT.decode(result))
    except _READABLE:
        return ResultBody(content=bytes(result).decode(errors="replace"))
