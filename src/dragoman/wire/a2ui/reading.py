"""Whatever an agent sends, in whichever dialect, as messages of the model. The dialect is told by the keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from dragoman.wire.a2ui import from_seed, from_v08, from_v09
from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.framing import LineSplitter
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits
from dragoman.wire.a2ui.messages import Dialect, Incoming
from dragoman.wire.a2ui.values import check, decode, size_of

T = TypeVar("T")

# One message and the place of it in the document, into messages of the model.
Reader = Callable[[object, str], list[T]]

_VERSION = re.compile(r"v?(?P<dialect>0\.8|0\.9|1\.0)([.-].*)?")
_KEYS = (*from_v09.READERS, *from_v08.READERS)


def read(document: object, limits: Limits = DEFAULT_LIMITS) -> list[Incoming]:
    """A message, a list of them, `{"messages": [...]}`, or any of these as JSON or JSONL text. All of it or nothing."""
    return read_document(document, _read_message, limits)


def read_document(document: object, reader: Reader[T], limits: Limits) -> list[T]:
    """The same for any reader of one message, so that both directions take the same forms."""
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


def _read_text(data: bytes, reader: Reader[T], limits: Limits) -> list[T]:
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


def _lines(data: bytes, limits: Limits) -> list[bytes]:
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


def _read_lines(lines: list[bytes], reader: Reader[T], limits: Limits) -> list[T]:
    """JSONL is a list written otherwise: the pointer's first step is the line, counted from 0 without blank ones."""
    _check_count(len(lines), "", limits)
    return [item for index, line in enumerate(lines) for item in _read_line(line, f"/{index}", reader, limits)]


def _read_line(line: bytes, at: str, reader: Reader[T], limits: Limits) -> list[T]:
    try:
        value = decode(line)
        check(value, limits)
    except A2uiError as error:
        raise error.under(at) from None
    return _placed(value, at, reader)


def read_line(line: bytes, limits: Limits = DEFAULT_LIMITS) -> list[Incoming]:
    """One line of a JSONL stream."""
    return _counted(_read_line(line, "", _read_message, limits), limits)


def _read_value(document: object, reader: Reader[T], limits: Limits) -> list[T]:
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


def _check_count(count: int, at: str, limits: Limits) -> None:
    if count > limits.messages:
        raise A2uiError("too_many_messages", at, f"One push has at most {limits.messages} messages.")


def _counted(items: list[T], limits: Limits) -> list[T]:
    """One message of 0.8 can say as many as it has bindings with a first value; each costs a copy of the model."""
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
    if isinstance(kind, str) and kind in from_seed.READERS and not message.keys() & set(_KEYS):
        return from_seed.READERS[kind](message)
    key = one_key(message, _KEYS, ("type", *_KEYS))
    if key in from_v08.READERS:
        return from_v08.READERS[key](message[key], f"/{key}", "0.8")
    return from_v09.READERS[key](message[key], f"/{key}", dialect_of(message))


def one_key(message: dict[str, Any], keys: tuple[str, ...], accepted: tuple[str, ...]) -> str:
    found = [key for key in keys if key in message]
    if not found:
        raise A2uiError("unknown_message", "", f"A message has one of the keys {', '.join(accepted)}.")
    if len(found) > 1:
        raise A2uiError("ambiguous_message", f"/{found[1]}", f"One message, not both {' and '.join(found)}.")
    return found[0]


def dialect_of(message: dict[str, Any]) -> Dialect:
    """By `version`; 0.9 without one, as its first drafts had none."""
    version = message.get("version", "v0.9")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise A2uiError("unsupported_version", "/version", "`version` is v0.8, v0.9 or v1.0.")
    found: dict[str, Dialect] = {"0.8": "0.8", "0.9": "0.9", "1.0": "1.0"}
    return found[match["dialect"]]
