"""What `dragoman pipe` answers itself: which folders there are on this machine, and the hashes of a file's lines.

The near side is the same person, who could read any of it with the command that started this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.caller import working_folder
from dragoman.protocols.pipe import MAX_QUERY
from dragoman.workspace.file_comparison import answer_lines
from dragoman.workspace.repository import find_repository

_MAX_FOLDERS = 32
# In no name of a file of this system; other surrogates stand for bytes that are not UTF-8.
_UNFIT = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")


def answer_query(payload: bytes) -> bytes:
    try:
        query = json.loads(payload)
    except (ValueError, RecursionError):
        query = None
    reply: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):  # there is nothing to say about what is no path of this system
        if isinstance(query, dict) and query.get("query") == "folders":
            reply = _folders(query)
        elif isinstance(query, dict) and query.get("query") == "lines":
            reply = answer_lines(query)
    encoded = json.dumps(reply, separators=(",", ":")).encode()
    return encoded if len(encoded) <= MAX_QUERY else b"{}"


def login_path(named: object) -> Path:
    """The folder that the caller named, relative to the login folder, which is also the one without a name."""
    text = named if isinstance(named, str) and _UNFIT.search(named) is None else ""
    try:
        return Path(working_folder()) / Path(text).expanduser()
    except RuntimeError:  # a `~user` that does not exist
        return Path(working_folder()) / text


def _folders(query: Mapping[str, Any]) -> dict[str, Any]:
    named = query.get("folders")
    reply: dict[str, Any] = {"folders": [_folder(it) for it in named[:_MAX_FOLDERS]] if isinstance(named, list) else []}
    if "checkout" in query and (found := find_repository(login_path(query["checkout"]))) is not None:
        # The history is walked only if the remotes do not answer the question.
        roots = () if found.origin and found.origin == query.get("origin") else found.roots()
        reply["checkout"] = {**_folder(str(found.top)), "origin": found.origin, "roots": roots}
    return reply


def _folder(named: object) -> dict[str, Any]:
    path = Path(os.path.normpath(login_path(named)))
    return {"path": str(path), "real": os.path.realpath(path), "is_folder": path.is_dir()}
