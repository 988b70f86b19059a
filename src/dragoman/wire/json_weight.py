"""How much work a JSON message makes, judged by its bytes before it is parsed.

A parser holds the whole process for as long as it makes parts, also in another thread. Texts are cheap however long
they are; it is millions of small values that cost.
"""

from __future__ import annotations

from typing import NamedTuple

_LIGHT_BYTES = 1 << 20
"""Less than this has no room for so many parts that it matters."""


class PartLimits(NamedTuple):
    strings: int
    """Names of members and texts: an unescaped quote begins or ends one."""
    brackets: int
    commas: int
    """Texts may hold brackets and commas as well: leave room for them."""

    def exceeded_by(self, message: bytes) -> bool:
        if len(message) <= _LIGHT_BYTES:
            return False
        strings = (message.count(b'"') - message.count(b'\\"')) // 2
        brackets = message.count(b"[") + message.count(b"{")
        return strings > self.strings or brackets > self.brackets or message.count(b",") > self.commas
