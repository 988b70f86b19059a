"""What an editor says of itself, and what passes between it and us."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.editor.service import Editor

_NAME = 60
_FOLDERS = 100
_TYPES = 300
_TYPE = re.compile(r"[\w.+-]{1,60}", re.ASCII)

Json = dict[str, Any]

Called = Callable[["Editor", Json], Awaitable[Any]]
"""What an editor may call in turn."""


@dataclass(frozen=True, slots=True)
class About:
    name: str
    folders: tuple[Path, ...]
    features: frozenset[str]
    """The methods that it serves: editors differ, and so do versions of ours in them."""
    debug_types: frozenset[str] = frozenset()
    """The types of configurations that its extensions bring debuggers for."""

    def holds(self, workspace: Path) -> bool:
        """Whether somebody who works in that folder looks at this editor: at it, at one above it, or at one inside."""
        real = _real(workspace)
        return any(real.is_relative_to(it) or it.is_relative_to(real) for it in map(_real, self.folders))

    def as_called(self, path: str) -> str:
        """By the editor's own name for it: a folder may be open by a link, and one file has one name there."""
        for folder in self.folders:
            if Path(path).is_relative_to(_real(folder)):
                return str(folder / Path(path).relative_to(_real(folder)))
        return path


def read_about(told: Mapping[str, Any]) -> About | None:
    """None for what no editor says."""
    name, folders, features = told.get("name"), told.get("folders"), told.get("features")
    if not isinstance(name, str) or not _are_texts(folders) or not _are_texts(features):
        return None
    places = tuple(Path(folder) for folder in folders or () if folder.startswith("/") and "\0" not in folder)
    return About(name[:_NAME], places[:_FOLDERS], frozenset(features or ()), _types(told.get("debug_types")))


def _types(told: object) -> frozenset[str]:
    """What an older one does not tell is nothing; a name that no type has is left out."""
    names = told if isinstance(told, list) else []
    return frozenset([it for it in names if isinstance(it, str) and _TYPE.fullmatch(it)][:_TYPES])


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _FOLDERS and all(isinstance(it, str) for it in value)
