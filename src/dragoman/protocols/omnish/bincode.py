"""bincode 1.3 with its default rules: little-endian, fixed width, `u64` counts, `u32` variant indices.

A layout is compiled once into a reader and a writer made of closures. A reader takes the buffer, a position and the
end of the body, and gives the value and the next position: nothing is copied but strings and byte strings themselves.
The error texts are those of the reference decoder, so that both sides' logs say the same.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.omnish.layout import (
    ChoiceLayout,
    EnumLayout,
    Layout,
    MappingLayout,
    OptionLayout,
    PairLayout,
    RecordLayout,
    Scalar,
    SequenceLayout,
)

Reader: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]
Writer: TypeAlias = Callable[[Any], bytes]
SplitWriter: TypeAlias = Callable[[Any], tuple[bytes, bytes]]

_U32, _U64, _I32, _F32, _F64 = (struct.Struct(code) for code in ("<I", "<Q", "<i", "<f", "<d"))
_read_u32, _read_u64 = _U32.unpack_from, _U64.unpack_from
_write_u32, _write_u64 = _U32.pack, _U64.pack


def compile_reader(layout: Layout) -> Reader:
    if isinstance(layout, Scalar):
        return _SCALAR_READERS[layout]
    return _READERS[type(layout)](layout)


def compile_writer(layout: Layout) -> Writer:
    if isinstance(layout, Scalar):
        return _SCALAR_WRITERS[layout]
    return _WRITERS[type(layout)](layout)


def compile_split_writer(layout: RecordLayout) -> SplitWriter:
    """In two parts: where a message ends with a byte string, that is the second, and it is the string itself."""
    if list(layout.fields.values())[-1:] != [Scalar.BYTES]:
        write = compile_writer(layout)
        return lambda value: (write(value), b"")
    *others, last = [(attrgetter(name), field) for name, field in layout.fields.items()]
    fields = [(get, compile_writer(field)) for get, field in others]
    get_last = last[0]

    def split(value: Any) -> tuple[bytes, bytes]:
        data = get_last(value)
        size = memoryview(data).nbytes  # refuses what is no byte string
        return b"".join([*[write(get(value)) for get, write in fields], _write_u64(size)]), data

    return split


def _bad(text: str) -> RemoteProtocolError:
    return RemoteProtocolError("bad_body", f"bincode: {text}")


def _cut() -> RemoteProtocolError:
    return _bad("io error: unexpected end of file")


def f32_from_bits(bits: int) -> float:
    """A NaN is widened by hand: the processor's conversion would change a signalling one."""
    if bits & 0x7F800000 == 0x7F800000 and bits & 0x007FFFFF:
        return _F64.unpack(_write_u64((bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x007FFFFF) << 29))[0]  # type: ignore[no-any-return]
    return _F32.unpack(_write_u32(bits))[0]  # type: ignore[no-any-return]


def bits_of_f32(value: float) -> int:
    if math.isnan(value):
        wide = _U64.unpack(_F64.pack(value))[0]
        return (wide >> 63) << 31 | 0x7F800000 | ((wide >> 29) & 0x007FFFFF or 0x00400000)  # type: ignore[no-any-return]
    return _U32.unpack(_F32.pack(value))[0]  # type: ignore[no-any-return]


# Reading.


def _fixed_reader(form: struct.Struct) -> Reader:
    unpack, size = form.unpack_from, form.size

    def read(data: bytes, at: int, end: int) -> tuple[Any, int]:
        stop = at + size
        if stop > end:
            raise _cut()
        return unpack(data, at)[0], stop

    return read


def _read_f32(data: bytes, at: int, end: int) -> tuple[float, int]:
    stop = at + 4
    if stop > end:
        raise _cut()
    return f32_from_bits(_read_u32(data, at)[0]), stop


def _read_bool(data: bytes, at: int, end: int) -> tuple[bool, int]:
    if at >= end:
        raise _cut()
    byte = data[at]
    if byte > 1:
        raise _bad(f"invalid u8 while decoding bool, expected 0 or 1, found {byte}")
    return byte == 1, at + 1


def _read_str(data: bytes, at: int, end: int) -> tuple[str, int]:
    begin = at + 8
    if begin > end:
        raise _cut()
    stop = begin + _read_u64(data, at)[0]
    if stop > end:
        raise _bad("io error: ")
    try:
        return data[begin:stop].decode(), stop
    except UnicodeDecodeError as error:
        raise _bad(f"string is not valid utf8: {_utf8_fault(error)}") from None


def _utf8_fault(error: UnicodeDecodeError) -> str:
    if error.reason == "unexpected end of data":
        return f"incomplete utf-8 byte sequence from index {error.start}"
    return f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"


def _read_bytes(data: bytes, at: int, end: int) -> tuple[bytes, int]:
    begin = at + 8
    if begin > end:
        raise _cut()
    stop = begin + _read_u64(data, at)[0]
    if stop > end:
        raise _cut()
    return data[begin:stop], stop


def _read_count(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Each item takes a byte at least, so that a count beyond the body is refused before anything is made."""
    begin = at + 8
    if begin > end:
        raise _cut()
    count = _read_u64(data, at)[0]
    if count > end - begin:
        raise _cut()
    return count, begin


def read_index(data: bytes, at: int, end: int, variants: int) -> int:
    if at + 4 > end:
        raise _cut()
    index: int = _read_u32(data, at)[0]
    if index >= variants:
        raise _bad(f"invalid value: integer `{index}`, expected variant index 0 <= i < {variants}")
    return index


def _option_reader(layout: OptionLayout) -> Reader:
    read_value = compile_reader(layout.of)

    def read(data: bytes, at: int, end: int) -> tuple[Any, int]:
        if at >= end:
            raise _cut()
        tag = data[at]
        if tag > 1:
            raise _bad(f"tag for enum is not valid, found {tag}")
        return read_value(data, at + 1, end) if tag else (None, at + 1)

    return read


def _sequence_reader(layout: SequenceLayout) -> Reader:
    read_item = compile_reader(layout.of)

    def read(data: bytes, at: int, end: int) -> tuple[list[Any], int]:
        count, at = _read_count(data, at, end)
        items = []
        for _ in range(count):
            item, at = read_item(data, at, end)
            items.append(item)
        return items, at

    return read


def _mapping_reader(layout: MappingLayout) -> Reader:
    read_key, read_value = compile_reader(layout.key), compile_reader(layout.value)

    def read(data: bytes, at: int, end: int) -> tuple[dict[Any, Any], int]:
        count, at = _read_count(data, at, end)
        items = {}
        for _ in range(count):
            key, at = read_key(data, at, end)
            items[key], at = read_value(data, at, end)
        return items, at

    return read


def _pair_reader(layout: PairLayout) -> Reader:
    read_first, read_second = compile_reader(layout.first), compile_reader(layout.second)

    def read(data: bytes, at: int, end: int) -> tuple[tuple[Any, Any], int]:
        first, at = read_first(data, at, end)
        second, at = read_second(data, at, end)
        return (first, second), at

    return read


def _symbol_reader(layout: EnumLayout) -> Reader:
    members = list(layout.of)

    def read(data: bytes, at: int, end: int) -> tuple[Any, int]:
        return members[read_index(data, at, end, len(members))], at + 4

    return read


def _record_reader(layout: RecordLayout) -> Reader:
    make, readers = layout.of, [compile_reader(field) for field in layout.fields.values()]

    def read(data: bytes, at: int, end: int) -> tuple[Any, int]:
        values = []
        for read_field in readers:
            value, at = read_field(data, at, end)
            values.append(value)
        return make(*values), at

    return read


def _choice_reader(layout: ChoiceLayout) -> Reader:
    readers = [compile_reader(variant) for variant in layout.variants]

    def read(data: bytes, at: int, end: int) -> tuple[Any, int]:
        return readers[read_index(data, at, end, len(readers))](data, at + 4, end)

    return read


# Writing: each writer gives bytes; a record joins those of its fields.


def _write_f32(value: float) -> bytes:
    return _write_u32(bits_of_f32(value))


def _write_str(value: str) -> bytes:
    raw = value.encode()
    return _write_u64(len(raw)) + raw


def _write_bytes(value: bytes) -> bytes:
    return _write_u64(len(value)) + value


def _option_writer(layout: OptionLayout) -> Writer:
    write_value = compile_writer(layout.of)
    return lambda value: b"\0" if value is None else b"\1" + write_value(value)


def _sequence_writer(layout: SequenceLayout) -> Writer:
    write_item = compile_writer(layout.of)
    return lambda items: b"".join([_write_u64(len(items)), *map(write_item, items)])


def _mapping_writer(layout: MappingLayout) -> Writer:
    """The reference writes its hash map in any order; ours keeps that of the mapping, so that runs repeat."""
    write_pair = _pair_writer(PairLayout(layout.key, layout.value))
    return lambda items: b"".join([_write_u64(len(items)), *map(write_pair, items.items())])


def _pair_writer(layout: PairLayout) -> Writer:
    write_first, write_second = compile_writer(layout.first), compile_writer(layout.second)

    def write(pair: tuple[Any, Any]) -> bytes:
        first, second = pair
        return write_first(first) + write_second(second)

    return write


def _symbol_writer(layout: EnumLayout) -> Writer:
    return {member: _write_u32(index) for index, member in enumerate(layout.of)}.__getitem__


def _record_writer(layout: RecordLayout) -> Writer:
    fields = [(attrgetter(name), compile_writer(field)) for name, field in layout.fields.items()]
    return lambda value: b"".join([write(get(value)) for get, write in fields])


def _choice_writer(layout: ChoiceLayout) -> Writer:
    writers = {
        variant.of: (_write_u32(index), compile_writer(variant)) for index, variant in enumerate(layout.variants)
    }

    def write(value: Any) -> bytes:
        index, write_variant = writers[type(value)]
        return index + write_variant(value)

    return write


_SCALAR_READERS: dict[Scalar, Reader] = {
    Scalar.U32: _fixed_reader(_U32),
    Scalar.U64: _fixed_reader(_U64),
    Scalar.I32: _fixed_reader(_I32),
    Scalar.F32: _read_f32,
    Scalar.BOOL: _read_bool,
    Scalar.STR: _read_str,
    Scalar.BYTES: _read_bytes,
}
_SCALAR_WRITERS: dict[Scalar, Writer] = {
    Scalar.U32: _U32.pack,
    Scalar.U64: _U64.pack,
    Scalar.I32: _I32.pack,
    Scalar.F32: _write_f32,
    Scalar.BOOL: {False: b"\0", True: b"\1"}.__getitem__,
    Scalar.STR: _write_str,
    Scalar.BYTES: _write_bytes,
}
_READERS: dict[type[Any], Callable[[Any], Reader]] = {
    OptionLayout: _option_reader,
    SequenceLayout: _sequence_reader,
    MappingLayout: _mapping_reader,
    PairLayout: _pair_reader,
    EnumLayout: _symbol_reader,
    RecordLayout: _record_reader,
    ChoiceLayout: _choice_reader,
}
_WRITERS: dict[type[Any], Callable[[Any], Writer]] = {
    OptionLayout: _option_writer,
    SequenceLayout: _sequence_writer,
    MappingLayout: _mapping_writer,
    PairLayout: _pair_writer,
    EnumLayout: _symbol_writer,
    RecordLayout: _record_writer,
    ChoiceLayout: _choice_writer,
}
