"""A revision of the omnish protocol: its message table, compiled to bincode when each message is first met.

The table here is that of the base revision, the one in the protocol document: ten variants, each with its fields in
order. `dragoman wire --schema` calls it `seed`, a name that users rely on.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Literal, TypeAlias

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish.bincode import Reader, SplitWriter, compile_reader, compile_split_writer, read_index
from dragoman.protocols.omnish.layout import (
    ChoiceLayout,
    EnumLayout,
    MappingLayout,
    OptionLayout,
    RecordLayout,
    Scalar,
    SequenceLayout,
)

AUTH_INDEX = 21

STR, BYTES, BOOL = Scalar.STR, Scalar.BYTES, Scalar.BOOL
U64, I32, F32 = Scalar.U64, Scalar.I32, Scalar.F32
OPT_STR, ATTRS = OptionLayout(STR), MappingLayout(STR, STR)


EVENT_TYPE = ChoiceLayout(
    [
        RecordLayout(m.NonZeroExit, {"exit_code": I32}, bare=True),
        RecordLayout(m.PatternMatch, {"pattern": STR}, bare=True),
        RecordLayout(m.CommandBoundary, {"command": STR}),
    ]
)
SCOPE = ChoiceLayout(
    [
        RecordLayout(m.CurrentSession, {}),
        RecordLayout(m.AllSessions, {}),
        RecordLayout(m.Sessions, {"session_ids": SequenceLayout(STR)}, bare=True),
    ]
)
COMMAND_RECORD = RecordLayout(
    m.CommandRecord,
    {
        "command_id": STR,
        "session_id": STR,
        "command_line": OPT_STR,
        "cwd": OPT_STR,
        "started_at": U64,
        "ended_at": OptionLayout(U64),
        "output_summary": STR,
        "stream_offset": U64,
        "stream_length": U64,
        "exit_code": OptionLayout(I32),
    },
)
SUGGESTION = RecordLayout(m.CompletionSuggestion, {"text": STR, "confidence": F32})


SESSION_START = RecordLayout(
    m.SessionStart,
    {"session_id": STR, "parent_session_id": OPT_STR, "timestamp_ms": U64, "attrs": ATTRS},
)
SESSION_END = RecordLayout(m.SessionEnd, {"session_id": STR, "timestamp_ms": U64, "exit_code": OptionLayout(I32)})
IO_DATA = RecordLayout(
    m.IoData,
    {"session_id": STR, "direction": EnumLayout(m.IoDirection), "timestamp_ms": U64, "data": BYTES},
)
EVENT = RecordLayout(m.Event, {"session_id": STR, "timestamp_ms": U64, "event_type": EVENT_TYPE})
REQUEST = RecordLayout(m.Request, {"request_id": STR, "session_id": STR, "query": STR, "scope": SCOPE})
RESPONSE = RecordLayout(m.Response, {"request_id": STR, "content": STR, "is_streaming": BOOL, "is_final": BOOL})
COMMAND_COMPLETE = RecordLayout(m.CommandComplete, {"session_id": STR, "record": COMMAND_RECORD})
COMPLETION_REQUEST = RecordLayout(
    m.CompletionRequest, {"session_id": STR, "input": STR, "cursor_pos": U64, "sequence_id": U64}
)
COMPLETION_RESPONSE = RecordLayout(
    m.CompletionResponse, {"sequence_id": U64, "suggestions": SequenceLayout(SUGGESTION)}
)
ACK = RecordLayout(m.Ack, {})


BASE_VARIANTS = [
    SESSION_START,
    SESSION_END,
    IO_DATA,
    EVENT,
    REQUEST,
    RESPONSE,
    COMMAND_COMPLETE,
    COMPLETION_REQUEST,
    COMPLETION_RESPONSE,
    ACK,
]


SchemaName: TypeAlias = Literal["seed", "v25"]
_INDEX = struct.Struct("<I")
# What the struct module, the codecs and the tables raise for a value that does not fit its field.
_ENCODING_ERRORS = (struct.error, KeyError, AttributeError, TypeError, ValueError, OverflowError)


class Schema:
    """Bodies to messages and back. `plain_json` is how this revision's messages are shown as JSON."""

    def __init__(self, name: SchemaName, variants: list[RecordLayout], *, plain_json: bool) -> None:
        self.name = name
        self.variants = variants
        self.plain_json = plain_json
        self.indices = {variant.of: index for index, variant in enumerate(variants)}
        self._readers: dict[int, Reader] = {}
        self._writers: dict[type, tuple[bytes, SplitWriter]] = {}

    def __repr__(self) -> str:
        return f"<Schema {self.name}>"

    def decode_body(self, data: bytes, start: int, end: int) -> object:
        """Bytes after the value are left alone, as the reference does."""
        index = read_index(data, start, end, len(self.variants))
        read = self._readers.get(index)
        if read is None:
            read = self._readers[index] = compile_reader(self.variants[index])
        return read(data, start + 4, end)[0]

    def encode_body(self, message: object) -> bytes:
        head, tail = self.encode_parts(message)
        return head + tail

    def encode_parts(self, message: object) -> tuple[bytes, bytes]:
        """The body in two parts, of which the second is a message's byte string as it is: 64 KiB are not copied."""
        index, write = self._writers.get(type(message)) or self._compile_writer(message)
        try:
            head, tail = write(message)
            return index + head, tail
        except _ENCODING_ERRORS as error:
            raise LocalProtocolError(
                "bad_message", f"this {type(message).__name__} cannot be encoded: {error!r}"
            ) from error

    def _compile_writer(self, message: object) -> tuple[bytes, SplitWriter]:
        index = self.indices.get(type(message))
        if index is None:
            raise LocalProtocolError("not_in_schema", f"{type(message).__name__} is no message of {self.name}")
        entry = _INDEX.pack(index), compile_split_writer(self.variants[index])
        self._writers[type(message)] = entry
        return entry


BASE_REVISION = Schema("seed", BASE_VARIANTS, plain_json=False)


@cache
def schema_named(name: SchemaName) -> Schema:
    """The newer revision's tables are loaded when they are first needed; most shells never do."""
    if name == "seed":
        return BASE_REVISION
    from dragoman.protocols.omnish.tables_v25 import V25_VARIANTS  # noqa: PLC0415

    return Schema("v25", V25_VARIANTS, plain_json=True)


def schema_of_first_body(data: bytes, start: int, end: int) -> Schema:
    """The newer revision must open with `Auth`; its index exists in no other."""
    opens_with_auth = end - start >= 4 and _INDEX.unpack_from(data, start)[0] == AUTH_INDEX
    return schema_named("v25" if opens_with_auth else "seed")
