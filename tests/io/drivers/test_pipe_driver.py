"""The two ends of a pipe, with faults between them."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dragoman.io.drivers import pipe_driver
from dragoman.io.drivers.pipe_driver import KEEP_ALIVE_S, SILENT_S, PipeDriver, PipeEnd
from dragoman.protocols.pipe import Greeting, PipeConnection, PipeFrame, PipeFrameKind
from tests.daemons import eventually

Change = Callable[[bytes], bytes]


@dataclass
class End:
    """One end: the driver in a thread, and the socket of who uses it."""

    user: socket.socket
    thread: threading.Thread
    results: list[PipeEnd] = field(default_factory=list)

    def result(self) -> PipeEnd:
        self.thread.join(10)
        return self.results[0]


def _connection() -> PipeConnection:
    connection = PipeConnection(skips_noise=False)
    list(connection.receive_data(Greeting("0.1.0").encode()))
    return connection


def _end(pipe_in: int, pipe_out: int, stack: contextlib.ExitStack, silent_s: float, **options: Any) -> End:
    user, local = socket.socketpair()
    user.settimeout(10)
    results: list[PipeEnd] = []

    def run() -> None:
        with local:
            driver = PipeDriver(
                _connection(),
                pipe_in,
                pipe_out,
                local,
                keep_alive_s=min(KEEP_ALIVE_S, silent_s / 3),
                silent_s=silent_s,
                **options,
            )
            results.append(driver.run())
        for fd in (pipe_in, pipe_out):
            with contextlib.suppress(OSError):
                os.close(fd)

    thread = threading.Thread(target=run)
    stack.callback(thread.join, 10)
    stack.callback(user.close)
    thread.start()
    return End(user, thread, results)


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


def joined(stack: contextlib.ExitStack, silent_s: float = 5.0) -> tuple[End, End]:
    there, back = os.pipe(), os.pipe()
    return _end(back[0], there[1], stack, silent_s), _end(there[0], back[1], stack, silent_s)


def alone(stack: contextlib.ExitStack, silent_s: float = 5.0) -> tuple[End, int, int]:
    """One end, and the descriptors of the other side."""
    there, back = os.pipe(), os.pipe()
    return _end(back[0], there[1], stack, silent_s), there[0], back[1]


def _read_to_end(user: socket.socket) -> bytes:
    data = b""
    while piece := user.recv(1 << 16):
        data += piece
    return data


def test_bytes_arrive_as_they_were_sent_and_each_direction_ends_by_itself(stack: contextlib.ExitStack) -> None:
    near, far = joined(stack)
    sent = os.urandom(3_000_000)

    def send() -> None:
        near.user.sendall(sent)
        near.user.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    assert _read_to_end(far.user) == sent
    sender.join(10)
    far.user.sendall(b"an answer after the question has ended")
    far.user.close()
    assert _read_to_end(near.user) == b"an answer after the question has ended"
    assert (near.result(), far.result()) == ("finished", "finished")


def test_a_user_that_leaves_ends_the_other_end(stack: contextlib.ExitStack) -> None:
    near, far = joined(stack)
    near.user.close()
    assert far.user.recv(1) == b""
    far.user.close()
    assert (near.result(), far.result()) == ("finished", "finished")


def test_a_slow_reader_is_not_a_silent_one(stack: contextlib.ExitStack) -> None:
    """Its end stops reading the pipe, and with it the keep-alive frames, for longer than a silence may be."""
    near, far = joined(stack, silent_s=0.9)
    sender = threading.Thread(target=lambda: far.user.sendall(bytes(2_000_000)))
    sender.start()
    began = time.monotonic()
    eventually(lambda: time.monotonic() - began > 2.0)
    assert not near.results
    assert not far.results
    received = 0
    while received < 2_000_000:
        received += len(near.user.recv(1 << 16))
    sender.join(10)


def test_an_idle_pipe_stays_open_by_its_keep_alive_frames(stack: contextlib.ExitStack) -> None:
    near, far = joined(stack, silent_s=0.9)
    began = time.monotonic()
    eventually(lambda: time.monotonic() - began > 2.0)
    near.user.sendall(b"still here")
    assert far.user.recv(100) == b"still here"


def test_a_pipe_that_hangs_is_noticed(stack: contextlib.ExitStack) -> None:
    near, _reader, writer = alone(stack, silent_s=0.3)
    os.write(writer, PipeConnection(skips_noise=False).send_data(b"whole\nhalf"))
    assert near.user.recv(100) == b"whole\nhalf"
    began = time.monotonic()
    assert near.user.recv(100) == b""
    assert near.result() == "silent"
    assert time.monotonic() - began < 3


def test_a_frame_that_lost_bytes_is_noticed_although_other_frames_arrive(stack: contextlib.ExitStack) -> None:
    """They would fill the frame up for hours: the lost bytes are never sent again."""
    near, _reader, writer = alone(stack, silent_s=0.5)
    sender = PipeConnection(skips_noise=False)
    os.write(writer, sender.send_data(bytes(30_000))[:20_000])
    began = time.monotonic()
    while not near.results and time.monotonic() - began < 5:
        with contextlib.suppress(BrokenPipeError):
            os.write(writer, sender.send(PipeFrameKind.KEEP_ALIVE))
        near.thread.join(0.1)
    assert near.results == ["silent"]


def test_a_frame_that_arrives_slowly_is_no_silence(stack: contextlib.ExitStack) -> None:
    near, _reader, writer = alone(stack, silent_s=0.5)
    data = PipeConnection(skips_noise=False).send_data(b"x" * 20_000)
    for start in range(0, len(data), 1000):
        os.write(writer, data[start : start + 1000])
        near.thread.join(0.1)  # two seconds for the frame
    received = b""
    while len(received) < 20_000:
        received += near.user.recv(1 << 16)
    assert received == b"x" * 20_000
    os.close(writer)


def test_without_a_limit_on_silence_a_hung_pipe_is_not_noticed(stack: contextlib.ExitStack) -> None:
    """The negative control of the test before."""
    near, _reader, writer = alone(stack, silent_s=3600)
    near.user.settimeout(0.6)
    with pytest.raises(TimeoutError):
        near.user.recv(100)
    os.close(writer)
    assert near.result() == "closed"


def test_a_hung_pipe_is_noticed_within_ten_seconds() -> None:
    assert SILENT_S < 10
    assert SILENT_S >= 3 * KEEP_ALIVE_S


@pytest.mark.parametrize("cut", [0, 5, 13, 14, 20, 30])
def test_a_pipe_that_ends_in_the_middle_gives_only_whole_frames(stack: contextlib.ExitStack, cut: int) -> None:
    near, _reader, writer = alone(stack)
    sender = PipeConnection(skips_noise=False)
    whole = sender.send_data(b"first\n")
    os.write(writer, whole + sender.send_data(b"a line that is cut in the middle\n")[:cut])
    os.close(writer)
    assert _read_to_end(near.user) == b"first\n"
    assert near.result() == "closed"


@pytest.mark.parametrize(
    "change",
    [lambda data: data[:20] + data[21:], lambda data: data[:20] + b"\0" + data[21:], lambda data: data[40:]],
    ids=["a byte is lost", "a byte is changed", "the start is lost"],
)
def test_a_pipe_that_loses_bytes_is_closed_before_anything_wrong_is_read(
    stack: contextlib.ExitStack, change: Change
) -> None:
    near, _reader, writer = alone(stack)
    os.write(writer, change(PipeConnection(skips_noise=False).send_data(b'{"id":1,"result":"yes"}\n' * 4)))
    with contextlib.suppress(BrokenPipeError):  # closed already
        os.write(writer, bytes(200))
    assert _read_to_end(near.user) == b""
    assert near.result() == "damaged"


def test_the_end_of_the_stream_is_told_from_a_broken_pipe(stack: contextlib.ExitStack) -> None:
    near, _reader, writer = alone(stack)
    sender = PipeConnection(skips_noise=False)
    os.write(writer, sender.send_data(b"last\n") + sender.send(PipeFrameKind.END))
    assert _read_to_end(near.user) == b"last\n"
    near.user.close()
    os.close(writer)
    assert near.result() == "finished"


class _Upper:
    """A translator that asks before it lets a line pass that ends in a question mark."""

    def __init__(self) -> None:
        self.held = b""
        self.query: bytes | None = None

    def to_far(self, data: bytes) -> bytes:
        return data.lower()

    def to_near(self, data: bytes) -> bytes:
        if self.query is not None or data.endswith(b"?"):
            self.held += data
            self.query = b"which"
            return b""
        return data.upper()

    def next_query(self) -> bytes | None:
        return self.query

    def handle_reply(self, payload: bytes | None) -> bytes:
        held, self.held, self.query = self.held, b"", None
        return held + (b"!" if payload is None else payload)


def query(number: int) -> PipeFrame:
    return PipeFrame(PipeFrameKind.QUERY, number.to_bytes(4, "big"))


def _translated(stack: contextlib.ExitStack) -> tuple[End, PipeConnection, int, int]:
    there, back = os.pipe(), os.pipe()
    near = _end(back[0], there[1], stack, 5.0, translator=_Upper())
    return near, _connection(), there[0], back[1]


def test_a_translator_changes_what_passes_and_holds_back_what_follows_until_the_reply(
    stack: contextlib.ExitStack,
) -> None:
    near, far, _, to_near = _translated(stack)
    os.write(to_near, far.send_reply(query(1), b"unasked") + far.send_data(b"a") + far.send_data(b"b?"))
    assert near.user.recv(10) == b"A"
    os.write(to_near, far.send_data(b"c") + far.send_reply(query(1), b"yes") + far.send_data(b"d"))
    eventually(lambda: len(near.user.recv(100, socket.MSG_PEEK)) >= 7)
    assert near.user.recv(100) == b"b?cyesD"
    os.close(to_near)


def test_a_late_reply_is_not_taken_for_that_to_the_next_question(
    stack: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe_driver, "REPLY_WITHIN_S", 0.1)
    near, far, _, to_near = _translated(stack)
    os.write(to_near, far.send_data(b"one?"))
    assert near.user.recv(100) == b"one?!"
    monkeypatch.setattr(pipe_driver, "REPLY_WITHIN_S", 60.0)
    os.write(to_near, far.send_data(b"two?") + far.send_reply(query(1), b" late"))
    os.write(to_near, far.send(PipeFrameKind.REPLY, b"x") + far.send_reply(query(2), b" in time"))
    assert near.user.recv(100) == b"two? in time"
    os.close(to_near)


def test_what_was_held_back_is_delivered_at_the_end_and_when_the_reply_is_late_or_too_much_follows(
    stack: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe_driver, "REPLY_WITHIN_S", 0.05)
    near, far, _, to_near = _translated(stack)
    os.write(to_near, far.send_data(b"late?"))
    assert near.user.recv(100) == b"late?!"
    os.close(to_near)
    monkeypatch.setattr(pipe_driver, "REPLY_WITHIN_S", 60.0)
    near, far, _, to_near = _translated(stack)
    os.write(to_near, far.send_data(b"ends?") + far.send(PipeFrameKind.END))
    assert _read_to_end(near.user) == b"ends?!"
    near, far, _, to_near = _translated(stack)
    flood = far.send_data(b"much?") + b"".join(far.send_data(b"x" * 30_000) for _ in range(10))
    threading.Thread(target=os.write, args=(to_near, flood), daemon=True).start()
    assert near.user.recv(5) == b"much?"


def test_the_far_side_answers_queries_between_the_bytes_of_its_daemon(stack: contextlib.ExitStack) -> None:
    there, back = os.pipe(), os.pipe()
    far = _end(there[0], back[1], stack, 5.0, answer=bytes.upper)
    near = _connection()
    os.write(there[1], near.send_query(b"a") + near.send_data(b"data"))
    assert far.user.recv(10) == b"data"
    frames = _connection()
    received = list(frames.receive_data(os.read(back[0], 1000)))
    [reply] = received
    assert isinstance(reply, PipeFrame)
    assert near.is_expected(reply)
    assert reply.query_payload == b"A"
    os.close(there[1])
