"""Small parts between an adapter and a session: whole characters, noise, told ports, an adapter's own words."""

from __future__ import annotations

import re

import anyio
import pytest

from dragoman.debug.adapters.links import PortMeeting
from dragoman.debug.adapters.output_events import texts, without_noise
from dragoman.debug.adapters.run_in_terminal import exited
from dragoman.debug.messages import fields
from dragoman.errors import RemoteProtocolError
from dragoman.transport.streams import PipeReader
from dragoman.transport.supervised import Exit
from dragoman.wire.dap import Event

pytestmark = pytest.mark.anyio


class Pieces(PipeReader):
    """A stream of given pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self._pieces:
            raise anyio.EndOfStream
        return self._pieces.pop(0)[:max_bytes]


async def test_a_character_that_was_cut_is_told_whole_and_one_that_never_ends_as_a_replacement() -> None:
    whole = "é漢".encode()
    assert [it async for it in texts(Pieces(whole[:1], whole[1:4], whole[4:], b"\xe6"))] == ["é", "漢", "\ufffd"]


def test_lines_of_the_adapter_are_left_out_and_the_programs_are_kept() -> None:
    noise = re.compile("Debugger attached")
    assert without_noise("one\nDebugger attached.\ntwo Debugger attached", noise) == "one\ntwo Debugger attached"
    assert without_noise("Debugger attached.\n", None) == "Debugger attached.\n"


def test_the_line_that_tells_the_port_is_found_in_pieces_and_is_not_told() -> None:
    meeting = PortMeeting(list, re.compile(r"listening at .*:(?P<port>\d+)\n"))
    assert meeting.at == "0"
    meeting.heard("server listening at 127.0.")
    assert meeting.heard("0.1:4711\nhello") == "hello"
    assert meeting.at == "4711"
    assert meeting.heard("server listening at 127.0.0.1:9\n") == "server listening at 127.0.0.1:9\n"


@pytest.mark.parametrize(("exit", "told"), [(Exit(code=3), [3]), (Exit(signal=9), [-9]), (Exit(), [])])
def test_an_exit_is_told_as_far_as_it_is_known(exit: Exit, told: list[int]) -> None:
    assert [fields(event)["exitCode"] for event in exited(exit)] == told


def test_a_body_that_is_no_object_is_the_adapters_fault() -> None:
    with pytest.raises(RemoteProtocolError):
        fields(Event(event="stopped", body=b"[1]"))  # type: ignore[arg-type]
