"""Read what an agent sends, in any dialect, into messages of the model.

The keys of a message tell its dialect.
"""

from __future__ import annotations

import re
from typing import Any

from dragoman.protocols.a2ui import flat_list, v08_reader, v09
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    A2uiError,
    A2uiLimits,
    Dialect,
    Incoming,
)
from dragoman.protocols.a2ui.values import check, decode, size_of

_VERSION = re.compile(r"v?(?P<dialect>0\.8|0\.9|1\.0)([.-].*)?")
_KEYS = (*v09.READERS, *v08_reader.READERS)


def read(document: object, limits: A2uiLimits = DEFAULT_LIMITS) -> list[Incoming]:
    """A message, a list of them, `{"messages": [...]}`, or any of these as JSON or JSONL text. All of it or nothing."""
    if isinstance(document, str):
        document = _encoded(document)
    if isinstance(document, (bytes, bytearray)):
        return _counted(_read_text(bytes(document), limits), limits)
    return _counted(_read_value(document, limits), limits)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise A2uiError("invalid_json", "", "The text has half of a surrogate pair.") from None


def _read_text(data: bytes, limits: A2uiLimits) -> list[Incoming]:
    if len(data) > limits.document_bytes:
        raise A2uiError("document_too_large", "", f"One push has at most {limits.document_bytes} bytes.")
    try:
        document = decode(data)
    except A2uiError as error:
        lines = _lines(data, limits) if error.code == "invalid_json" else []
        if len(lines) < 2 or not _is_json(lines[0]):
            raise
        return _read_lines(lines, limits)
    return _read_value(document, limits)


def _lines(data: bytes, limits: A2uiLimits) -> list[bytes]:
    """The lines of JSONL text. They end with LF or CRLF; blank ones are skipped."""
    lines = [line for line in (raw.strip(b" \t\r") for raw in data.split(b"\n")) if line]
    if any(len(line) > limits.message_bytes for line in lines):
        raise A2uiError("message_too_large", "", f"A message has at most {limits.message_bytes} bytes.")
    return lines


def _is_json(line: bytes) -> bool:
    try:
        decode(line)
    except A2uiError:
        return False
    return True


def _read_lines(lines: list[bytes], limits: A2uiLimits) -> list[Incoming]:
    """JSONL is read like a list: the first step of the pointer is the line, counted from 0 without blank ones."""
    _check_count(len(lines), "", limits)
    return [item for index, line in enumerate(lines) for item in _read_line(line, f"/{index}", limits)]


def _read_line(line: bytes, at: str, limits: A2uiLimits) -> list[Incoming]:
    try:
        value = decode(line)
        check(value, limits)
    except A2uiError as error:
        raise error.under(at) from None
    return _placed(value, at)


def _read_value(document: object, limits: A2uiLimits) -> list[Incoming]:
    check(document, limits)
    if size_of(document) > limits.document_bytes:
        raise A2uiError("document_too_large", "", f"One push has at most {limits.document_bytes} bytes.")
    at, messages = "", document
    if isinstance(document, dict) and document.keys() == {"messages"}:
        at, messages = "/messages", document["messages"]
    if not isinstance(messages, list):
        return _placed(messages, at)
    _check_count(len(messages), at, limits)
    return [item for index, each in enumerate(messages) for item in _placed(each, f"{at}/{index}")]


def _check_count(count: int, at: str, limits: A2uiLimits) -> None:
    if count > limits.messages:
        raise A2uiError("too_many_messages", at, f"One push has at most {limits.messages} messages.")


def _counted(items: list[Incoming], limits: A2uiLimits) -> list[Incoming]:
    """Limit the messages: one message of 0.8 expands to as many as it has bindings with a first value, and each copies
    the model."""
    _check_count(len(items), "", limits)
    return items


def _placed(message: object, at: str) -> list[Incoming]:
    try:
        return _read_message(message, at)
    except A2uiError as error:
        raise error.under(at) from None


def _read_message(message: object, at: str) -> list[Incoming]:
    return [incoming.under(at) for incoming in _read_one(message)]


def _read_one(message: object) -> list[Incoming]:
    if not isinstance(message, dict):
        raise A2uiError("invalid_message", "", "A message is an object.")
    kind = message.get("type")
    if isinstance(kind, str) and kind in flat_list.READERS and not message.keys() & set(_KEYS):
        return flat_list.READERS[kind](message)
    key = one_key(message, _KEYS, ("type", *_KEYS))
    if key in v08_reader.READERS:
        return v08_reader.READERS[key](message[key], f"/{key}", "0.8")
    return v09.READERS[key](message[key], f"/{key}", dialect_of(message))


def one_key(message: dict[str, Any], keys: tuple[str, ...], accepted: tuple[str, ...]) -> str:
    found = [key for key in keys if key in message]
    if not found:
        raise A2uiError("unknown_message", "", f"A message has one of the keys {', '.join(accepted)}.")
    if len(found) > 1:
        raise A2uiError("ambiguous_message", f"/{found[1]}", f"One message, not both {' and '.join(found)}.")
    return found[0]


def dialect_of(message: dict[str, Any]) -> Dialect:
    """By `version`. A message without one is 0.9, whose first drafts had none."""
    version = message.get("version", "v0.9")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise A2uiError("unsupported_version", "/version", "`version` is v0.8, v0.9 or v1.0.")
    found: dict[str, Dialect] = {"0.8": "0.8", "0.9": "0.9", "1.0": "1.0"}
    return found[match["dialect"]]
