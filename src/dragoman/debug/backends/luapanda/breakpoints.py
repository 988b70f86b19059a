"""Line, function and data breakpoints of a Lua runtime, sent under the names that it uses. What a runtime lacks, the
helper does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.core.localization import localize
from dragoman.debug.backends.luapanda.binding_advice import explain_binding, explain_missing_function, explain_unbound
from dragoman.debug.backends.luapanda.inspection import LuaInspector, LuaStop
from dragoman.debug.backends.luapanda.lua_source import FunctionDefinition, find_definitions, next_code_line
from dragoman.debug.backends.luapanda.path_map import LuaChunk, LuaPathMap
from dragoman.debug.backends.luapanda.runtime_client import (
    HELPER_GLOBAL,
    ExtendedRuntimeClient,
    HelperClient,
    RuntimeClient,
)
from dragoman.debug.backends.luapanda.settings import LuaSettings
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.debug.errors import first_cause
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver

# While the program runs, the runtime checks for messages every two seconds, when one of its hooks fires.
_SEND_TIMEOUT_S = 8.0
FIRST_ID = 1_000_000  # apart from those of lines and functions
_SET_DATA_TIMEOUT_S = 5.0
DATA_FEATURE = "data"

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")


@dataclass(slots=True)
class LuaBreakpoint:
    """One line breakpoint."""

    id: int
    path: str
    line: int
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    is_bound: bool = False
    message: str = ""
    defined: int = 0
    """Where the function is defined. Other breakpoints at this line, such as on the definition itself, are separate."""
    hits: int = field(default=0, compare=False)

    @property
    def is_plain(self) -> bool:
        return not (self.condition or self.hit_condition or self.log_message)

    @property
    def identity(self) -> tuple[str, int, str, str, str]:
        return self.path, self.line, self.condition, self.hit_condition, self.log_message

    def wire_fields(self) -> dict[str, Any]:
        wire_fields: dict[str, Any] = {"id": self.id, "verified": self.is_bound, "line": self.line}
        return wire_fields | ({"message": self.message} if self.message else {})


@dataclass(slots=True)
class LuaFunctionBreakpoint:
    """A breakpoint on a function by its name, wherever it is defined."""

    name: str
    place: LuaBreakpoint
    """Without a line: what its lines are made of."""
    found: list[FunctionDefinition] = field(default_factory=list)
    looked_in: frozenset[str] | None = None
    """The chunks that were loaded at the last search: while nothing else is loaded, there is nothing new to find."""

    def wire_fields(self) -> dict[str, Any]:
        wire_fields: dict[str, Any] = {"id": self.place.id, "verified": self.place.is_bound}
        if self.found:
            wire_fields |= {"line": self.found[0].line, "source": {"path": self.found[0].path}}
        return wire_fields | ({"message": self.place.message} if self.place.message else {})

    def places(self, path: str) -> list[LuaBreakpoint]:
        mine = [it for it in self.found if it.path == path]
        return [replace(self.place, path=path, line=it.line, defined=it.defined) for it in mine]


class LuaBreakpoints:
    """All line and function breakpoints at one runtime: what clients asked for, and under which names it was sent."""

    def __init__(self, driver: LuaPandaDriver, client: RuntimeClient, paths: LuaPathMap, settings: LuaSettings) -> None:
        self._driver = driver
        self._client = client
        self._paths = paths
        self._settings = settings
        self._places: dict[str, list[LuaBreakpoint]] = {}
        self._called: list[LuaFunctionBreakpoint] = []
        self._names: dict[str, list[str]] = {}
        self._chunks: Sequence[LuaChunk] = ()
        self._last_id = 0

    @property
    def unbound(self) -> list[LuaBreakpoint]:
        lines = [place for group in self._places.values() for place in group]
        return [place for place in (*lines, *(it.place for it in self._called)) if not place.is_bound]

    async def set(self, path: str, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        code, known = _read_lines(path), {place.identity: place for place in self._places.get(path, ())}
        fresh = [self._place(path, each, code) for each in wanted]
        # The complete list of a file is sent. A breakpoint that is in it again keeps its number, and so its hit
        # count.
        group = [known.pop(place.identity, place) for place in fresh]
        self._places[path] = group
        self._update_binding(group)
        await self._send(path)
        return [place.wire_fields() for place in group]

    async def set_functions(self, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        before = {it.path for called in self._called for it in called.found}
        known = {(called.name, called.place.identity): called.place.id for called in self._called}
        self._called = [
            LuaFunctionBreakpoint(str(each["name"]), self._place("", {**each, "line": 0}, ())) for each in wanted
        ]
        for called in self._called:
            called.place.id = known.pop((called.name, called.place.identity), called.place.id)
        await self._find_functions()
        for path in sorted(before | {it.path for called in self._called for it in called.found}):
            await self._send(path)
        return [called.wire_fields() for called in self._called]

    async def _find_functions(self) -> None:
        """In what is loaded; and in what may yet be, since a function is often called before the next stop."""
        loaded = frozenset(self._paths.file_of(chunk) for chunk in self._chunks)
        for called in self._called:
            if not called.place.is_bound and called.looked_in != loaded:
                called.looked_in = loaded
                paths = [*sorted(loaded), *self._paths.all_files()]
                called.found = await anyio.to_thread.run_sync(find_definitions, called.name, paths)
                called.place.is_bound = any(it.path in loaded for it in called.found)
                called.place.message = (
                    "" if called.place.is_bound else str(explain_missing_function(called.name, called.found))
                )

    def at(self, path: str, line: int, defined: int | None = None) -> list[LuaBreakpoint]:
        """Of function breakpoints, those whose function was entered, if it is known in which function the line ran."""
        there = [place for place in self._all_at(path) if place.line == line]
        return [it for it in there if not it.defined or defined is None or it.defined == defined]

    def _all_at(self, path: str) -> list[LuaBreakpoint]:
        return [*self._places.get(path, ()), *(place for called in self._called for place in called.places(path))]

    @property
    def known_files(self) -> list[str]:
        """Files that are known to be loaded, and files with breakpoints."""
        return sorted({*self._places, *map(self._paths.file_of, self._chunks)})

    def is_in_same_named_file(self, path: str, line: int) -> bool:
        """Matched by file name only, a breakpoint is hit in every file of that name."""
        name = Path(path).name
        return any(self.at(other, line) for other in self._places if Path(other).name == name)

    async def update_chunks(self, chunks: Sequence[LuaChunk]) -> list[dict[str, Any]]:
        """Takes the chunks that are loaded now. Breakpoints that bind, or match under another name, are reported and
        sent again."""
        self._chunks = chunks
        before = {place.id: (place.is_bound, place.message) for place in self.unbound}
        await self._find_functions()
        for path in sorted({*self._places, *(it.path for called in self._called for it in called.found)}):
            self._update_binding(self._places.get(path, ()))
            if self._all_at(path) and self._paths.runtime_names(path, chunks) != self._names.get(path):
                await self._send(path)
        lines = [(place, place.wire_fields) for group in self._places.values() for place in group]
        news = [*lines, *((called.place, called.wire_fields) for called in self._called)]
        changed = [(it, wire_fields) for it, wire_fields in news if it.id in before]
        return [wire_fields() for it, wire_fields in changed if before[it.id] != (it.is_bound, it.message)]

    def clear(self, group: TaskGroup) -> None:
        """Begun in this group, in its order."""
        names = [name for path, names in self._names.items() if self._all_at(path) for name in names]
        self._places, self._called = {}, []
        for name in names:
            group.start_soon(self._set, name, [])

    async def break_on_every_line(self, paths: Iterable[str]) -> None:
        """Every line of these files: the next one that runs is a stop."""
        await self._set_all(
            [
                (name, [{"line": line} for line in range(1, len(_read_lines(path)) + 1)])
                for path in paths
                for name in self._paths.runtime_names(path, self._chunks)
            ]
        )

    async def restore(self, paths: Iterable[str]) -> None:
        """Restore the client's breakpoints after `break_on_every_line`."""
        for path in paths:
            self._places.setdefault(path, [])
            await self._send(path)

    def _place(self, path: str, each: Mapping[str, Any], code: Sequence[str]) -> LuaBreakpoint:
        self._last_id += 1
        line = int(each["line"])
        return LuaBreakpoint(
            id=self._last_id,
            path=path,
            line=next_code_line(code, line) or line,
            condition=str(each.get("condition") or ""),
            hit_condition=str(each.get("hitCondition") or ""),
            log_message=str(each.get("logMessage") or ""),
        )

    def _update_binding(self, group: Iterable[LuaBreakpoint]) -> None:
        for place in group:
            chunk = next((it for it in self._chunks if self._paths.file_of(it) == place.path), None)
            if chunk is not None:
                place.is_bound = True
                place.message = explain_binding(place.path, chunk, self._paths, self._settings)
            elif not place.is_bound:
                place.message = explain_unbound(place.path, self._chunks, self._paths, self._settings)

    async def _send(self, path: str) -> None:
        """An old name that no longer counts is cleared, or a breakpoint would stay behind under it."""
        names = self._paths.runtime_names(path, self._chunks)
        nodes = await self._nodes(path, merge_by_line(self._all_at(path)))
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
            raise first_cause(errors) from errors

    async def _set(self, name: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        await self._driver.ask("setBreakPoint", {"path": name, "bks": nodes}, timeout_s=_SEND_TIMEOUT_S)

    async def _nodes(self, path: str, group: Sequence[LuaBreakpoint]) -> list[dict[str, Any]]:
        if isinstance(self._client, ExtendedRuntimeClient):
            return [_extended_node(place) for place in group]
        if not isinstance(self._client, HelperClient):
            return [_plain_node(place) for place in group]
        twins = self._settings.auto_path and len(self._paths.same_named(path)) > 1
        helped = [place for place in group if twins or not place.is_plain]
        if helped:
            places = {place.id: _helper_node(place, twins=twins) for place in helped}
            await self._client.ask("breakpoints", {"places": places}, timeout_s=_SEND_TIMEOUT_S)
        return [
            {"line": place.line} | ({"condition": f"{HELPER_GLOBAL}.hit({place.id})"} if place in helped else {})
            for place in group
        ]


def merge_by_line(group: Sequence[LuaBreakpoint]) -> list[LuaBreakpoint]:
    """A runtime keeps one for a line: it stops whenever one of those there would."""
    found: dict[int, LuaBreakpoint] = {}
    for place in group:
        other = found.get(place.line)
        found[place.line] = place if other is None else _merge(other, place)
    return list(found.values())


def _merge(one: LuaBreakpoint, other: LuaBreakpoint) -> LuaBreakpoint:
    """A breakpoint that stops takes precedence over one that counts hits or writes messages."""
    stopping = [it for it in (one, other) if not it.hit_condition and not it.log_message]
    if len(stopping) != 2:
        return (stopping or [other])[0]
    conditions = [it.condition for it in stopping]
    return replace(one, condition=" or ".join(f"({it})" for it in conditions) if all(conditions) else "")


def _extended_node(place: LuaBreakpoint) -> dict[str, Any]:
    texts = {"condition": place.condition, "hitCondition": place.hit_condition, "logMessage": place.log_message}
    return {"line": place.line, **{name: text for name, text in texts.items() if text}}


def _plain_node(place: LuaBreakpoint) -> dict[str, Any]:
    """Hit counts and messages are then ours to do, at each stop."""
    return {"line": place.line} | ({"condition": place.condition} if place.condition else {})


def _helper_node(place: LuaBreakpoint, *, twins: bool) -> dict[str, Any]:
    wire_fields: dict[str, Any] = {
        "path": place.path,
        "line": place.line,
        "same": f"{place.path}\0{place.line}\0{place.condition}\0{place.hit_condition}",
    }
    if place.condition:
        wire_fields["condition"] = place.condition
    if place.hit_condition:
        hits = parse_hit_condition(place.hit_condition)
        wire_fields |= {"form": hits.compare, "number": hits.number}
    if place.log_message:
        wire_fields["log"] = message_parts(place.log_message, lambda expression: [expression])
    return wire_fields | ({"ends": place.path} if twins else {})


def message_parts(text: str, hole: Callable[[str], Any]) -> list[Any]:
    """Texts, and what `hole` makes of each `{expression}`; `{{` and `}}` are braces."""
    parts: list[Any] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[at : found.start()])
        parts.append(hole(found[1]) if found[1] is not None else found[0][0])
        at = found.end()
    return [part for part in (*parts, text[at:]) if part != ""]


def _read_lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


class LuaDataBreakpoints:
    """Data breakpoints. Only our own runtime has them: it compares values at each line."""

    def __init__(self, client: RuntimeClient, inspector: LuaInspector, *, is_supported: bool) -> None:
        self._client = client
        self._inspector = inspector
        self._is_supported = is_supported
        self._id_by_data: dict[str, int] = {}
        self._last_id = FIRST_ID

    async def info(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        if not self._is_supported:
            why = localize("This Lua runtime does not report data changes; this version's dragoman.lua does.")
            return {"dataId": None, "description": str(why)}
        reference, position = await self._inspector.find_variable(stop, asked, timeout_s)
        reply = await self._client.ask("watchable", {"reference": reference, "position": position}, timeout_s=timeout_s)
        return {"dataId": str(reply["data"]), "description": str(reply.get("name") or ""), "accessTypes": ["write"]}

    async def set(self, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        data = [{"id": str(each["dataId"]), **_conditions(each)} for each in wanted]
        if not data and not self._id_by_data:
            return []
        answer = await self._client.ask("setDataBreakpoints", {"data": data}, timeout_s=_SET_DATA_TIMEOUT_S)
        self._id_by_data = {each["id"]: self._next_id() for each in data}
        by_data = {str(it.get("id")): it for it in answer.get("breakpoints") or () if isinstance(it, dict)}
        return [self._dap_fields(each["id"], by_data.get(each["id"], {})) for each in data]

    def hit(self, data: str) -> list[int]:
        return [self._id_by_data[data]] if data in self._id_by_data else []

    def ended_breakpoint(self, data: str) -> dict[str, Any] | None:
        """The call that the local belonged to has ended."""
        if data not in self._id_by_data:
            return None
        why = localize("The call that this variable belonged to has ended.")
        return {"id": self._id_by_data[data], "verified": False, "message": str(why)}

    def _dap_fields(self, data: str, reply: Mapping[str, Any]) -> dict[str, Any]:
        message = {"message": str(reply["message"])} if reply.get("message") else {}
        return {"id": self._id_by_data[data], "verified": reply.get("verified") is True, **message}

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id


def _conditions(each: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(each[name]) for name in ("condition", "hitCondition") if each.get(name)}
