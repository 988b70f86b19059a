"""`dragoman wire`: decode protocol bytes into JSON lines, and encode them again. It needs no daemon.

An error is a line of its own, `{"error": "…"}`, and the next item is tried; the exit status is then 1.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, discard_output, render
from dragoman.core.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from dragoman.core.localization import localize

if TYPE_CHECKING:
    from dragoman.protocols.omnish import Schema

Protocol: TypeAlias = Literal["omnish", "dap", "luapanda", "gateway"]
Layer: TypeAlias = Literal["frame", "message"]
SchemaName: TypeAlias = Literal["seed", "v25"]
Side: TypeAlias = Literal["ide", "runtime"]

# Gateway frames are JSON already: there is nothing to encode.
Encodable: TypeAlias = Literal["omnish", "dap", "luapanda"]

_LayerOption: TypeAlias = Annotated[Layer, Parameter(help=render(localize("omnish: whole frames or only messages.")))]
_SchemaOption: TypeAlias = Annotated[SchemaName, Parameter(help=render(localize("omnish: protocol revision.")))]
_SideOption: TypeAlias = Annotated[
    Side, Parameter(help=render(localize("luapanda: your side, if it is not clear from the line.")))
]

_Decoded: TypeAlias = Annotated[Protocol, Parameter(help=render(localize("Protocol of the bytes.")))]
_Encoded: TypeAlias = Annotated[Encodable, Parameter(help=render(localize("Protocol of the bytes.")))]

# An item is bytes to write, or the error that replaces them.
Item: TypeAlias = bytes | ProtocolError

CHUNK = 64 * 1024
# The largest frame of any protocol has 64 MiB, which is twice as many hexadecimal digits.
LONGEST_LINE = 2 * 64 * 1024 * 1024 + 1024


@dataclass(frozen=True, slots=True)
class CodecOptions:
    layer: Layer = "frame"
    schema: SchemaName = "seed"
    side: Side = "ide"


def wire_decode(
    protocol: _Decoded, /, *, layer: _LayerOption = "frame", schema: _SchemaOption = "seed", side: _SideOption = "ide"
) -> int:
    return _pump(_DECODERS[protocol](sys.stdin.buffer, CodecOptions(layer, schema, side)), sys.stdout.buffer)


def wire_encode(
    protocol: _Encoded, /, *, layer: _LayerOption = "frame", schema: _SchemaOption = "seed", side: _SideOption = "ide"
) -> int:
    """Encode JSON lines. Errors are lines only if the output is lines; they are never mixed into bytes."""
    faults = sys.stdout.buffer if protocol == "omnish" else sys.stderr.buffer
    return _pump(_ENCODERS[protocol](sys.stdin.buffer, CodecOptions(layer, schema, side)), faults)


def _pump(items: Iterator[Item], faults: IO[bytes]) -> int:
    """Write each item before the next is read. A reader that exits early is not an error."""
    status = ExitCode.OK
    try:
        for item in items:
            if isinstance(item, ProtocolError):
                status = ExitCode.FAILED
                _write_flushed(faults, _json_line({"error": item.message}))
            else:
                _write_flushed(sys.stdout.buffer, item)
    except BrokenPipeError:
        discard_output()
    return status


def _write_flushed(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)
    stream.flush()


def _json_line(value: object) -> bytes:
    """One JSON line. Unpaired surrogates and undecodable bytes become JSON escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _lines(source: IO[bytes]) -> Iterator[Item]:
    """Each line without its end. A line that is too long becomes an error."""
    while line := source.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line.rstrip(b"\r\n")
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(CHUNK)
        yield RemoteProtocolError("line_too_long", f"a line of more than {LONGEST_LINE} bytes")


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    """Read what is available, without waiting for a full buffer."""
    read1: Callable[[int], bytes] = source.read1  # type: ignore[attr-defined]
    while chunk := read1(CHUNK):
        yield chunk


def _each_line(source: IO[bytes], convert: Callable[[bytes], bytes]) -> Iterator[Item]:
    """One output item per input line, so that the n-th answer belongs to the n-th line."""
    for line in _lines(source):
        yield line if isinstance(line, ProtocolError) else _try_convert(convert, line)


def _try_convert(convert: Callable[[bytes], bytes], data: bytes) -> Item:
    try:
        return convert(data)
    except ProtocolError as error:
        return error
    except (ValueError, RecursionError) as error:
        return LocalProtocolError("bad_value", f"not a value of the protocol: {error}")


# omnish: one item per line, as hexadecimal digits.


def _decode_omnish(source: IO[bytes], options: CodecOptions) -> Iterator[Item]:
    from dragoman.protocols.omnish import decode_frame, decode_message, schema_named
    from dragoman.protocols.omnish.json_form import frame_to_json, message_to_json

    schema = schema_named(options.schema)
    decoders: dict[Layer, Callable[[bytes, Schema], object]] = {
        "frame": lambda data, schema: frame_to_json(decode_frame(data, schema), schema),
        "message": lambda data, schema: message_to_json(decode_message(data, schema), schema),
    }
    decode = decoders[options.layer]
    return _each_line(source, lambda line: _json_line(decode(_from_hex(line), schema)))


def _encode_omnish(source: IO[bytes], options: CodecOptions) -> Iterator[Item]:
    from dragoman.protocols.omnish import encode_frame, encode_message, schema_named
    from dragoman.protocols.omnish.json_form import frame_from_json, message_from_json

    schema = schema_named(options.schema)
    encoders: dict[Layer, Callable[[object, Schema], bytes]] = {
        "frame": lambda value, schema: encode_frame(frame_from_json(value, schema), schema),
        "message": lambda value, schema: encode_message(message_from_json(value, schema), schema),
    }
    encode = encoders[options.layer]
    return _each_line(source, lambda line: encode(_from_json(line), schema).hex().encode() + b"\n")


def _from_hex(line: bytes) -> bytes:
    try:
        return bytes.fromhex(line.decode("ascii"))
    except ValueError as error:
        raise LocalProtocolError("not_hexadecimal", f"not hexadecimal digits: {error}") from error


def _from_json(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LocalProtocolError("not_json", f"not JSON: {error}") from error


# Messages that are JSON themselves: shown on one line, as their sender wrote them.


def _one_line(body: bytes) -> bytes:
    """Numbers and escapes stay as they were; only what JSON readers reject (unpaired surrogates, stray bytes) is
    replaced.
    """
    import msgspec

    text = body.decode("utf-8", "replace")
    try:
        return msgspec.json.format(text.encode(), indent=-1)
    except msgspec.DecodeError:
        return json.dumps(json.loads(text), allow_nan=False, separators=(",", ":")).encode()


def _decode_dap(source: IO[bytes], _: CodecOptions) -> Iterator[Item]:
    """Decode DAP. A broken header ends the stream, because nothing after it can be trusted."""
    from dragoman.protocols.dap.framing import FrameReader

    reader = FrameReader()
    try:
        for chunk in _chunks(source):
            reader.feed(chunk)
            while (body := reader.next_body()) is not None:
                yield _try_convert(_format_dap, body)
    except RemoteProtocolError as error:
        yield error
        return
    if reader.unread:
        yield RemoteProtocolError("unfinished", "the stream ends inside a message")


def _format_dap(body: bytes) -> bytes:
    from dragoman.protocols.dap.messages import decode_message

    decode_message(body)
    return _one_line(body) + b"\n"


def _encode_dap(source: IO[bytes], _: CodecOptions) -> Iterator[Item]:
    from dragoman.protocols.dap.framing import frame

    return _each_line(source, lambda line: frame(_format_dap(line).rstrip(b"\n")))


def _decode_gateway(source: IO[bytes], _: CodecOptions) -> Iterator[Item]:
    """Decode gateway messages as WebSocket clients print them. An invalid line does not affect the others."""
    from dragoman.protocols.gateway.framing import split_frames

    for line in _lines(source):
        if isinstance(line, ProtocolError):
            yield line
            continue
        try:
            yield from (_try_convert(_format_gateway, text) for text in split_frames(line))
        except ProtocolError as error:
            yield error


def _format_gateway(text: bytes) -> bytes:
    from dragoman.protocols.gateway.framing import decode_frame

    decode_frame(text)
    return _one_line(text) + b"\n"


# LuaPanda: lines that are almost JSON.


def _decode_luapanda(source: IO[bytes], options: CodecOptions) -> Iterator[Item]:
    for line in _lines(source):
        if isinstance(line, ProtocolError):
            yield line
        elif _written_by(line, options.side) == "runtime":
            yield _try_convert(_format_luapanda_message, line)
        else:
            yield _try_convert(_format_luapanda_command, line)
            yield from _lost_commands(line)


def _written_by(line: bytes, read_by: Side) -> Side:
    """Which side wrote the line, from the line itself; if it does not tell, the chosen side reads it."""
    from dragoman.protocols.luapanda.framing import message_text, read_message
    from dragoman.protocols.luapanda.messages import written_by

    with contextlib.suppress(ProtocolError):
        end = written_by(read_message(message_text(line)))
        if end is not None:
            return end
    return "ide" if read_by == "runtime" else "runtime"


def _format_luapanda_message(line: bytes) -> bytes:
    from dragoman.protocols.luapanda.framing import message_text, read_message
    from dragoman.protocols.luapanda.messages import classify, message_from

    message = message_from(read_message(message_text(line)))
    return _json_line(_finite(message.fields | {"kind": classify(message)}))


def _format_luapanda_command(line: bytes) -> bytes:
    from dragoman.protocols.luapanda.framing import command_text

    return _json_line(_command_fields(command_text(line)[0]) | {"kind": "command"})


def _command_fields(text: bytes) -> dict[str, Any]:
    """Check the command as the runtime reads it, but show it as written: the runtime turns every number into text."""
    from dragoman.protocols.luapanda.framing import read_command, read_message
    from dragoman.protocols.luapanda.runtime import command_from

    command_from(read_command(text))
    return read_message(text)


def _lost_commands(line: bytes) -> Iterator[Item]:
    from dragoman.protocols.luapanda.framing import command_text

    with contextlib.suppress(ProtocolError):
        lost = command_text(line)[1].strip().decode("utf-8", "backslashreplace")
        if lost:
            yield RemoteProtocolError("command_lost", f"the runtime loses a second message on a line: {lost}")


def _finite(value: Any) -> Any:
    """Lua sends infinities, which JSON cannot represent as numbers."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _encode_luapanda(source: IO[bytes], options: CodecOptions) -> Iterator[Item]:
    from dragoman.protocols.luapanda.framing import command_line, message_line, read_message
    from dragoman.protocols.luapanda.messages import message_from

    encoders: dict[Side, Callable[[bytes], bytes]] = {
        "ide": lambda line: command_line(_without_kind(_command_fields(line))),
        "runtime": lambda line: message_line(_without_kind(message_from(read_message(line)).fields)),
    }
    return _each_line(source, encoders[options.side])


def _without_kind(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "kind"}


_Converter: TypeAlias = Callable[[IO[bytes], CodecOptions], Iterator[Item]]
_DECODERS: dict[Protocol, _Converter] = {
    "omnish": _decode_omnish,
    "dap": _decode_dap,
    "luapanda": _decode_luapanda,
    "gateway": _decode_gateway,
}
_ENCODERS: dict[Encodable, _Converter] = {
    "omnish": _encode_omnish,
    "dap": _encode_dap,
    "luapanda": _encode_luapanda,
}
