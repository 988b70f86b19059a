"""Which frames of a stack are the user's own, and which are of a library, a runtime, or without source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from dragoman.debug.model import Frame

_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages", "node_modules", ".cargo", "rustlib"})
# Where compilers and distributions have their sources; of what has no absolute path there is none on this machine.
_LIBRARY_PLACES = re.compile(
    r"/rustc/|/usr/include/|/usr/lib(?:32|64)?/|/usr/local/(?:go/src|include|lib)/"
    r"|.*/(?:pkg/mod|lib/python3\.\d+|lib/ruby|lib/gcc|share/lua|libsanitizer|compiler-rt|sanitizer_common)/"
)
# Stops at which nobody chose the place: a person would look at the own code that led there.
_LED_TO = frozenset({"exception", "pause"})


def is_library(path: str) -> bool:
    return (
        not path.startswith("/")
        or bool(_LIBRARY_PLACES.match(path))
        or not _LIBRARY_FOLDERS.isdisjoint(PurePath(path).parts)
    )


def where_to_look(reason: str, frames: Sequence[Frame]) -> int:
    """The place in the stack of the first own frame; at a step or a breakpoint the top, which was asked for."""
    if reason not in _LED_TO:
        return 0
    return next((place for place, frame in enumerate(frames) if not frame.is_library), 0)
