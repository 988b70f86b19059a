"""`dragoman wire` on recorded traffic: the real command, as people who debug protocols use it."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.cli import wire
from dragoman.cli.wire import CodecOptions, Item
from dragoman.core.errors import ProtocolError
from dragoman.protocols.dap.framing import frame

VECTORS = Path(__file__).parents[1] / "vectors"
COMMAND = [sys.executable, "-m", "dragoman.cli.main", "wire"]
OMNISH = {name: json.loads((VECTORS / "omnish" / f"{name}.json").read_text()) for name in ("vectors", "vectors_v25")}
CASES = [("seed", case) for case in OMNISH["vectors"]["valid"]] + [
    ("v25", case) for case in OMNISH["vectors_v25"]["valid"]
]


def tool(*arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=given, capture_output=True, check=False, timeout=60)


def objects(output: bytes) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def cases_with_bytes(schema: str) -> list[dict[str, Any]]:
    return [case for name, case in CASES if name == schema and "frame_hex" in case]


def lines(items: list[str]) -> bytes:
    return "".join(f"{item}\n" for item in items).encode()


# omnish


@pytest.mark.parametrize("schema", ["seed", "v25"])
@pytest.mark.parametrize("layer", ["frame", "message"])
def test_every_vector_is_decoded_into_its_json(schema: str, layer: str) -> None:
    cases = cases_with_bytes(schema)
    done = tool(
        "decode", "omnish", "--layer", layer, "--schema", schema, given=lines([case[f"{layer}_hex"] for case in cases])
    )
    assert (done.returncode, done.stderr) == (0, b"")
    whole = [{"request_id": case["request_id"], "message": case["message"]} for case in cases]
    assert objects(done.stdout) == (whole if layer == "frame" else [case["message"] for case in cases])


@pytest.mark.parametrize("schema", ["seed", "v25"])
def test_every_vector_is_encoded_into_its_bytes(schema: str) -> None:
    cases = cases_with_bytes(schema)
    given = [json.dumps({"request_id": case["request_id"], "message": case["message"]}) for case in cases]
    done = tool("encode", "omnish", "--schema", schema, given=lines(given))
    assert done.returncode == 0
    assert done.stdout.decode().split() == [case["frame_hex"] for case in cases]


def test_the_order_of_a_map_on_the_wire_makes_no_difference() -> None:
    cases = OMNISH["vectors"]["map_order"]
    done = tool("decode", "omnish", "--layer", "message", given=lines([case["message_hex"] for case in cases]))
    assert objects(done.stdout) == [case["message"] for case in cases]


@pytest.mark.parametrize("layer", ["message", "frame"])
def test_every_odd_vector_gives_the_reference_error_and_the_next_line_is_read(layer: str) -> None:
    cases = [case for case in OMNISH["vectors"]["odd"] if case["kind"] == layer]
    done = tool("decode", "omnish", "--layer", layer, given=lines([case["hex"] for case in cases]))
    assert done.returncode == 1
    expected = [{"error": case["error"]} if "error" in case else case["message"] for case in cases]
    assert objects(done.stdout) == expected


def test_lines_that_are_not_hexadecimal_or_not_json_are_answered_in_their_place() -> None:
    ack = "000000000000002a4f530000000409000000"
    done = tool("decode", "omnish", given=b"zz\n" + ack.upper().encode() + b"\r\n\xff\xfe\n" + ack.encode())
    assert [list(answer) for answer in objects(done.stdout)] == [
        ["error"],
        ["request_id", "message"],
        ["error"],
        ["request_id", "message"],
    ]
    done = tool("encode", "omnish", given=b'{\n{"request_id": "42", "message": "Ack"}\n{"message": "Ack"}\n')
    assert done.returncode == 1
    first, second, third = done.stdout.splitlines()
    assert (second.decode(), "error" in json.loads(first), "error" in json.loads(third)) == (ack, True, True)


@pytest.mark.parametrize(
    "value",
    [
        '{"request_id": "' + "9" * 5000 + '", "message": "Ack"}',
        '{"request_id": "1", "message": ' + "[" * 100_000 + "}",
        '{"request_id": -1, "message": "Ack"}',
        '{"request_id": "1", "message": {"SessionEnd": {"session_id": "\\ud800"}}}',
        '{"request_id": "1", "message": 1e999}',
        "",
        "null",
    ],
)
def test_no_json_value_makes_the_encoder_fail_otherwise_than_by_an_error_line(value: str) -> None:
    (item,) = wire._ENCODERS["omnish"](io.BytesIO(value.encode() + b"\n"), CodecOptions())
    assert isinstance(item, ProtocolError)


# dap


def dap(*bodies: bytes) -> bytes:
    return b"".join(map(frame, bodies))


EVENT = b'{"seq":1,"type":"event","event":"stopped","body":{"threadId":99999999999999999999,"text":"\xe4\xb8\xad"}}'


def test_dap_messages_are_shown_as_they_were_written_on_one_line_each() -> None:
    spaced = b'{ "seq": 2, "type": "response",\r\n "request_seq": 1, "success": true, "body": 1.50 }'
    done = tool("decode", "dap", given=dap(EVENT, spaced))
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        EVENT,
        b'{"seq":2,"type":"response","request_seq":1,"success":true,"body":1.50}',
    ]


def test_a_dap_body_that_is_wrong_is_an_error_and_the_next_one_is_shown() -> None:
    done = tool("decode", "dap", given=dap(b"{]", b'{"seq":1,"type":"event"}', b"\xff", EVENT))
    assert done.returncode == 1
    assert ["error" in answer for answer in objects(done.stdout)] == [True, True, True, False]


def test_strings_that_no_json_reader_takes_are_still_shown_as_json() -> None:
    half = b'{"seq":1,"type":"event","event":"output","body":{"output":"\\ud800 \xff"}}'
    (answer,) = objects(tool("decode", "dap", given=dap(half)).stdout)
    assert answer["body"]["output"] == "\ud800 \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("tail", "reason"),
    [(b"hello\r\n\r\n", "Expected a header field"), (b"Content-Length: 10\r\n\r\n{", "ends inside a message")],
)
def test_what_breaks_the_dap_stream_is_its_last_line(tail: bytes, reason: str) -> None:
    done = tool("decode", "dap", given=dap(EVENT) + tail)
    shown, fault = objects(done.stdout)
    assert (done.returncode, shown) == (1, json.loads(EVENT))
    assert reason in fault["error"]


def test_dap_lines_are_encoded_into_the_stream_they_were_decoded_from() -> None:
    stream = dap(EVENT, b'{"seq":3,"type":"request","command":"threads"}')
    assert tool("encode", "dap", given=tool("decode", "dap", given=stream).stdout).stdout == stream


def test_a_fault_is_never_mixed_into_encoded_bytes() -> None:
    done = tool("encode", "dap", given=b'{"seq":1,"type":"event"}\n' + EVENT + b"\n")
    assert (done.returncode, done.stdout) == (1, dap(EVENT))
    assert "error" in json.loads(done.stderr)


# LuaPanda


def recorded(name: str, direction: str) -> list[bytes]:
    records = map(json.loads, (VECTORS / "luapanda" / name).read_text().splitlines())
    return [record["raw"].encode() for record in records if record["dir"] == direction and "raw" in record]


def test_messages_of_the_runtime_are_shown_with_their_kind() -> None:
    done = tool("decode", "luapanda", given=b"".join(recorded("basic_53.jsonl", "lua->ide")))
    answers = objects(done.stdout)
    assert done.returncode == 0
    assert {answer["kind"] for answer in answers} == {"ack", "stop", "notice", "reply"}
    assert all(("stack" in answer) == (answer["kind"] == "stop") for answer in answers)
    steps = [answer["kind"] for answer in answers if answer["cmd"] == "stopOnStep"]
    assert set(steps) == {"ack", "stop"}


def test_commands_of_the_ide_are_shown_as_they_were_written() -> None:
    sent = recorded("basic_53.jsonl", "ide->lua")
    done = tool("decode", "luapanda", "--side", "runtime", given=b"".join(sent))
    written = [json.loads(line[: line.rindex(b"|*|")]) for line in sent]
    assert objects(done.stdout) == [command | {"kind": "command"} for command in written]


@pytest.mark.parametrize("side", ["ide", "runtime"])
def test_what_was_decoded_can_be_encoded_and_means_the_same(side: str) -> None:
    stream = b"".join(recorded("basic_53.jsonl", "ide->lua" if side == "ide" else "lua->ide"))
    reader = "runtime" if side == "ide" else "ide"
    shown = tool("decode", "luapanda", "--side", reader, given=stream).stdout
    again = tool("encode", "luapanda", "--side", side, given=shown).stdout
    assert again.count(b" |*|\n") == (stream.count(b"\n") if side == "ide" else 0)
    assert again.count(b"|*|\n") == stream.count(b"\n")
    assert tool("decode", "luapanda", "--side", reader, given=again).stdout == shown


def test_lua_bytes_and_infinities_are_shown_as_json_and_bytes_come_back() -> None:
    line = b'{"cmd":"output","callbackId":"0","info":{"logInfo":"\xff","n":-inf}}|*|\n'
    (answer,) = objects(tool("decode", "luapanda", given=line).stdout)
    assert answer["info"] == {"logInfo": "\udcff", "n": "-inf"}
    encoded = tool("encode", "luapanda", "--side", "runtime", given=json.dumps(answer).encode()).stdout
    assert b'"logInfo":"\xff"' in encoded


def test_what_the_runtime_would_lose_or_die_of_is_named() -> None:
    two = b'{"cmd":"stopRun","info":{}}|*|{"cmd":"x"} |*|\n'
    deadly = b'{"cmd":"continue"} |*|\n'
    done = tool("decode", "luapanda", "--side", "runtime", given=two + deadly + b"junk\n" + two)
    first, lost, missing, junk, *rest = objects(done.stdout)
    assert done.returncode == 1
    assert first["kind"] == "command"
    assert lost["error"].endswith('loses a second message on a line: {"cmd":"x"}')
    assert missing == {"error": "continue has no info."}
    assert list(junk) == ["error"]
    assert rest == [first, lost]


# The gateway


def frames(name: str) -> list[dict[str, Any]]:
    records = map(json.loads, (VECTORS / "gateway" / name).read_text().splitlines())
    return [record["frame"] for record in records if record.get("dir") in ("in", "out")]


@pytest.mark.parametrize(
    "name", ["v3-01-connect-device-ok.jsonl", "v3-07-chat-double-stream.jsonl", "v4-21-chat.jsonl"]
)
def test_recorded_gateway_frames_are_shown_unchanged(name: str) -> None:
    done = tool("decode", "gateway", given=lines([json.dumps(frame) for frame in frames(name)]))
    assert (done.returncode, objects(done.stdout)) == (0, frames(name))


def test_what_is_not_a_gateway_frame_is_an_error_and_the_next_line_is_read() -> None:
    good = '{"type":"event","event":"tick"}'
    given = lines(["[]", '{"type":"req"}', "{", good, "[" * 100_000]) + b"\xff\n" + good.encode()
    done = tool("decode", "gateway", given=given)
    assert done.returncode == 1
    assert ["error" in answer for answer in objects(done.stdout)] == [True, True, True, False, True, True, False]


def test_gateway_frames_that_share_a_line_are_distinguished() -> None:
    tick = '{"type":"event","event":"tick","payload":{"text":"}{"}}'
    done = tool("decode", "gateway", given=lines([tick + " " + tick + tick, "", tick + "{", tick]))
    assert done.stdout.decode().splitlines()[:4] == [tick] * 4
    fault, last = objects(done.stdout)[4:]
    assert (list(fault), last) == (["error"], json.loads(tick))


def test_a_gateway_frame_has_nothing_to_encode() -> None:
    assert tool("encode", "gateway", given=b"").returncode == 2


# The tool itself


def read_line(stream: IO[bytes], timeout_s: float = 30) -> bytes:
    ready, _, _ = select.select([stream], [], [], timeout_s)
    assert ready, "nothing was flushed"
    return stream.readline()


@pytest.mark.parametrize(
    ("arguments", "item"),
    [
        (("decode", "omnish"), b"000000000000002a4f530000000409000000\n"),
        (("decode", "dap"), dap(EVENT)),
        (("decode", "luapanda"), b'{"cmd":"output","info":{}}|*|\n'),
        (("decode", "gateway"), b'{"type":"event","event":"tick"}\n'),
        (("encode", "omnish"), b'{"request_id": "42", "message": "Ack"}\n'),
    ],
)
def test_each_answer_is_out_while_the_input_is_still_open(arguments: tuple[str, ...], item: bytes) -> None:
    with subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(3):
            process.stdin.write(item)
            process.stdin.flush()
            assert read_line(process.stdout).endswith(b"\n")
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_reader_that_has_seen_enough_ends_the_tool_quietly(tmp_path: Path) -> None:
    (tmp_path / "endless").write_bytes(b"000000000000002a4f530000000409000000\n" * 100_000)
    with (
        (tmp_path / "endless").open("rb") as endless,
        subprocess.Popen(
            [*COMMAND, "decode", "omnish"], stdin=endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout
        assert process.stderr
        read_line(process.stdout)
        process.stdout.close()
        assert (process.wait(30), process.stderr.read()) == (0, b"")


def test_an_interrupt_ends_the_tool_without_a_traceback() -> None:
    with subprocess.Popen(
        [*COMMAND, "decode", "omnish"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"\n")
        process.stdin.flush()
        read_line(process.stdout)
        os.kill(process.pid, signal.SIGINT)
        assert (process.wait(30), process.stderr.read()) == (130, b"")
        process.stdin.close()


def test_a_line_without_an_end_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LONGEST_LINE", 100)
    monkeypatch.setattr(wire, "CHUNK", 7)
    source = io.BytesIO(b"0" * 1000 + b"\n" + b"0" * 100 + b"\n" + b"0" * 101 + b"\n" + b"0" * 101)
    kept = [item if isinstance(item, bytes) else item.code for item in wire._lines(source)]
    assert kept == ["line_too_long", b"0" * 100, "line_too_long", "line_too_long"]


class Crumbs(io.BytesIO):
    """A pipe that hands out its bytes in pieces of the given sizes."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        super().__init__(data)
        self._sizes = iter(sizes)

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(next(self._sizes, size))


def outcome(items: Iterator[Item]) -> list[str | bytes]:
    return [item if isinstance(item, bytes) else item.code for item in items]


@given(sizes=st.lists(st.integers(1, 60)))
def test_any_cutting_of_the_stream_gives_the_same_answers(sizes: list[int]) -> None:
    stream = dap(EVENT, b"{]", EVENT) + b"Content-Length: x\r\n\r\n"
    whole = outcome(wire._DECODERS["dap"](io.BytesIO(stream), CodecOptions()))
    assert outcome(wire._DECODERS["dap"](Crumbs(stream, sizes), CodecOptions())) == whole
    assert len(whole) == 4


@settings(max_examples=50)
@given(data=st.binary(max_size=300), protocol=st.sampled_from(["omnish", "dap", "luapanda", "gateway"]))
def test_any_bytes_give_json_lines(data: bytes, protocol: wire.Protocol) -> None:
    for side in ("ide", "runtime"):
        for item in wire._DECODERS[protocol](io.BytesIO(data), CodecOptions(side=side)):
            shown = wire._json_line({"error": item.message}) if isinstance(item, ProtocolError) else item
            assert shown.endswith(b"\n")
            assert isinstance(json.loads(shown), dict)
