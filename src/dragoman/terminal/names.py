"""Peers' names as names of ours: an id that a client chose never becomes a path, nor another domain's id."""

from __future__ import annotations

import hashlib
import re

from dragoman.ids import is_safe_id
from dragoman.terminal.model import UNVERIFIED

# The form of the ids that we hand out ourselves (`debug-1f2e3d4c5b6a7988`): their bytes and events must stay theirs.
_OURS = re.compile(r"(?!terminal-)[a-z]+-[0-9a-f]{16}")
_COMMAND_CHARACTERS = 200


def terminal_name(session_id: str) -> str:
    """The same text where it may name a folder, else one made from it; the same each time."""
    if is_safe_id(session_id) and not _OURS.fullmatch(session_id):
        return session_id
    return f"t-{_digest(session_id)}"


def command_name(command_id: str, session_id: str) -> str:
    """Begins with its terminal's name, so that no client can speak of another's commands."""
    own = terminal_name(session_id)
    rest = command_id.removeprefix(f"{session_id}:")
    rest = rest.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if len(rest) > _COMMAND_CHARACTERS:
        rest = _digest(rest) + (UNVERIFIED if rest.endswith(UNVERIFIED) else "")
    return f"{own}:{rest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
