"""Read what an agent or a renderer sends, in any dialect, into messages of the model.

The keys of a message tell its dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from dragoman.protocols.a2ui import seed_reader, v08_reader, v09
from dragoman.protocols.a2ui.framing import LineSplitter
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    VALIDATION_FAILED,
    A2uiError,
    A2uiLimits,
    Action,
    ClientError,
    ClientMessage,
    Dialect,
    Incoming,
)
from dragoman.protocols.a2ui.v09 import read_function
from dragoman.protocols.a2ui.values import check, convert, decode, size_of

_FUNCTION_KEYS = ("callAgentFunction", "rendererFunctionResponse", "functionResponse")

T = TypeVar("T")


# Reads one message at a place in the document into messages of the model.
Reader = Callable[[object, str], list[T]]


_VERSION = re.compile(r"v?(?P<dialect>0\.8|0\.9|1\.0)([.-].*)?")
_KEYS = (*v09.READERS, *v08_reader.READERS)


def read(document: object, limits: A2uiLimits = DEFAULT_LIMITS) -> list[Incoming]:
    """A message, a list of them, `{"messages": [...]}`, or any of these as JSON or JSONL text. All of it or nothing."""
    return read_document(document, _read_message, limits)


def read_document(document: object, reader: Reader[T], limits: A2uiLimits) -> list[T]:
    """The same for any function that reads one message, so that both directions accept the same forms."""
    if isinstance(document, str):
        document = _encoded(document)
    if isinstance(document, (bytes, bytearray)):
        return _counted(_read_text(bytes(document), reader, limits), limits)
    return _counted(_read_value(document, reader, limits), limits)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise A2uiError("invalid_json", "", "The text has half of a surrogate pair.") from None


def _read_text(data: bytes, reader: Reader[T], limits: A2uiLimits) -> list[T]:
    if len(data) > limits.document_bytes:
        raise A2uiError("document_too_large", "", f"One push has at most {limits.document_bytes} bytes.")
    try:
        document = decode(data)
    except A2uiError as error:
        lines = _lines(data, limits) if error.code == "invalid_json" else []
        if len(lines) < 2 or not _is_json(lines[0]):
            raise
        return _read_lines(lines, reader, limits)
    return _read_value(document, reader, limits)


def _lines(data: bytes, limits: A2uiLimits) -> list[bytes]:
    splitter = LineSplitter(limits)
    splitter.receive_data(data)
    splitter.receive_eof()
    return list(splitter.lines())


def _is_json(line: bytes) -> bool:
    try:
        decode(line)
    except A2uiError:
        return False
    return True


def _read_lines(lines: list[bytes], reader: Reader[T], limits: A2uiLimits) -> list[T]:
    """JSONL is read like a list: the first step of the pointer is the line, counted from 0 without blank ones."""
    _check_count(len(lines), "", limits)
    return [item for index, line in enumerate(lines) for item in _read_line(line, f"/{index}", reader, limits)]


def _read_line(line: bytes, at: str, reader: Reader[T], limits: A2uiLimits) -> list[T]:
    try:
        value = decode(line)
        check(value, limits)
    except A2uiError as error:
        raise error.under(at) from None
    return _placed(value, at, reader)


def read_line(line: bytes, limits: A2uiLimits = DEFAULT_LIMITS) -> list[Incoming]:
    """One line of a JSONL stream."""
    return _counted(_read_line(line, "", _read_message, limits), limits)


def _read_value(document: object, reader: Reader[T], limits: A2uiLimits) -> list[T]:
    check(document, limits)
    if size_of(document) > limits.document_bytes:
        raise A2uiError("document_too_large", "", f"One push has at most {limits.document_bytes} bytes.")
    at, messages = "", document
    if isinstance(document, dict) and document.keys() == {"messages"}:
        at, messages = "/messages", document["messages"]
    if not isinstance(messages, list):
        return _placed(messages, at, reader)
    _check_count(len(messages), at, limits)
    return [item for index, each in enumerate(messages) for item in _placed(each, f"{at}/{index}", reader)]


def _check_count(count: int, at: str, limits: A2uiLimits) -> None:
    if count > limits.messages:
        raise A2uiError("too_many_messages", at, f"One push has at most {limits.messages} messages.")


def _counted(items: list[T], limits: A2uiLimits) -> list[T]:
    """Limit the messages: one message of 0.8 expands to as many as it has bindings with a first value, and each copies
    the model."""
    _check_count(len(items), "", limits)
    return items


def _placed(message: object, at: str, reader: Reader[T]) -> list[T]:
    try:
        return reader(message, at)
    except A2uiError as error:
        raise error.under(at) from None


def _read_message(message: object, at: str) -> list[Incoming]:
    return [incoming.under(at) for incoming in _read_one(message)]


def _read_one(message: object) -> list[Incoming]:
    if not isinstance(message, dict):
        raise A2uiError("invalid_message", "", "A message is an object.")
    kind = message.get("type")
    if isinstance(kind, str) and kind in seed_reader.READERS and not message.keys() & set(_KEYS):
        return seed_reader.READERS[kind](message)
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


_CLIENT_KEYS = ("action", "userAction", "error", *_FUNCTION_KEYS)


class _Action(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    surface_id: str
    source_component_id: str
    timestamp: str = ""
    context: dict[str, Any] = {}
    user_message: str = ""


class _SeedAction(msgspec.Struct, frozen=True):
    """The protocol document's action: the page knows which surface it showed, and the context names the component."""

    action: str
    context: dict[str, Any] = {}


class _Error(msgspec.Struct, frozen=True, rename="camel"):
    """Every field is optional, because the body of 0.8 is free-form."""

    code: str = ""
    message: str = ""
    surface_id: str = ""
    path: str = ""


def read_client(document: object, limits: A2uiLimits = DEFAULT_LIMITS) -> list[ClientMessage]:
    """Actions and errors: one, a list, or JSON or JSONL text of them."""
    return read_document(document, _read_client_message, limits)


def error_message(error: A2uiError, surface_id: str = "") -> ClientError:
    """The error as the message that says what the agent must repair."""
    return ClientError(code=VALIDATION_FAILED, message=error.message, surface_id=surface_id, path=error.pointer)


def _read_client_message(message: object, _: str) -> list[ClientMessage]:
    if not isinstance(message, dict):
        raise A2uiError("invalid_message", "", "A message is an object.")
    if message.get("type") == "userAction":
        return [_seed_action(message)]
    key = one_key(message, _CLIENT_KEYS, ("type", *_CLIENT_KEYS))
    dialect_of(message)
    if key in _FUNCTION_KEYS:
        return [read_function(key, message[key], f"/{key}")]
    return [_CLIENT_READERS[key](message[key], f"/{key}")]


def _seed_action(message: dict[str, Any]) -> Action:
    seed = convert(message, _SeedAction, "")
    named = {name: value for name, value in seed.context.items() if isinstance(value, str)}
    return Action(
        name=seed.action,
        surface_id=named.get("surfaceId", ""),
        source_component_id=named.get("componentId", ""),
        timestamp="",
        context=seed.context,
    )


def _action(body: object, at: str) -> Action:
    return Action(**msgspec.structs.asdict(convert(body, _Action, at)))


def _error(body: object, at: str) -> ClientError:
    return ClientError(**msgspec.structs.asdict(convert(body, _Error, at)))


_CLIENT_READERS: dict[str, Callable[[object, str], ClientMessage]] = {
    "action": _action,
    "userAction": _action,
    "error": _error,
}
