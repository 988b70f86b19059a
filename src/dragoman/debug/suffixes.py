"""Which files are whose: an adapter is not asked to stop in those of another language, which some would say they do."""

from __future__ import annotations

from pathlib import PurePath

PYTHON = frozenset({".py", ".pyw", ".pyx"})
JAVASCRIPT = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
GO = frozenset({".go"})
NATIVE = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".rs", ".zig", ".swift"})
RUBY = frozenset({".rb", ".rake", ".ru"})
LUA = frozenset({".lua"})
_KNOWN = PYTHON | JAVASCRIPT | GO | NATIVE | RUBY | LUA


def is_anothers(path: str, own: frozenset[str]) -> bool:
    """What no language is known for, such as a template, is anybody's."""
    suffix = PurePath(path).suffix.lower()
    return bool(own) and suffix in _KNOWN and suffix not in own


def is_source(name: str) -> bool:
    return PurePath(name).suffix.lower() in _KNOWN
