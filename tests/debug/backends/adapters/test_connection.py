"""Between an adapter and a session: whole characters, noise, printed ports, an adapter's own messages."""

from __future__ import annotations

import re

import anyio
import msgspec
import pytest

from dragoman.debug.backends.adapters.adapter_process import TcpEndpoint
from dragoman.debug.backends.adapters.program_io import decode_stream, exited_events, strip_noise
from dragoman.debug.backends.port import decode_event
from dragoman.io.net.streams import PipeReader
from dragoman.io.processes.process_tree import ProcessExit
from dragoman.protocols.dap import Event

pytestmark = pytest.mark.anyio


class Pieces(PipeReader):
    """A stream of given pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self._pieces:
            raise anyio.EndOfStream
        return self._pieces.pop(0)[:max_bytes]


async def test_a_character_that_was_cut_is_reported_whole_and_one_that_never_ends_as_a_replacement() -> None:
    whole = "é漢".encode()
    assert [it async for it in decode_stream(Pieces(whole[:1], whole[1:4], whole[4:], b"\xe6"))] == [
        "é",
        "漢",
        "\ufffd",
    ]


def test_lines_of_the_adapter_are_left_out_and_the_programs_are_kept() -> None:
    noise = re.compile("Debugger attached")
    assert strip_noise("one\nDebugger attached.\ntwo Debugger attached", noise) == "one\ntwo Debugger attached"
    assert strip_noise("Debugger attached.\n", None) == "Debugger attached.\n"


def test_the_line_with_the_port_is_found_in_pieces_and_is_not_shown() -> None:
    endpoint = TcpEndpoint(list, re.compile(r"listening at .*:(?P<port>\d+)\n"))
    assert endpoint.at == "0"
    endpoint.consume_output("server listening at 127.0.")
    assert endpoint.consume_output("0.1:4711\nhello") == "hello"
    assert endpoint.at == "4711"
    assert endpoint.consume_output("server listening at 127.0.0.1:9\n") == "server listening at 127.0.0.1:9\n"


@pytest.mark.parametrize(
    ("exit", "result"), [(ProcessExit(code=3), [3]), (ProcessExit(signal=9), [-9]), (ProcessExit(), [])]
)
def test_an_exit_is_reported_as_far_as_it_is_known(exit: ProcessExit, result: list[int]) -> None:
    assert [getattr(body, "exit_code", None) for body in exited_events(exit)] == result


def test_an_event_with_a_body_that_is_not_an_object_is_skipped() -> None:
    assert decode_event(Event(event="stopped", body=msgspec.Raw(b"[1]"))) is None
