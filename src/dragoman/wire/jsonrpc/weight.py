"""How many parts a message has, counted in its bytes: a parser pays memory and time for each part, a counter does not.

A megabyte of `0,` becomes half a million objects, and no other thread runs while they are made. Whoever reads messages
of strangers counts first: the daemon, and the pump before it.
"""

from __future__ import annotations

# What a client may say at once: a program's whole standard input, each letter of it escaped.
MESSAGE_CAP = 12 << 20
# From here on a message is one of long texts, not of many parts; and it is decoded in a worker thread.
LARGE = 256 << 10
PARTS_AT_MOST = 50_000
TOO_MANY_PARTS = "too_many_parts"


def has_too_many_parts(message: bytes) -> bool:
    """Whether it holds more members, elements and texts than any call of ours takes; a text counts once, however long.

    Broken JSON may be counted wrongly: the parser refuses it at the first fault, before it has made many parts.
    """
    if len(message) <= LARGE:
        return False
    # Without its escapes, in this order, every quote that is left begins or ends a text.
    bare = message.replace(b"\\\\", b"").replace(b'\\"', b"")
    if bare.count(b'"') > 2 * PARTS_AT_MOST:
        return True
    between = b"".join(bare.split(b'"')[::2])
    return sum(map(between.count, (b",", b"[", b"{"))) > PARTS_AT_MOST
