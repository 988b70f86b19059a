"""Both sides of `dragoman pipe` on damaged bytes."""

from __future__ import annotations

import contextlib

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.pipe import Greeting, PipeConnection, PipeFailure, PipeFrame, PipeFrameKind


def _sent() -> bytes:
    side = PipeConnection(skips_noise=False)
    failure = side.send_failure(PipeFailure("not_running", "No daemon is running.", "Start one."))
    return b"".join(
        [
            Greeting("0.1.0").encode(),
            side.send(PipeFrameKind.READY),
            side.send_data(b'{"dragoman":1}\n' * 3),
            side.send(PipeFrameKind.KEEP_ALIVE),
            failure,
            side.send(PipeFrameKind.END),
        ]
    )


SEEDS = [_sent(), b"Welcome\n" + _sent(), Greeting("1.2.3", starts_daemon=True).encode()]


def one_input(data: bytes) -> None:
    for skips_noise in (True, False):
        whole = _received(skips_noise, data)
        halves = _received(skips_noise, data[: len(data) // 2], data[len(data) // 2 :])
        assert whole == halves, "another chunking gave other messages"
    with contextlib.suppress(RemoteProtocolError):
        PipeFailure.decode(data)


def _received(skips_noise: bool, *pieces: bytes) -> list[Greeting | PipeFrame]:
    side = PipeConnection(skips_noise=skips_noise)
    messages: list[Greeting | PipeFrame] = []
    with contextlib.suppress(RemoteProtocolError):
        for piece in pieces:
            messages.extend(side.receive_data(piece))
    return messages
