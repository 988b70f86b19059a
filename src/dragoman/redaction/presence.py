"""Whether a text has one of many patterns, at gigabytes per second.

Rust's engine, which pydantic brings along, searches for dozens of literals at once with vector instructions and decides
the rest in linear time. It answers yes or no; Python's engine, far slower, then looks only where it has to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_core import SchemaValidator, core_schema

Present = Callable[[str], bool]
_ASCII = bytes(code if code < 128 else 127 for code in range(256))
# The engine has vector instructions for up to 64 literals.
_PATTERNS = 60


def presence(patterns: Sequence[str]) -> Present:
    """Each in Rust's syntax, beginning with a literal: without one the search is as slow as any other."""
    searches = [_search(patterns[at : at + _PATTERNS]) for at in range(0, len(patterns), _PATTERNS)]
    return searches[0] if len(searches) == 1 else lambda text: any(search(text) for search in searches)


def _search(patterns: Sequence[str]) -> Present:
    return SchemaValidator(core_schema.str_schema(pattern="|".join(patterns))).isinstance_python


def literal_pattern(literal: bytes) -> str:
    """Of the text that `readable` gives."""
    return "".join(f"\\x{{{code:02x}}}" for code in literal.translate(_ASCII))


def readable(data: bytes) -> str:
    """One character for each byte. Only ASCII reaches the engine without a copy; no pattern needs anything else."""
    return (data if data.isascii() else data.translate(_ASCII)).decode("ascii")
