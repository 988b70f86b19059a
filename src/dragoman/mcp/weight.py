"""How heavy a message is, judged by its bytes: a parser holds every other thread up for as long as it makes parts."""

from __future__ import annotations

# What a client may say at once: a program's whole standard input, each letter of it escaped.
MESSAGE_CAP = 12 << 20
# From here on a message is one of long texts, not of many parts; and it is decoded in a worker thread.
LARGE = 256 << 10
STRINGS_AT_MOST = 50_000
BRACKETS_AT_MOST = 400_000  # a text may have them as well
TOO_MANY_PARTS = "too_many_parts"


def has_too_many_parts(message: bytes) -> bool:
    """A quote within a text is escaped, so that the others are ends of texts."""
    if len(message) <= LARGE:
        return False
    strings = (message.count(b'"') - message.count(b'\\"')) // 2
    return strings > STRINGS_AT_MOST or message.count(b"[") + message.count(b"{") > BRACKETS_AT_MOST
