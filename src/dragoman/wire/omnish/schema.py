"""A revision of the protocol: the variants by index, compiled to bincode when each is first met."""

from __future__ import annotations

import struct
from functools import cache
from typing import Literal, TypeAlias

from dragoman.errors import LocalProtocolError
from dragoman.wire.omnish.bincode import Reader, SplitWriter, compile_reader, compile_split_writer, read_index
from dragoman.wire.omnish.layout import Record
from dragoman.wire.omnish.tables import SEED_VARIANTS

SchemaName: TypeAlias = Literal["seed", "v25"]

AUTH_INDEX = 21
_INDEX = struct.Struct("<I")
# What the struct module, the codecs and the tables raise for a value that does not fit its field.
_MISFITS = (struct.error, KeyError, AttributeError, TypeError, ValueError, OverflowError)


class Schema:
    """Bodies to messages and back. `plain_json` is how this revision's messages are shown as JSON."""

    def __init__(self, name: SchemaName, variants: list[Record], *, plain_json: bool) -> None:
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
        except _MISFITS as error:
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


SEED = Schema("seed", SEED_VARIANTS, plain_json=False)


@cache
def schema_named(name: SchemaName) -> Schema:
    """The newer revision's tables are loaded when they are first needed; most shells never do."""
    if name == "seed":
        return SEED
    from dragoman.wire.omnish.tables_v25 import V25_VARIANTS  # noqa: PLC0415

    return Schema("v25", V25_VARIANTS, plain_json=True)


def schema_of_first_body(data: bytes, start: int, end: int) -> Schema:
    """The newer revision must open with `Auth`; its index exists in no other."""
    opens_with_auth = end - start >= 4 and _INDEX.unpack_from(data, start)[0] == AUTH_INDEX
    return schema_named("v25" if opens_with_auth else "seed")
