"""Identifiers that Dragoman hands out: short, unguessable, safe in a path and in a URL."""

from __future__ import annotations

import re
import secrets

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def new_id(prefix: str) -> str:
    """For example `run-1f2e3d4c5b6a7988`: 64 random bits are enough for one person's machine."""
    return f"{prefix}-{secrets.token_hex(8)}"


def is_safe_id(text: str) -> bool:
    """Whether a peer's identifier may name a file or a folder of Dragoman's."""
    return _SAFE.fullmatch(text) is not None
