"""Inspects a stopped Lua program: frames, scopes, variables and expressions, as DAP asks for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize, localized_str
from dragoman.debug.backends.luapanda.path_map import LuaChunk, LuaPathMap
from dragoman.debug.backends.luapanda.runtime_client import RuntimeClient
from dragoman.debug.backends.port import TIME_LIMIT_ARGUMENT, AdapterRefusedError

MAIN_COROUTINE = "main"
_PAGE_SIZE = 200
_CHILDREN_AT_MOST = 1_000
_FRAMES = 100
_EXPANDED_AT_MOST = 12
_ROUND_TRIP_S = 0.5


@dataclass(frozen=True, slots=True)
class FrameLocation:
    """A frame as the runtime names it."""

    coroutine: str
    index: int


@dataclass(slots=True)
class ValueReference:
    """What is known about a reference: its frame, its expression, and the positions of its children."""

    frame: FrameLocation
    expression: str = ""
    positions: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class LuaStop:
    """One stop: where the program is, and the ids that were handed out for it. They are valid until it resumes."""

    number: int
    reason: str
    frames: list[dict[str, Any]]
    """Frames of the coroutine that stopped, the innermost first; perhaps not all."""
    depth: int
    cmd: str = ""
    coroutine: str = MAIN_COROUTINE
    exception: dict[str, Any] | None = None
    change: dict[str, Any] | None = None
    """For a data breakpoint: which data, its old value and its new one."""
    locations: dict[int, FrameLocation] = field(default_factory=dict)
    references: dict[int, ValueReference] = field(default_factory=dict)

    def frame_id(self, place: FrameLocation) -> int:
        for id, known in self.locations.items():
            if known == place:
                return id
        id = len(self.locations) + 1
        self.locations[id] = place
        return id


class CoroutineIds:
    """Thread ids for DAP: the main coroutine is 1, and every other one keeps its number while the program lives."""

    def __init__(self) -> None:
        self._number_by_name = {MAIN_COROUTINE: 1}

    def number(self, name: str) -> int:
        return self._number_by_name.setdefault(name, len(self._number_by_name) + 1)

    def name(self, number: int) -> str | None:
        return next((name for name, known in self._number_by_name.items() if known == number), None)


_PREVIEWED, _PREVIEW_TEXT = 6, 30
_COUNTED_AT_MOST, _COUNTED_WITHIN_S = 4, 1.5
_ADDRESS = re.compile(r"table: (?:0x)?[0-9A-Fa-f]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    [
        "and",
        "break",
        "do",
        "else",
        "elseif",
        "end",
        "false",
        "for",
        "function",
        "goto",
        "if",
        "in",
        "local",
        "nil",
        "not",
        "or",
        "repeat",
        "return",
        "then",
        "true",
        "until",
        "while",
    ]
)
_SCOPES = {
    "locals": ("Locals", "locals", False),
    "varargs": ("Varargs", "arguments", False),
    "upvalues": ("Upvalues", "", False),
    "globals": ("Globals", "globals", True),
}


class LuaInspector:
    """Answers DAP's requests about a stop with the requests of the extension."""

    def __init__(self, client: RuntimeClient, paths: LuaPathMap, coroutines: CoroutineIds) -> None:
        self._client = client
        self._paths = paths
        self._coroutines = coroutines

    # Frames.

    async def stack(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        name = self._coroutines.name(int(asked.get("threadId") or 0)) or stop.coroutine
        start, levels = int(asked.get("startFrame") or 0), int(asked.get("levels") or 0) or _FRAMES
        frames, depth = stop.frames[start : start + levels], stop.depth
        if name != stop.coroutine or (start + levels > len(stop.frames) and start + len(frames) < depth):
            info = {"start": start, "count": levels, "coroutine": name}
            answer = await self._client.ask("stack", info, timeout_s=timeout_s)
            frames, depth = _list(answer, "frames"), int(answer.get("depth") or 0)
        return {"stackFrames": [self._frame(stop, name, one) for one in frames], "totalFrames": depth}

    def _frame(self, stop: LuaStop, coroutine: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        path = self._paths.file_of(chunk_from_entry(entry))
        return {
            "id": stop.frame_id(FrameLocation(coroutine, int(entry["index"]))),
            "name": function_name(entry),
            "line": max(int(entry["line"]), 0),
            "column": 1,
            "source": {"name": path.rsplit("/", 1)[-1], "path": path},
        }

    async def threads(self, timeout_s: float) -> dict[str, Any]:
        answer = await self._client.ask("coroutines", {}, timeout_s=timeout_s)
        ids = [str(each.get("id")) for each in _list(answer, "coroutines")]
        return {"threads": [{"id": self._coroutines.number(id), "name": id} for id in dict.fromkeys(ids)]}

    # Values.

    async def scopes(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        place = self._place(stop, asked)
        info = {"frame": place.index, "coroutine": place.coroutine}
        answer = await self._client.ask("scopes", info, timeout_s=timeout_s)
        scopes = []
        for each in _list(answer, "scopes"):
            name, hint, expensive = _SCOPES.get(str(each["name"]), (str(each["name"]), "", False))
            reference = int(each.get("reference") or 0)
            stop.references[reference] = ValueReference(place)
            fields = {"name": name, "variablesReference": reference, "expensive": expensive}
            fields |= {"presentationHint": hint} if hint else {}
            scopes.append(fields | _count_fields(each))
        return {"scopes": scopes}

    async def variables(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """All children count as elements: so that those of a large table are paged whatever their keys are."""
        reference = int(asked["variablesReference"])
        if asked.get("filter") == "named":
            return {"variables": []}
        start, most = int(asked.get("start") or 0), int(asked.get("count") or 0) or _CHILDREN_AT_MOST
        found: list[dict[str, Any]] = []
        while len(found) < most:
            count = min(_PAGE_SIZE, most - len(found))
            info = {"reference": reference, "start": start + len(found), "count": count, "depth": 2}
            answer = await self._client.ask("variables", info, timeout_s=timeout_s)
            page = _list(answer, "variables")
            found += page
            if not page or not answer.get("more"):
                break
        reference_entry = stop.references.setdefault(reference, ValueReference(FrameLocation(stop.coroutine, 2)))
        for at in [at for at, it in enumerate(found) if _is_unexpanded(it)][:_EXPANDED_AT_MOST]:
            found[at] = await self._expanded(found[at], "", reference_entry.frame, timeout_s)
        for each in [it for it in found if _is_uncounted(it)][:_COUNTED_AT_MOST]:
            await self._count(each, _expression_in(reference_entry, each), reference_entry.frame)
        return {"variables": [self._child(stop, reference_entry, each) for each in found]}

    async def _count(self, each: dict[str, Any], expression: str, place: FrameLocation) -> None:
        """The runtime counts only part of a large table; a client that reads pages must know the total."""
        if not expression:
            return
        counting = f"(function(t) local n = 0 for _ in next, t do n = n + 1 end return n end)({expression})"
        try:
            (found,) = await self._results(place, counting, _COUNTED_WITHIN_S)
            each["count"] = int(str(found.get("value")))
        except (DragomanError, ValueError):
            return  # the value is then shown without a count

    def _child(self, stop: LuaStop, reference_entry: ValueReference, each: Mapping[str, Any]) -> dict[str, Any]:
        name = str(each.get("name", ""))
        reference_entry.positions[name] = int(each.get("position") or 0)
        expression = _expression_in(reference_entry, each)
        return {"name": name, **self._dap_fields(stop, each, expression, reference_entry.frame)}

    def _dap_fields(
        self, stop: LuaStop, each: Mapping[str, Any], expression: str, frame: FrameLocation
    ) -> dict[str, Any]:
        reference = int(each.get("reference") or 0)
        if reference:
            stop.references.setdefault(reference, ValueReference(frame, expression))
        fields = {"value": format_value(each), "type": str(each.get("type", "")), "variablesReference": reference}
        fields |= {"evaluateName": expression} if expression else {}
        return fields | (_count_fields(each) if reference else {})

    async def evaluate(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        place, expression = self._place(stop, asked), str(asked["expression"])
        found = await self._results(place, expression, timeout_s, limit_s=_limit_s(asked, timeout_s))
        alone = expression if len(found) == 1 else ""
        results = [await self._expanded(each, alone, place, timeout_s) for each in found]
        fields = [self._dap_fields(stop, each, expression if len(results) == 1 else "", place) for each in results]
        if len(fields) == 1:
            (one,) = fields
            one["result"] = one.pop("value")
            return one
        text = ", ".join(str(one["value"]) for one in fields) or str(localize("(no value)"))
        return {"result": text, "type": fields[0]["type"] if fields else "", "variablesReference": 0}

    async def _expanded(
        self, each: dict[str, Any], expression: str, place: FrameLocation, timeout_s: float
    ) -> dict[str, Any]:
        """A table is shown with its first entries, because an address means nothing."""
        if not each.get("reference") or _ADDRESS.fullmatch(str(each.get("value"))) is None:
            return each
        info = {"reference": int(each["reference"]), "count": _PREVIEWED}
        answer = await self._client.ask("variables", info, timeout_s=timeout_s)
        fields = {**each, "children": _list(answer, "variables")}
        if _is_uncounted(fields):
            await self._count(fields, expression, place)
        return fields

    async def _results(
        self, place: FrameLocation, expression: str, timeout_s: float, *, limit_s: float | None = None
    ) -> list[dict[str, Any]]:
        info = {
            "expression": expression,
            "frame": place.index,
            "coroutine": place.coroutine,
            "timeout": _evaluation_limit_ms(timeout_s if limit_s is None else limit_s),
        }
        return _list(await self._client.ask("evaluate", info, timeout_s=timeout_s), "results")

    async def set_variable(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        reference, position = await self.find_variable(stop, asked, timeout_s)
        reference_entry = stop.references[reference]
        info = {
            "reference": reference,
            "position": position,
            "expression": str(asked["value"]),
            "frame": reference_entry.frame.index,
            "timeout": _evaluation_limit_ms(_limit_s(asked, timeout_s)),
        }
        answer = await self._client.ask("assign", info, timeout_s=timeout_s)
        return self._dap_fields(stop, answer, "", reference_entry.frame)

    async def find_variable(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> tuple[int, int]:
        """A variable by the runtime's name: its container, and its position there."""
        name = str(asked["name"])
        for reference in await self._held_by(stop, asked, timeout_s):
            reference_entry = stop.references.get(reference)
            if reference_entry is None or name not in reference_entry.positions:
                await self.variables(stop, {"variablesReference": reference}, timeout_s)
                reference_entry = stop.references[reference]
            if name in reference_entry.positions:
                return reference, reference_entry.positions[name]
        raise AdapterRefusedError("name", localized_str(localize("{name} is not defined here.", name=name)))

    async def _held_by(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> list[int]:
        if asked.get("variablesReference"):
            return [int(asked["variablesReference"])]
        scopes = (await self.scopes(stop, asked, timeout_s))["scopes"]
        return [int(scope["variablesReference"]) for scope in scopes]

    async def set_expression(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        place, target = self._place(stop, asked), str(asked["expression"])
        limit_s = _limit_s(asked, timeout_s)
        await self._results(place, f"{target} = {asked['value']}", timeout_s, limit_s=limit_s)
        results = await self._results(place, target, timeout_s, limit_s=limit_s)
        return self._dap_fields(stop, results[0] if results else {"value": "nil", "type": "nil"}, target, place)

    async def sources(self, timeout_s: float) -> list[LuaChunk]:
        return [
            chunk_from_entry(each)
            for each in _list(await self._client.ask("sources", {}, timeout_s=timeout_s), "sources")
        ]

    def _place(self, stop: LuaStop, asked: Mapping[str, Any]) -> FrameLocation:
        frame = asked.get("frameId")
        if frame is None:
            return FrameLocation(stop.coroutine, int(stop.frames[0]["index"]) if stop.frames else 2)
        if int(frame) not in stop.locations:
            raise AdapterRefusedError("frame", localized_str(localize("This stop has no such frame.")))
        return stop.locations[int(frame)]


def _limit_s(asked: Mapping[str, Any], timeout_s: float) -> float:
    """The program does not respond while it runs code for us, so the limit is the caller's own."""
    return min(float(asked.get(TIME_LIMIT_ARGUMENT) or timeout_s), timeout_s)


def _evaluation_limit_ms(limit_s: float) -> int:
    """A refusal must arrive before the caller's deadline."""
    return max(int((limit_s - _ROUND_TRIP_S) * 1000), 250)


def chunk_from_entry(entry: Mapping[str, Any]) -> LuaChunk:
    lines = entry.get("lines")
    return LuaChunk(
        source=str(entry.get("source") or ""),
        file=str(entry.get("file") or ""),
        opath=str(entry.get("oPath") or ""),
        lines=frozenset(int(line) for line in lines) if isinstance(lines, list) else frozenset(),
    )


def function_name(entry: Mapping[str, Any]) -> str:
    """As people write it; a function without a name by the line where it begins."""
    name = str(entry.get("function") or "")
    if name or "function" not in entry:
        return name or "?"
    return f"function <{entry.get('defined', '?')}>"


def format_value(each: Mapping[str, Any]) -> str:
    """Strings in quotes, so that "1" differs from 1. If a metamethod failed, its error is shown instead."""
    value = str(each.get("value", ""))
    if each.get("type") == "string":
        cut = f"… ({each['length']} bytes)" if each.get("length") else ""
        return '"' + value.replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"' + cut
    if each.get("type") == "table" and not each.get("reference") and _ADDRESS.fullmatch(value):
        return "{}"
    if isinstance(each.get("children"), list) and _ADDRESS.fullmatch(value):
        value = _preview(each["children"], int(each.get("count") or 0))
    return f"{value} <{each['failed']}>" if each.get("failed") else value


def _preview(children: list[Mapping[str, Any]], count: int) -> str:
    parts = []
    for each in children[:_PREVIEWED]:
        text = "{…}" if _ADDRESS.fullmatch(str(each.get("value"))) else format_value(each)
        text = text if len(text) <= _PREVIEW_TEXT else text[:_PREVIEW_TEXT] + "…"
        parts.append(text if each.get("keyType") == "number" else f"{each.get('name')} = {text}")
    return "{" + ", ".join([*parts, *(["…"] if count > len(parts) else [])]) + "}"


def _is_uncounted(each: Mapping[str, Any]) -> bool:
    return each.get("type") == "table" and bool(each.get("reference")) and each.get("count") is None


def _is_unexpanded(each: Mapping[str, Any]) -> bool:
    """A table of which the runtime sent only an address, because earlier ones filled the message."""
    has_children = isinstance(each.get("children"), list) and each["children"]
    return not has_children and bool(each.get("reference")) and _ADDRESS.fullmatch(str(each.get("value"))) is not None


def _expression_in(reference_entry: ValueReference, each: Mapping[str, Any]) -> str:
    return _child_expression(reference_entry.expression, str(each.get("name", "")), str(each.get("keyType") or ""))


def _child_expression(parent: str, name: str, key_type: str) -> str:
    """An expression for a child: of a scope its name, of a table its field."""
    if not key_type:
        return name if not parent and _is_name(name) else ""
    if not parent:
        return name if key_type == "string" and _is_name(name) else ""
    if key_type == "string":
        return f"{parent}.{name}" if _is_name(name) else ""
    return parent + name if key_type in {"number", "boolean"} else ""


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in _KEYWORDS


def _count_fields(each: Mapping[str, Any]) -> dict[str, int]:
    count = int(each.get("count") or 0)
    return {"indexedVariables": count} if count > _PAGE_SIZE // 2 else {"namedVariables": count} if count else {}


def _list(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = answer.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
