"""Messages as JSON, in the form of the golden vectors: variants by name, one key an object or a bare name.

Two dialects, each that of its revision's vectors. The exact one shows bytes as `{"hex": …}` and a float with its
bits; the plain one uses lists of numbers and JSON numbers, and falls back to the bits where JSON has no number (NaN,
infinity). Reading takes either.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.omnish.bincode import bits_of_f32, f32_from_bits
from dragoman.protocols.omnish.framing import OmnishFrame
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
from dragoman.protocols.omnish.schema import Schema

_REQUEST_ID = re.compile("[0-9]{1,20}")  # int() refuses thousands of digits in its own way


def message_to_json(message: object, schema: Schema) -> object:
    if type(message) not in schema.indices:
        raise LocalProtocolError("not_in_schema", f"{type(message).__name__} is no message of {schema.name}")
    return _show_choice(message, ChoiceLayout(schema.variants), schema.plain_json)


def message_from_json(value: object, schema: Schema) -> object:
    return _decode_choice(value, ChoiceLayout(schema.variants), "message")


def frame_to_json(frame: OmnishFrame, schema: Schema) -> object:
    """The id is a decimal string: many JSON readers cannot hold 64 bits."""
    return {"request_id": str(frame.request_id), "message": message_to_json(frame.payload, schema)}


def frame_from_json(value: object, schema: Schema) -> OmnishFrame:
    if not isinstance(value, dict) or set(value) != {"request_id", "message"}:
        raise _bad("frame", "an object with request_id and message")
    request_id = str(value["request_id"])
    if not _REQUEST_ID.fullmatch(request_id) or int(request_id) >= 1 << 64:
        raise _bad("request_id", "a whole number of 64 bits, in decimal digits")
    return OmnishFrame(int(request_id), message_from_json(value["message"], schema))


def _bad(where: str, wanted: str) -> LocalProtocolError:
    return LocalProtocolError("bad_json", f"{where} must be {wanted}")


# Showing.


def _show(value: Any, layout: Layout, plain: bool) -> Any:
    if isinstance(layout, Scalar):
        return _SCALARS_SHOWN[layout](value, plain) if layout in _SCALARS_SHOWN else value
    return _SHOWN[type(layout)](value, layout, plain)


def _show_bytes(value: bytes, plain: bool) -> object:
    return list(value) if plain else {"hex": value.hex()}


def _show_f32(value: float, plain: bool) -> object:
    if plain and math.isfinite(value):
        return value
    return {"approx": decimal_of_f32(value), "f32_bits_hex": f"{bits_of_f32(value):08x}"}


def decimal_of_f32(value: float) -> str:
    """The fewest digits that name this 32-bit float, written without an exponent."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    bits = bits_of_f32(value)
    precision = next(digits for digits in range(9) if _rounds_to(f"{value:.{digits}e}", bits))
    mantissa, exponent = f"{value:.{precision}e}".split("e")
    sign, digits = ("-" if mantissa[0] == "-" else ""), mantissa.lstrip("-").replace(".", "")
    return sign + _placed(digits, int(exponent) + 1)


def _rounds_to(text: str, bits: int) -> bool:
    try:
        return bits_of_f32(float(text)) == bits
    except OverflowError:  # rounded up beyond the largest float
        return False


def _placed(digits: str, point: int) -> str:
    if point <= 0:
        return f"0.{'0' * -point}{digits}" if digits.strip("0") else "0"
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _show_option(value: Any, layout: OptionLayout, plain: bool) -> object:
    return None if value is None else _show(value, layout.of, plain)


def _show_sequence(value: list[Any], layout: SequenceLayout, plain: bool) -> object:
    return [_show(item, layout.of, plain) for item in value]


def _show_mapping(value: dict[str, Any], layout: MappingLayout, plain: bool) -> object:
    return {key: _show(item, layout.value, plain) for key, item in value.items()}


def _show_pair(value: tuple[Any, Any], layout: PairLayout, plain: bool) -> object:
    return [_show(value[0], layout.first, plain), _show(value[1], layout.second, plain)]


def _show_record(value: Any, layout: RecordLayout, plain: bool) -> object:
    fields = {name: _show(getattr(value, name), field, plain) for name, field in layout.fields.items()}
    return next(iter(fields.values())) if layout.bare else fields


def _show_choice(value: Any, layout: ChoiceLayout, plain: bool) -> object:
    variant = next(variant for variant in layout.variants if variant.of is type(value))
    return {variant.name: _show_record(value, variant, plain)} if variant.fields else variant.name


_SCALARS_SHOWN: dict[Scalar, Callable[[Any, bool], object]] = {
    Scalar.BYTES: _show_bytes,
    Scalar.F32: _show_f32,
}
_SHOWN: dict[type[Any], Callable[[Any, Any, bool], object]] = {
    OptionLayout: _show_option,
    SequenceLayout: _show_sequence,
    MappingLayout: _show_mapping,
    PairLayout: _show_pair,
    EnumLayout: lambda value, layout, plain: value.value,  # noqa: ARG005
    RecordLayout: _show_record,
    ChoiceLayout: _show_choice,
}


# Taking.


def _decode(value: object, layout: Layout, where: str) -> Any:
    if isinstance(layout, Scalar):
        return _SCALARS_TAKEN[layout](value, where)
    return _TAKEN[type(layout)](value, layout, where)


def _integer_reader(low: int, high: int) -> Callable[[object, str], object]:
    def decode(value: object, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _bad(where, f"a whole number from {low} to {high}")
        return value

    return decode


def _decode_bool(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _bad(where, "true or false")
    return value


def _decode_str(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _bad(where, "a string")
    return value


def _decode_bytes(value: object, where: str) -> bytes:
    try:
        if isinstance(value, list):
            return bytes(value)
        return bytes.fromhex(value["hex"])  # type: ignore[index]
    except (TypeError, ValueError, KeyError):
        raise _bad(where, 'bytes, as {"hex": "…"} or a list of numbers up to 255') from None


def _take_f32(value: object, where: str) -> float:
    try:
        if isinstance(value, dict):
            return f32_from_bits(struct.unpack(">I", bytes.fromhex(value["f32_bits_hex"]))[0])
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f32_from_bits(bits_of_f32(value))
    except (TypeError, ValueError, KeyError, OverflowError, struct.error):
        pass
    raise _bad(where, 'a 32-bit float, as a number or {"f32_bits_hex": "…"}')


def _decode_option(value: object, layout: OptionLayout, where: str) -> object:
    return None if value is None else _decode(value, layout.of, where)


def _decode_sequence(value: object, layout: SequenceLayout, where: str) -> object:
    if not isinstance(value, list):
        raise _bad(where, "a list")
    return [_decode(item, layout.of, f"{where}[{at}]") for at, item in enumerate(value)]


def _decode_mapping(value: object, layout: MappingLayout, where: str) -> object:
    if not isinstance(value, dict):
        raise _bad(where, "an object")
    return {
        _decode(key, layout.key, where): _decode(item, layout.value, f"{where}.{key}") for key, item in value.items()
    }


def _decode_pair(value: object, layout: PairLayout, where: str) -> object:
    if not isinstance(value, list) or len(value) != 2:
        raise _bad(where, "a list of two")
    return _decode(value[0], layout.first, f"{where}[0]"), _decode(value[1], layout.second, f"{where}[1]")


def _decode_symbol(value: object, layout: EnumLayout, where: str) -> object:
    try:
        return layout.of(value)
    except ValueError:
        raise _bad(where, f"one of {', '.join(member.value for member in layout.of)}") from None


def _decode_record(value: object, layout: RecordLayout, where: str) -> object:
    if layout.bare:
        value = dict.fromkeys(layout.fields, value)
    if not isinstance(value, dict) or set(value) != set(layout.fields):
        raise _bad(where, f"an object with {', '.join(layout.fields) or 'no fields'}")
    return layout.of(*(_decode(value[name], field, f"{where}.{name}") for name, field in layout.fields.items()))


def _decode_choice(value: object, layout: ChoiceLayout, where: str) -> object:
    name, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else (value, {})
    for variant in layout.variants:
        if variant.name == name and isinstance(value, dict) == bool(variant.fields):
            return _decode_record(inner, variant, f"{where}.{name}")
    names = ", ".join(variant.name for variant in layout.variants)
    raise _bad(where, f"one of {names}: the name alone where it has no fields, else the only key of an object")


_SCALARS_TAKEN: dict[Scalar, Callable[[object, str], object]] = {
    Scalar.U32: _integer_reader(0, 2**32 - 1),
    Scalar.U64: _integer_reader(0, 2**64 - 1),
    Scalar.I32: _integer_reader(-(2**31), 2**31 - 1),
    Scalar.F32: _take_f32,
    Scalar.BOOL: _decode_bool,
    Scalar.STR: _decode_str,
    Scalar.BYTES: _decode_bytes,
}
_TAKEN: dict[type[Any], Callable[[object, Any, str], object]] = {
    OptionLayout: _decode_option,
    SequenceLayout: _decode_sequence,
    MappingLayout: _decode_mapping,
    PairLayout: _decode_pair,
    EnumLayout: _decode_symbol,
    RecordLayout: _decode_record,
    ChoiceLayout: _decode_choice,
}
