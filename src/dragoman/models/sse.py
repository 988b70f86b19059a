"""Server-sent events as models stream them: bytes in any cut, whole events out, each bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAX_EVENT_BYTES = 1 << 20
_BETWEEN_EVENTS = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class OversizedEventError(Exception):
    pass


class EventReader:
    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The data of each event that is complete now; names and comments say nothing that the data does not."""
        looked = max(0, len(self._held) - 3)  # what parts events is at most four bytes
        self._held += data
        while found := _BETWEEN_EVENTS.search(self._held, looked):
            event, self._held, looked = self._held[: found.start()], self._held[found.end() :], 0
            if said := _data(event):
                yield said
        if len(self._held) > _MAX_EVENT_BYTES:
            raise OversizedEventError


def _data(event: bytes) -> bytes:
    lines = (line.partition(b":") for line in event.splitlines())
    return b"\n".join(value.removeprefix(b" ") for name, _, value in lines if name == b"data")
