"""Finds functions by name in the user's source files: those beside the file that failed first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import anyio.to_thread

from dragoman.debug import source_files
from dragoman.debug.evidence.stepping.source_calls import calls_behind, calls_in
from dragoman.debug.evidence.stepping.source_functions import ANONYMOUS, SourceFunction, SourceText, read_source
from dragoman.debug.evidence.stepping.source_languages import SourceLanguage, language_of_file

_MOST_FILES = 2000
_MOST_BYTES = 1 << 20
_MOST_ENTRIES = 20_000
_SKIPPED = frozenset({"node_modules", "vendor", "target", "build", "dist", "third_party", "coverage", "__pycache__"})
_GENERATED = re.compile(r"^//[#@] sourceMappingURL=", re.MULTILINE)
_MAPPED = 100_000
_MOST_OF_LINE = 5000
_PLACE = re.compile(r"(?P<file>[\w./+-]+\.\w+):(?P<line>\d{1,6})\b")


@dataclass(slots=True)
class FunctionSearch:
    """The source files of one workspace, each read once. Files that cannot be read have no functions."""

    root: Path
    _texts: dict[str, SourceText | None] = field(default_factory=dict)
    _files: list[str] | None = None

    async def behind(self, path: str, line: int, most: int) -> list[SourceFunction]:
        """The functions whose results stand in this line, and what these call."""
        return await anyio.to_thread.run_sync(self._behind, path, line, most)

    async def around(self, path: str, line: int) -> SourceFunction | None:
        return await anyio.to_thread.run_sync(self._around, path, line)

    async def named(self, name: str, suffixes: frozenset[str] = frozenset()) -> list[SourceFunction]:
        return await anyio.to_thread.run_sync(self._named_anywhere, name, suffixes)

    async def names(self, suffixes: frozenset[str] = frozenset()) -> list[str]:
        """Of all functions, with what they belong to."""
        return await anyio.to_thread.run_sync(self._names, suffixes)

    async def callees(self, function: SourceFunction, most: int) -> list[SourceFunction]:
        """What it calls of the user's, and the functions inside it."""
        return await anyio.to_thread.run_sync(self._callees, function, most)

    async def source(self, path: str) -> SourceText | None:
        return await anyio.to_thread.run_sync(self._source, path)

    async def printed_places(self, output: str) -> list[tuple[str, int]]:
        """Lines of the user's sources that the program printed, the last one first."""
        return await anyio.to_thread.run_sync(self._printed_places, output)

    def _behind(self, path: str, line: int, most: int) -> list[SourceFunction]:
        source = self._source(path)
        if source is None:
            return []
        own = source.innermost(line)
        found = list(self._resolved(calls_behind(source, line), source, own))[:most]
        for function in found:  # grows: the functions that these call are appended
            if len(found) >= 2 * most:
                break
            inner = [it for it in self._callees(function, most) if it not in found and it != own]
            found += [it for it in inner if it.name != ANONYMOUS or it.first != it.last]
        return sorted(found[:most], key=lambda it: _is_constructor(it, source.language))

    def _around(self, path: str, line: int) -> SourceFunction | None:
        source = self._source(path)
        return source.innermost(line) if source else None

    def _callees(self, function: SourceFunction, most: int) -> list[SourceFunction]:
        source = self._source(function.path)
        if source is None:
            return []
        inside = [it for it in source.functions if function.header < it.header and it.last <= function.last]
        called = self._resolved(calls_in(source, function), source, function)
        return list(dict.fromkeys([*called, *inside]))[:most]

    def _resolved(
        self, names: Iterable[str], source: SourceText, but: SourceFunction | None
    ) -> Iterator[SourceFunction]:
        for name in names:
            for found in self._named(name, source):
                if found != but:
                    yield found

    def _named(self, name: str, near: SourceText) -> list[SourceFunction]:
        """In the file itself, else in the file beside it that has most; several classes may have such a method."""
        own = [it for it in near.functions if it.is_named(name)]
        if own:
            return own
        return self._search(name, near.language.suffixes, near.path)

    def _named_anywhere(self, name: str, suffixes: frozenset[str]) -> list[SourceFunction]:
        return self._search(name, suffixes, "")

    def _search(self, name: str, suffixes: frozenset[str], near: str) -> list[SourceFunction]:
        last = re.compile(rf"(?<![\w$]){re.escape(re.split(r'::|[.:#]', name)[-1])}(?![\w$])")
        found: list[SourceFunction] = []
        for path in sorted(self._listed(), key=lambda it: -_shared_parts(it, near)):
            if suffixes and PurePath(path).suffix.lower() not in suffixes:
                continue
            source = self._source(path)
            if source is not None and last.search(source.masked):
                found += [it for it in source.functions if it.is_named(name)]
        return found[:8]

    def _names(self, suffixes: frozenset[str]) -> list[str]:
        paths = (it for it in self._listed() if not suffixes or PurePath(it).suffix.lower() in suffixes)
        sources = (source for it in paths if (source := self._source(it)) is not None)
        return list(
            dict.fromkeys(it.qualified for source in sources for it in source.functions if it.name != ANONYMOUS)
        )

    def _printed_places(self, output: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for place in _PLACE.finditer(output):
            wanted = place["file"].lstrip("./")
            path = next((it for it in self._listed() if it.endswith(f"/{wanted}")), "")
            if path and language_of_file(path):
                found.append((path, int(place["line"])))
        return list(dict.fromkeys(reversed(found)))

    def _source(self, path: str) -> SourceText | None:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> SourceText | None:
        try:
            if Path(path).stat().st_size > _MOST_BYTES:
                return None
            text = Path(path).read_text("utf-8", "replace")
        except (OSError, ValueError):
            return None
        if _GENERATED.search(text, max(0, len(text) - _MAPPED)):
            return None  # its debugger knows the source file
        if max(map(len, text.split("\n"))) > _MOST_OF_LINE:
            return None  # minified code or data: reading it would delay the daemon
        return read_source(path, text)

    def _listed(self) -> list[str]:
        if self._files is None:
            self._files = list(self._walk())
        return self._files

    def _walk(self) -> Iterator[str]:
        entries = files = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(it for it in folders if not it.startswith(".") and it not in _SKIPPED)
            entries += len(folders) + len(names)
            for name in sorted(names):
                path = str(Path(folder, name))
                if language_of_file(name) and not source_files.is_library(path) and not name.endswith(".d.ts"):
                    files += 1
                    yield path
            if entries > _MOST_ENTRIES or files > _MOST_FILES:
                return


def _is_constructor(function: SourceFunction, language: SourceLanguage) -> bool:
    return bool(language.constructor) and function.name == language.constructor


def _shared_parts(path: str, near: str) -> int:
    return len(os.path.commonpath([path, near])) if near else 0
