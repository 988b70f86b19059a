"""The sockets that debugpy's adapter is given: quick to read, and closed whoever reads from them."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.debug.adapters.debugpy_entry import _QuickSocket

_SOON_S = 5.0


class _Counted(_QuickSocket):
    reads = 0

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        self.reads += 1
        return super().recv_into(*arguments, **named)


@pytest.fixture
def pair() -> Iterator[tuple[_Counted, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs, _Counted(fileno=os.dup(ours.fileno())) as quick:
        ours.close()
        quick.settimeout(_SOON_S)
        yield quick, theirs


def test_a_message_is_read_with_one_call_to_the_system_and_answered_at_once(
    pair: tuple[_Counted, socket.socket],
) -> None:
    quick, theirs = pair
    stream = quick.makefile("rwb", 0)
    theirs.sendall(b"Content-Length: 5\r\n\r\nhelloContent-Length: 2\r\n\r\n")
    assert [stream.readline(), stream.readline(), stream.read(5)] == [b"Content-Length: 5\r\n", b"\r\n", b"hello"]
    assert stream.readline() == b"Content-Length: 2\r\n"
    assert quick.reads == 1
    assert stream.write(b"answer") == len(b"answer")
    stream.flush()
    assert theirs.recv(100) == b"answer"


def test_it_is_closed_while_another_thread_waits_for_a_message(pair: tuple[_Counted, socket.socket]) -> None:
    quick, _ = pair
    stream, ended = quick.makefile("rwb", 0), threading.Event()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):
            stream.readline()
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    closing = threading.Thread(target=stream.close, daemon=True)
    closing.start()
    closing.join(_SOON_S)
    assert not closing.is_alive()
    quick.shutdown(socket.SHUT_RDWR)
    assert ended.wait(_SOON_S)


def test_files_of_other_kinds_are_what_they_always_were(pair: tuple[_Counted, socket.socket]) -> None:
    quick, theirs = pair
    theirs.sendall(b"a line\n")
    with quick.makefile("r", encoding="utf-8") as text:
        assert text.readline() == "a line\n"
