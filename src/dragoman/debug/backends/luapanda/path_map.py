"""Maps files on disk to the chunk names of a Lua runtime, and back.

The runtime drops `@` and `./`, turns dots before the extension into slashes, puts `cwd` in front of relative names,
or keeps the file name alone (`autoPathMode`). A breakpoint matches only where both sides arrive at the same text.
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.localization import localize, localized_str
from dragoman.debug.backends.luapanda.settings import LuaSettings
from dragoman.debug.backends.port import AdapterRefusedError

_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
_MOST_FILES = 50_000
_SUFFIXES = (".lua", ".luac", ".txt", ".bytes", ".lua.txt", ".lua.bytes")


@dataclass(frozen=True, slots=True)
class LuaChunk:
    """A loaded piece of code, as the runtime names it."""

    source: str = ""
    file: str = ""
    opath: str = ""
    lines: frozenset[int] = frozenset()
    """Lines that are known to be executable; there may be more."""

    @property
    def plain(self) -> str:
        """The chunk's name without its mark; empty where the runtime does not tell it."""
        return self.source.removeprefix("@").replace("\\", "/").removeprefix("./") if self.source[:1] == "@" else ""


class LuaPathMap:
    """Finds the file of a chunk, and every name under which a runtime may know a file."""

    def __init__(self, settings: LuaSettings, workspace: Path) -> None:
        self._settings = settings
        self._workspace = workspace
        self._index: dict[str, list[str]] | None = None
        self._place_by_chunk: dict[tuple[str, str, str], str] = {}
        self._declared: dict[str, str] = {}

    def declare(self, chunk: LuaChunk, path: str) -> str:
        """Declares that this chunk is that file. Returns the file. A stop knows fewer names of a chunk."""
        place = os.path.normpath(self._workspace / path)
        if not _is_file(place):
            raise AdapterRefusedError("path", localized_str(localize("File not found: {path}.", path=place)))
        names = (chunk.plain, chunk.opath, "" if self._settings.auto_path else chunk.file)
        self._declared |= {name: place for name in names if name}
        self._place_by_chunk.clear()
        return place

    def short(self, path: str) -> str:
        """As people write it: relative to the workspace."""
        return path.removeprefix(f"{self._workspace}/")

    # From the runtime to the disk.

    def file_of(self, chunk: LuaChunk) -> str:
        """The file on disk; if there is none, the runtime's own name."""
        key = (chunk.source, chunk.file, chunk.opath)
        if key not in self._place_by_chunk:
            self._place_by_chunk[key] = self._find_file(chunk)
        return self._place_by_chunk[key]

    def is_known(self, chunk: LuaChunk) -> bool:
        return _is_file(self.file_of(chunk))

    def is_guess(self, chunk: LuaChunk, path: str) -> bool:
        """Whether they share a name and no folder: it is most likely this file, and may be another."""
        theirs = self._replaced(chunk.plain or chunk.file)
        if chunk.plain in self._declared:
            return False
        ours = f"/{posixpath.splitext(path)[0].replace('.', '/')}"
        stems = (posixpath.splitext(theirs)[0], theirs)  # a chunk name may have no extension: src.mod
        return not any(ours.endswith("/" + stem.replace(".", "/").lstrip("/")) for stem in stems)

    def _find_file(self, chunk: LuaChunk) -> str:
        names = [name for name in (chunk.plain, chunk.file, chunk.opath) if name]
        if declared := next((self._declared[name] for name in names if name in self._declared), None):
            return declared
        for name in map(self._replaced, names):
            for folder in (self._settings.cwd, self._workspace):
                path = os.path.normpath(folder / name)
                if _is_file(path):
                    return path
        found = next((one for name in names if (one := self._by_ending(name))), None)
        return found or (names[0] if names else "")

    def _replaced(self, name: str) -> str:
        rule = self._settings.replacement
        if rule is not None and (name == rule.there or name.startswith(rule.there + "/")):
            return rule.here + name[len(rule.there) :]
        return name

    def _by_ending(self, name: str) -> str | None:
        """Of the files with this name, the one with the longest common folder path; None if two are equally long."""
        candidates = self.same_named(name)
        ranked = sorted(((_common_folders(name, path), path) for path in candidates), reverse=True)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]

    def same_named(self, name: str) -> list[str]:
        """Files of the workspace by name only; the runtime may have removed the extension, or changed its case."""
        base = posixpath.basename(name).lower()
        index = self._files()
        endings = ("", ".lua", f".{self._settings.extension}" if self._settings.extension else "")
        return sorted({path for ending in endings for path in index.get(base + ending, ())})

    def _files(self) -> dict[str, list[str]]:
        if self._index is None:
            self._index = _index_files({self._settings.cwd, self._workspace})
        return self._index

    def all_files(self) -> list[str]:
        return sorted({path for group in self._files().values() for path in group})

    # From the disk to the runtime.

    def runtime_names(self, path: str, loaded: Iterable[LuaChunk] = ()) -> list[str]:
        """Every name under which the runtime may come by this file; those of loaded chunks are certain."""
        chunks = [chunk for chunk in loaded if chunk.file]
        known = [chunk.file for chunk in chunks if self.file_of(chunk) == path]
        guesses = [self._slashed(path), *self._below_cwd(path), *self._by_loaded_chunks(path, chunks)]
        if self._settings.auto_path:
            folder = posixpath.dirname(path)
            names = [posixpath.join(folder, posixpath.basename(one)) for one in (*known, *guesses)]
        else:
            names = [*known, *guesses]
        return list(dict.fromkeys(names))

    def _below_cwd(self, path: str) -> list[str]:
        cwd = self._settings.cwd.as_posix()
        inside = posixpath.relpath(path, cwd) if path.startswith(cwd + "/") else ""
        return [f"{cwd}/{self._slashed(inside)}"] if inside else []

    def _by_loaded_chunks(self, path: str, loaded: Iterable[LuaChunk]) -> list[str]:
        """If the configured folder is wrong, the loaded chunks show which folder the runtime puts in its place."""
        found = []
        for chunk in loaded:
            there, here = _differing_prefixes(chunk.file, self.file_of(chunk))
            if there != here and path.startswith(here + "/"):
                found.append(self._slashed(there + path[len(here) :]))
        return found

    def _slashed(self, path: str) -> str:
        """`a.b.lua` is found as `a/b.lua`: in `require` a dot is a folder."""
        stem, ending = _split_extension(path, self._settings.extension)
        return posixpath.normpath(stem.replace(".", "/")) + ending if stem else path


def _differing_prefixes(name: str, path: str) -> tuple[str, str]:
    """What remains of both paths without their common end."""
    theirs, ours = name.split("/"), path.split("/")
    while len(theirs) > 1 and len(ours) > 1 and theirs[-1] == ours[-1]:
        theirs.pop()
        ours.pop()
    return "/".join(theirs), "/".join(ours)


def _is_file(path: str) -> bool:
    """A name can be anything: the program chose it."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _split_extension(path: str, extension: str) -> tuple[str, str]:
    if extension and path.endswith(f".{extension}"):
        return path[: -len(extension) - 1], path[-len(extension) - 1 :]
    return posixpath.splitext(path)


def _common_folders(name: str, path: str) -> int:
    """How many folders agree, from the file upwards."""
    ours, theirs = path.lower().split("/")[-2::-1], name.lower().split("/")[-2::-1]
    agreed = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        agreed += 1
    return agreed


def _index_files(folders: Iterable[Path]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    count = 0
    for folder in sorted(folders):
        for place, inner, files in os.walk(folder):
            inner[:] = sorted(name for name in inner if name not in _SKIPPED)
            for name in files:
                if name.endswith(_SUFFIXES):
                    found[name.lower()].append(os.path.join(place, name))  # noqa: PTH118  a Path each is slow
            count += len(files)
            if count > _MOST_FILES:
                return found
    return found
