"""`--map [TARGET:]LOCAL=REMOTE`: which folder here is which folder on the other machine, as a person wrote it.

The far side resolves REMOTE when the connection opens. LOCAL must lie in the folder in which the command works: what
the other machine says can then name no other file here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.cli.caller import project_folder, working_folder
from dragoman.cli.remote.options import chosen_maps, chosen_names
from dragoman.core.errors import ErrorSpec

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MAX_MAPS = 16
_MAX_PATH = 1500
"""So that the folders of all maps fit into one question, however they are encoded."""


@dataclass(frozen=True, slots=True)
class FolderMap:
    local: Path
    """Absolute, without `..`, with its links."""
    far: str
    """Absolute, or relative to the home folder there."""

    def far_text(self, path: Path) -> str | None:
        """A path below the folder here, as it is called there."""
        if not path.is_relative_to(self.local):
            return None
        rest = str(path.relative_to(self.local))
        return self.far if rest == "." else f"{self.far}/{rest}"


def folder_maps(target: str = "") -> tuple[FolderMap, ...]:
    """The maps of this command for one target, by default the first; an error for one that cannot be used. What is
    mapped for one target alone counts before what is mapped for all.
    """
    texts = chosen_maps()
    if len(texts) > _MAX_MAPS:
        raise _too_many(limit=_MAX_MAPS)
    names = chosen_names()
    own: dict[Path, FolderMap] = {}
    common: dict[Path, FolderMap] = {}
    for text in texts:
        name = _target_of(text, names)
        one = _parsed(text.removeprefix(f"{name}:") if name else text)
        if name and name != (target or names[0]):
            continue
        maps = own if name else common
        if maps.setdefault(one.local, one) != one:
            raise _mapped_twice(folder=one.local)
    return (*own.values(), *(it for it in common.values() if it.local not in own))


def written_maps() -> list[str]:
    """The maps of this command with whole paths, for a command line that is used in other folders."""
    names = chosen_names()
    for name in names:
        folder_maps(name)
    prefixes = [f"{name}:" if (name := _target_of(text, names)) else "" for text in chosen_maps()]
    maps = [_parsed(text.removeprefix(it)) for text, it in zip(chosen_maps(), prefixes, strict=True)]
    return [f"{prefix}{it.local}={it.far}" for prefix, it in zip(prefixes, maps, strict=True)]


def _target_of(text: str, names: Sequence[str]) -> str:
    """The target that a map names; targets have colons in their names."""
    return max((it for it in names if text.startswith(f"{it}:")), key=len, default="")


def _parsed(text: str) -> FolderMap:
    local, equals, far = text.partition("=")
    far = far.rstrip("/")
    if not (local and equals and far) or ".." in far.split("/") or _UNFIT.search(text) or len(ascii(far)) > _MAX_PATH:
        raise _bad_map(text=text)
    folder = _absolute(Path(local))
    if not folder.is_dir():
        raise _no_folder(folder=folder)
    workspace = project_folder()
    if not _real(folder).is_relative_to(_real(workspace)) or folder == Path("/"):
        raise _outside(folder=folder, workspace=workspace)
    return FolderMap(folder, far)


def far_workspace(named: Path, target: str = "") -> str:
    """The workspace there, as it crosses: the one that was named, else the one that this folder is mapped to."""
    maps = folder_maps(target)
    if named != Path():
        return _far_text(_absolute(named), maps) or str(named)
    if not maps:
        return ""
    here = Path(working_folder())
    containing = [it.local for it in maps if _names(here, it)]
    candidates = [project_folder(), *sorted(containing, key=lambda it: len(it.parts), reverse=True)]
    return next((text for it in candidates if (text := _far_text(it, maps)) is not None), maps[0].far)


def mapped_path(path: str) -> str | None:
    """A path as a shell here resolves it, if it is in a mapped folder; it is translated when it crosses."""
    maps = folder_maps()
    absolute = _absolute(Path(path))
    return str(absolute) if _far_text(absolute, maps) is not None else None


def _far_text(path: Path, maps: tuple[FolderMap, ...]) -> str | None:
    deepest = sorted(maps, key=lambda it: len(it.local.parts), reverse=True)
    for spelled in (path, _real(path)):
        for one in deepest:
            for known in (one, FolderMap(_real(one.local), one.far)):
                if (text := known.far_text(spelled)) is not None:
                    return text
    return None


def _names(path: Path, one: FolderMap) -> bool:
    return path.is_relative_to(one.local) or _real(path).is_relative_to(_real(one.local))


def _absolute(path: Path) -> Path:
    try:
        expanded = path.expanduser()
    except RuntimeError:  # a `~user` that does not exist
        expanded = path
    return Path(os.path.normpath(Path(working_folder()) / expanded))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


_bad_map = ErrorSpec(
    "bad_map",
    "Invalid map: {text}.",
    "Use LOCAL=REMOTE, two folders without `..`, for example `--map .=/srv/shop` or `--map ssh:a:.=/srv/shop`.",
    text=lambda text: ascii(text[:200]),
)
_no_folder = ErrorSpec("no_such_folder", "{folder} is not a folder on this machine.", "Check LOCAL in --map.")
_outside = ErrorSpec(
    "map_outside",
    "{folder} is outside {workspace}, the folder in which this command works.",
    "Run the command in the folder that you map, or in one that contains it.",
)
_mapped_twice = ErrorSpec("bad_map", "{folder} is mapped twice.", "Pass --map once for each folder.")
_too_many = ErrorSpec(
    "bad_map", "At most {limit} folders can be mapped.", "Map a folder that contains several of them."
)
