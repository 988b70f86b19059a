"""Breakpoints at a Lua runtime: sent under the names that it looks for; what it cannot do, the helper does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.debug.faults import of_group
from dragoman.debug.hit_conditions import parse_hit_condition
from dragoman.debug.luapanda.advice import why_not_bound
from dragoman.debug.luapanda.code_lines import next_code_line
from dragoman.debug.luapanda.inside import WORD, Helper, Inside, Native
from dragoman.debug.luapanda.paths import Chunk, PathMap
from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.transport.luapanda_driver import LuaPandaDriver

# While the program runs, the runtime looks for messages every two seconds, where its hooks fire.
_SENT_WITHIN_S = 8.0
_HOLE = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")


@dataclass(slots=True)
class Place:
    id: int
    path: str
    line: int
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    is_bound: bool = False
    message: str = ""
    hits: int = field(default=0, compare=False)

    @property
    def is_plain(self) -> bool:
        return not (self.condition or self.hit_condition or self.log_message)

    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = {"id": self.id, "verified": self.is_bound, "line": self.line}
        return told | ({"message": self.message} if self.message else {})


class Breakpoints:
    def __init__(self, driver: LuaPandaDriver, inside: Inside, paths: PathMap, settings: LuaSettings) -> None:
        self._driver = driver
        self._inside = inside
        self._paths = paths
        self._settings = settings
        self._places: dict[str, list[Place]] = {}
        self._names: dict[str, list[str]] = {}
        self._chunks: Sequence[Chunk] = ()
        self._last_id = 0

    @property
    def unbound(self) -> list[Place]:
        return [place for group in self._places.values() for place in group if not place.is_bound]

    async def set(self, path: str, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        code = _lines_of(path)
        group = [self._place(path, each, code) for each in wanted]
        self._places[path] = group
        self._judge(group)
        await self._send(path)
        return [place.told() for place in group]

    def at(self, path: str, line: int) -> list[Place]:
        return [place for place in self._places.get(path, ()) if place.line == line]

    @property
    def known_files(self) -> list[str]:
        """Those that are loaded, as far as is known, and those that breakpoints were set in."""
        return sorted({*self._places, *map(self._paths.place_of, self._chunks)})

    def is_of_a_twin(self, path: str, line: int) -> bool:
        """Matched by the file's name alone, a breakpoint is hit in every file of that name."""
        name = Path(path).name
        return any(self.at(other, line) for other in self._places if Path(other).name == name)

    async def learn(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """What is loaded now. Those that bind, or that are looked for under another name, are told and sent anew."""
        self._chunks = chunks
        before = {place.id: (place.is_bound, place.message) for place in self.unbound}
        for path, group in self._places.items():
            self._judge(group)
            if group and self._paths.names_of(path, chunks) != self._names.get(path):
                await self._send(path)
        news = [place for group in self._places.values() for place in group if place.id in before]
        return [it.told() for it in news if before[it.id] != (it.is_bound, it.message)]

    def clear(self, group: TaskGroup) -> None:
        """Begun in this group, in its order."""
        names = [name for path, places in self._places.items() if places for name in self._names.get(path, ())]
        self._places = {}
        for name in names:
            group.start_soon(self._set, name, [])

    async def carpet(self, paths: Iterable[str]) -> None:
        """Every line of these files: the next one that runs is a stop."""
        await self._set_all(
            [
                (name, [{"line": line} for line in range(1, len(_lines_of(path)) + 1)])
                for path in paths
                for name in self._paths.names_of(path, self._chunks)
            ]
        )

    async def restore(self, paths: Iterable[str]) -> None:
        """What the carpet lay over."""
        for path in paths:
            self._places.setdefault(path, [])
            await self._send(path)

    def _place(self, path: str, each: Mapping[str, Any], code: Sequence[str]) -> Place:
        self._last_id += 1
        line = int(each["line"])
        return Place(
            id=self._last_id,
            path=path,
            line=next_code_line(code, line) or line,
            condition=str(each.get("condition") or ""),
            hit_condition=str(each.get("hitCondition") or ""),
            log_message=str(each.get("logMessage") or ""),
        )

    def _judge(self, group: Iterable[Place]) -> None:
        for place in group:
            chunk = next((it for it in self._chunks if self._paths.place_of(it) == place.path), None)
            place.is_bound = place.is_bound or chunk is not None
            why = "" if place.is_bound else why_not_bound(place.path, self._chunks, self._paths, self._settings)
            place.message = why

    async def _send(self, path: str) -> None:
        """An old name that no longer counts is cleared, or a breakpoint would stay behind under it."""
        names = self._paths.names_of(path, self._chunks)
        group = self._places[path]
        nodes = await self._nodes(path, group)
        gone = [old for old in self._names.get(path, ()) if old not in names]
        await self._set_all([*((name, []) for name in gone), *((name, nodes) for name in names)])
        self._names[path] = names

    async def _set_all(self, lists: Iterable[tuple[str, Sequence[Mapping[str, Any]]]]) -> None:
        """All at once: a running program looks for messages every two seconds, and then reads what there is."""
        try:
            async with anyio.create_task_group() as group:
                for name, nodes in lists:
                    group.start_soon(self._set, name, nodes)
        except ExceptionGroup as errors:
            raise of_group(errors) from errors

    async def _set(self, name: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        await self._driver.ask("setBreakPoint", {"path": name, "bks": nodes}, timeout_s=_SENT_WITHIN_S)

    async def _nodes(self, path: str, group: Sequence[Place]) -> list[dict[str, Any]]:
        if isinstance(self._inside, Native):
            return [_native(place) for place in group]
        if not isinstance(self._inside, Helper):
            return [_bare(place) for place in group]
        twins = self._settings.auto_path and len(self._paths.same_named(path)) > 1
        helped = [place for place in group if twins or not place.is_plain]
        if helped:
            places = {place.id: _helped(place, twins=twins) for place in helped}
            await self._inside.ask("breakpoints", {"places": places}, timeout_s=_SENT_WITHIN_S)
        return [
            {"line": place.line} | ({"condition": f"{WORD}.hit({place.id})"} if place in helped else {})
            for place in group
        ]


def _native(place: Place) -> dict[str, Any]:
    texts = {"condition": place.condition, "hitCondition": place.hit_condition, "logMessage": place.log_message}
    return {"line": place.line, **{name: text for name, text in texts.items() if text}}


def _bare(place: Place) -> dict[str, Any]:
    """Hit counts and messages are then ours to do, at each stop."""
    return {"line": place.line} | ({"condition": place.condition} if place.condition else {})


def _helped(place: Place, *, twins: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "path": place.path,
        "line": place.line,
        "same": f"{place.path}\0{place.line}\0{place.condition}\0{place.hit_condition}",
    }
    if place.condition:
        told["condition"] = place.condition
    if place.hit_condition:
        hits = parse_hit_condition(place.hit_condition)
        told |= {"form": hits.compare, "number": hits.number}
    if place.log_message:
        told["log"] = message_parts(place.log_message, lambda expression: [expression])
    return told | ({"ends": place.path} if twins else {})


def message_parts(text: str, hole: Callable[[str], Any]) -> list[Any]:
    """Texts, and what `hole` makes of each `{expression}`; `{{` and `}}` are braces."""
    parts: list[Any] = []
    at = 0
    for found in _HOLE.finditer(text):
        parts.append(text[at : found.start()])
        parts.append(hole(found[1]) if found[1] is not None else found[0][0])
        at = found.end()
    return [part for part in (*parts, text[at:]) if part != ""]


def _lines_of(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
