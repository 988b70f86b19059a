"""JSON as JavaScript peers write it: `JSON.stringify` lets half a surrogate pair through, strict decoders refuse it."""

from __future__ import annotations

import re

# Walks from escape to escape, so that the second half of `\\\\ud800` is never taken for one; group 1 is a half
# of a surrogate pair that stands alone.
_LONE_SURROGATE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def without_lone_surrogates(text: bytes) -> bytes:
    """Each lone half becomes the replacement character; everything else keeps its bytes."""
    return _LONE_SURROGATE.sub(lambda found: b"\\ufffd" if found[1] else found[0], text)
