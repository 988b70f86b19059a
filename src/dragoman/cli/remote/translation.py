"""Translates the paths of one connection to another machine, in the thread of its link.

Every role speaks messages of JSON, one per line or framed as DAP, so one place serves `mcp`, `dap` and the command
line. Without a map, a connection has no translation, and its bytes are not looked at.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragoman.cli.caller import working_folder
from dragoman.cli.remote.differing_files import DifferingFiles, add_note
from dragoman.cli.remote.folder_maps import FolderMap
from dragoman.cli.remote.message_streams import DapStream, LineStream, MessageStream, StreamChunk
from dragoman.core.errors import ErrorSpec
from dragoman.workspace.path_map import PathMap, PathPair, is_mappable
from dragoman.workspace.repository import Repository, find_repository

_PLACE_IN_TEXT = b"\\nat: "  # of a stop, in the JSON of an answer
# What is trusted is a folder there, whatever it is called here.
_ABOUT_TRUST = b'"needs_trust'
_MAX_PATH = 4096
# Their arguments are a launch configuration, which may hold paths anywhere.
_STARTS = frozenset({"launch", "attach"})


class Translation:
    """From the maps that a person wrote, or from the checkouts on both sides. It owns what it holds back."""

    def __init__(self, target: str, role: str, maps: Sequence[FolderMap], workspace: str) -> None:
        self._target = target
        self._role = role
        self._maps = maps
        self._workspace = workspace
        self._here: Repository | None = None
        self._paths = PathMap([])
        self._files = DifferingFiles(target, self._paths)
        stream = DapStream if role == "dap" else LineStream
        self._far: MessageStream = stream()
        self._near: MessageStream = stream()
        self._waiting: deque[StreamChunk] = deque()
        self._stopped: Any = None

    # Before the first message.

    @property
    def is_required(self) -> bool:
        """Whether a person wrote a map: without it, breakpoints would go to other files than they meant."""
        return bool(self._maps)

    def first_query(self) -> bytes | None:
        if self._maps:
            return _encoded({"query": "folders", "folders": [it.far for it in self._maps]})
        self._here = find_repository(Path(working_folder())) if self._workspace else None
        if self._here is None:
            return None
        return _encoded({"query": "folders", "checkout": self._workspace, "origin": self._here.origin})

    def handle_first_reply(self, payload: bytes) -> bool:
        reply = _decoded(payload)
        pairs = self._mapped(reply.get("folders")) if self._maps else self._checkouts(reply.get("checkout"))
        self._paths = PathMap(pairs)
        self._files = DifferingFiles(self._target, self._paths)
        return bool(self._paths)

    def _mapped(self, folders: object) -> list[PathPair]:
        found = folders if isinstance(folders, list) and len(folders) == len(self._maps) else [{}] * len(self._maps)
        pairs = []
        for one, there in zip(self._maps, found, strict=True):
            known = _pairs(one.local, there) if isinstance(there, dict) and there.get("is_folder") is True else []
            if not known:
                raise _no_folder_there(folder=one.far, target=self._target)
            pairs += known
        return pairs

    def _checkouts(self, there: object) -> list[PathPair]:
        """The two checkouts, if they are of one repository."""
        if self._here is None or not isinstance(there, dict):
            return []
        origin, roots = there.get("origin"), there.get("roots")
        is_same = bool(self._here.origin) and origin == self._here.origin
        if not is_same and isinstance(roots, list) and roots:
            is_same = any(it in roots for it in self._here.roots())
        return _pairs(self._here.top, there) if is_same else []

    # Messages.

    def to_far(self, data: bytes) -> bytes:
        return b"".join(self._translated_to_far(piece) for piece in self._far.feed(data))

    def to_near(self, data: bytes) -> bytes:
        self._waiting += self._near.feed(data)
        return self._drain()

    def next_query(self) -> bytes | None:
        comparison = self._files.comparison
        return _encoded(comparison.query) if comparison is not None else None

    def handle_reply(self, payload: bytes | None) -> bytes:
        note = self._files.handle_reply({} if payload is None else _decoded(payload))
        if self._files.comparison is not None:  # one more question
            return b""
        message, self._stopped = self._stopped, None
        before = add_note(self._role, message, note) if note else []
        return b"".join(map(self._near.encode, [*before, message])) + self._drain()

    def _translated_to_far(self, piece: StreamChunk) -> bytes:
        message = piece.message if self._paths.may_concern_far(piece.data) else None
        if message is None:
            return piece.data
        translated = self._message_to_far(message)
        return piece.data if translated == message else self._far.encode(translated)

    def _message_to_far(self, message: Any) -> Any:
        if self._role == "mcp":
            return self._paths.to_far(message)
        name = "arguments" if self._role == "dap" else "params"
        if not isinstance(message, dict) or name not in message:  # such as the hello
            return message
        if str(message.get("command")) in _STARTS:
            return {**message, name: self._paths.values_to_far(message[name])}
        return {**message, name: self._paths.arguments_to_far(message[name])}

    def _drain(self) -> bytes:
        passed = bytearray()
        while self._waiting and self._files.comparison is None:
            passed += self._translated_to_near(self._waiting.popleft())
        return bytes(passed)

    def _translated_to_near(self, piece: StreamChunk) -> bytes:
        names_place = self._role == "mcp" and _PLACE_IN_TEXT in piece.data
        if not (names_place or self._paths.may_concern_near(piece.data)) or _ABOUT_TRUST in piece.data:
            return piece.data
        if (message := piece.message) is None:
            return piece.data
        translated = self._paths.to_near(message)
        if self._files.begin(self._role, message):
            self._stopped = translated
            return b""
        return piece.data if translated == message else self._near.encode(translated)


def _pairs(local: Path, there: dict[str, Any]) -> list[PathPair]:
    """All the names of the two folders. The first pair says how each is written on the other side."""
    far = [it for name in ("path", "real") if isinstance(it := there.get(name), str) and len(it) <= _MAX_PATH]
    near = [str(local), os.path.realpath(local)]
    pairs = [(here, it) for it in far for here in near]
    return [PathPair(here, it) for here, it in pairs if is_mappable(here) and is_mappable(it)]


def _encoded(query: Any) -> bytes:
    return json.dumps(query, separators=(",", ":")).encode()


def _decoded(payload: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return reply if isinstance(reply, dict) else {}


_no_folder_there = ErrorSpec(
    "no_such_folder",
    "{folder} is not a folder on {target}.",
    "Check REMOTE in --map. It is absolute, or relative to the home folder there.",
)
