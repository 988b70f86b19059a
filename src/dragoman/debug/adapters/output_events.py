"""Output events that we make ourselves: of a program whose streams we hold, and of what an adapter wrote last."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator

from anyio.abc import ByteReceiveStream

from dragoman.debug.messages import output
from dragoman.transport.dap_events import OutputLeftOut
from dragoman.wire.dap import Event


def left_out(gap: OutputLeftOut) -> Event:
    return output(f"[{gap.bytes} bytes of output were left out]\n", "console")


async def texts(stream: ByteReceiveStream) -> AsyncIterator[str]:
    """Never half a character: what is cut at the end of one piece stands at the start of the next."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    async for piece in stream:
        if text := decoder.decode(piece):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


def without_noise(text: str, noise: re.Pattern[str] | None) -> str:
    if noise is None:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not noise.match(line))
