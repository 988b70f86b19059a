"""Text of others on a terminal: what could move a cursor or set a title is shown, never sent."""

from __future__ import annotations


def visible(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)
