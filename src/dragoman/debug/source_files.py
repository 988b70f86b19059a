"""Source files by language, and which files belong to a library rather than to the user.

An adapter is not asked to stop in files of another language: some adapters claim that they do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from dragoman.debug.model import FrameInfo

PYTHON = frozenset({".py", ".pyw", ".pyx"})
JAVASCRIPT = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
GO = frozenset({".go"})
NATIVE = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".rs", ".zig", ".swift"})
RUBY = frozenset({".rb", ".rake", ".ru"})
LUA = frozenset({".lua"})
_KNOWN = PYTHON | JAVASCRIPT | GO | NATIVE | RUBY | LUA


def is_other_language(path: str, own: frozenset[str]) -> bool:
    """A file of no known language, such as a template, may belong to any adapter."""
    suffix = PurePath(path).suffix.lower()
    return bool(own) and suffix in _KNOWN and suffix not in own


def is_source_file(name: str) -> bool:
    return PurePath(name).suffix.lower() in _KNOWN


_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages", "node_modules", ".cargo", "rustlib"})
# Where compilers and distributions keep their sources. A relative path among them does not exist on this machine.
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


def own_frame_index(reason: str, frames: Sequence[FrameInfo]) -> int:
    """The place in the stack of the first own frame; at a step or a breakpoint the top, which was asked for."""
    if reason not in _LED_TO:
        return 0
    return next((place for place, frame in enumerate(frames) if not frame.is_library), 0)
