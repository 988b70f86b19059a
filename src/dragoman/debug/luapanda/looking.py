"""Looking into a stopped Lua program: DAP's questions, asked in the words of the extension."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dragoman.debug.asking import LIMIT
from dragoman.debug.backend import AdapterRefusedError
from dragoman.debug.luapanda.inside import Inside
from dragoman.debug.luapanda.paths import Chunk, PathMap
from dragoman.debug.luapanda.stop import Coroutines, FramePlace, Holder, LuaStop
from dragoman.errors import DragomanError
from dragoman.phrases import say, spoken

_PAGE = 200
_CHILDREN_AT_MOST = 1_000
_FRAMES = 100
_PREVIEWED, _PREVIEW_TEXT = 6, 30
_COUNTED_AT_MOST, _COUNTED_WITHIN_S = 4, 1.5
_EXPANDED_AT_MOST = 12
_ON_THE_WAY_S = 0.5
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


class Looking:
    def __init__(self, inside: Inside, paths: PathMap, coroutines: Coroutines) -> None:
        self._inside = inside
        self._paths = paths
        self._coroutines = coroutines

    # Frames.

    async def stack(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        name = self._coroutines.name(int(asked.get("threadId") or 0)) or stop.coroutine
        start, levels = int(asked.get("startFrame") or 0), int(asked.get("levels") or 0) or _FRAMES
        frames, depth = stop.frames[start : start + levels], stop.depth
        if name != stop.coroutine or (start + levels > len(stop.frames) and start + len(frames) < depth):
            info = {"start": start, "count": levels, "coroutine": name}
            answer = await self._inside.ask("stack", info, timeout_s=timeout_s)
            frames, depth = _list(answer, "frames"), int(answer.get("depth") or 0)
        return {"stackFrames": [self._frame(stop, name, one) for one in frames], "totalFrames": depth}

    def _frame(self, stop: LuaStop, coroutine: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        path = self._paths.place_of(chunk_of(entry))
        return {
            "id": stop.frame_id(FramePlace(coroutine, int(entry["index"]))),
            "name": function_name(entry),
            "line": max(int(entry["line"]), 0),
            "column": 1,
            "source": {"name": path.rsplit("/", 1)[-1], "path": path},
        }

    async def threads(self, timeout_s: float) -> dict[str, Any]:
        answer = await self._inside.ask("coroutines", {}, timeout_s=timeout_s)
        ids = [str(each.get("id")) for each in _list(answer, "coroutines")]
        return {"threads": [{"id": self._coroutines.number(id), "name": id} for id in dict.fromkeys(ids)]}

    # Values.

    async def scopes(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        place = self._place(stop, asked)
        info = {"frame": place.index, "coroutine": place.coroutine}
        answer = await self._inside.ask("scopes", info, timeout_s=timeout_s)
        scopes = []
        for each in _list(answer, "scopes"):
            name, hint, expensive = _SCOPES.get(str(each["name"]), (str(each["name"]), "", False))
            reference = int(each.get("reference") or 0)
            stop.holders[reference] = Holder(place)
            told = {"name": name, "variablesReference": reference, "expensive": expensive}
            told |= {"presentationHint": hint} if hint else {}
            scopes.append(told | _counted(each))
        return {"scopes": scopes}

    async def variables(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """All children count as elements: so that those of a large table are paged whatever their keys are."""
        reference = int(asked["variablesReference"])
        if asked.get("filter") == "named":
            return {"variables": []}
        start, most = int(asked.get("start") or 0), int(asked.get("count") or 0) or _CHILDREN_AT_MOST
        found: list[dict[str, Any]] = []
        while len(found) < most:
            count = min(_PAGE, most - len(found))
            info = {"reference": reference, "start": start + len(found), "count": count, "depth": 2}
            answer = await self._inside.ask("variables", info, timeout_s=timeout_s)
            page = _list(answer, "variables")
            found += page
            if not page or not answer.get("more"):
                break
        holder = stop.holders.setdefault(reference, Holder(FramePlace(stop.coroutine, 2)))
        for at in [at for at, it in enumerate(found) if _is_bare(it)][:_EXPANDED_AT_MOST]:
            found[at] = await self._expanded(found[at], "", holder.frame, timeout_s)
        for each in [it for it in found if _is_uncounted(it)][:_COUNTED_AT_MOST]:
            await self._count(each, _said_in(holder, each), holder.frame)
        return {"variables": [self._child(stop, holder, each) for each in found]}

    async def _count(self, each: dict[str, Any], expression: str, place: FramePlace) -> None:
        """A runtime counts only so far in a table; whoever pages must know how many there are."""
        if not expression:
            return
        counting = f"(function(t) local n = 0 for _ in next, t do n = n + 1 end return n end)({expression})"
        try:
            (found,) = await self._results(place, counting, _COUNTED_WITHIN_S)
            each["count"] = int(str(found.get("value")))
        except (DragomanError, ValueError):
            return  # it is then told without

    def _child(self, stop: LuaStop, holder: Holder, each: Mapping[str, Any]) -> dict[str, Any]:
        name = str(each.get("name", ""))
        holder.positions[name] = int(each.get("position") or 0)
        expression = _said_in(holder, each)
        return {"name": name, **self._told(stop, each, expression, holder.frame)}

    def _told(self, stop: LuaStop, each: Mapping[str, Any], expression: str, frame: FramePlace) -> dict[str, Any]:
        reference = int(each.get("reference") or 0)
        if reference:
            stop.holders.setdefault(reference, Holder(frame, expression))
        told = {"value": shown(each), "type": str(each.get("type", "")), "variablesReference": reference}
        told |= {"evaluateName": expression} if expression else {}
        return told | (_counted(each) if reference else {})

    async def evaluate(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        place, expression = self._place(stop, asked), str(asked["expression"])
        found = await self._results(place, expression, timeout_s, limit_s=_limit_s(asked, timeout_s))
        alone = expression if len(found) == 1 else ""
        results = [await self._expanded(each, alone, place, timeout_s) for each in found]
        told = [self._told(stop, each, expression if len(results) == 1 else "", place) for each in results]
        if len(told) == 1:
            (one,) = told
            one["result"] = one.pop("value")
            return one
        text = ", ".join(str(one["value"]) for one in told) or str(say("(no value)"))
        return {"result": text, "type": told[0]["type"] if told else "", "variablesReference": 0}

    async def _expanded(
        self, each: dict[str, Any], expression: str, place: FramePlace, timeout_s: float
    ) -> dict[str, Any]:
        """An address says nothing to anybody: a table is told with what it begins with."""
        if not each.get("reference") or _ADDRESS.fullmatch(str(each.get("value"))) is None:
            return each
        info = {"reference": int(each["reference"]), "count": _PREVIEWED}
        answer = await self._inside.ask("variables", info, timeout_s=timeout_s)
        told = {**each, "children": _list(answer, "variables")}
        if _is_uncounted(told):
            await self._count(told, expression, place)
        return told

    async def _results(
        self, place: FramePlace, expression: str, timeout_s: float, *, limit_s: float | None = None
    ) -> list[dict[str, Any]]:
        info = {
            "expression": expression,
            "frame": place.index,
            "coroutine": place.coroutine,
            "timeout": _runs_for_ms(timeout_s if limit_s is None else limit_s),
        }
        return _list(await self._inside.ask("evaluate", info, timeout_s=timeout_s), "results")

    async def set_variable(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        reference, position = await self.found(stop, asked, timeout_s)
        holder = stop.holders[reference]
        info = {
            "reference": reference,
            "position": position,
            "expression": str(asked["value"]),
            "frame": holder.frame.index,
            "timeout": _runs_for_ms(_limit_s(asked, timeout_s)),
        }
        answer = await self._inside.ask("assign", info, timeout_s=timeout_s)
        return self._told(stop, answer, "", holder.frame)

    async def found(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> tuple[int, int]:
        """A variable by its name, as the runtime names it: what holds it, and where it stands there."""
        name = str(asked["name"])
        for reference in await self._held_by(stop, asked, timeout_s):
            holder = stop.holders.get(reference)
            if holder is None or name not in holder.positions:
                await self.variables(stop, {"variablesReference": reference}, timeout_s)
                holder = stop.holders[reference]
            if name in holder.positions:
                return reference, holder.positions[name]
        raise AdapterRefusedError("name", spoken(say("There is no {name} here.", name=name)))

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
        return self._told(stop, results[0] if results else {"value": "nil", "type": "nil"}, target, place)

    async def sources(self, timeout_s: float) -> list[Chunk]:
        return [chunk_of(each) for each in _list(await self._inside.ask("sources", {}, timeout_s=timeout_s), "sources")]

    def _place(self, stop: LuaStop, asked: Mapping[str, Any]) -> FramePlace:
        frame = asked.get("frameId")
        if frame is None:
            return FramePlace(stop.coroutine, int(stop.frames[0]["index"]) if stop.frames else 2)
        if int(frame) not in stop.places:
            raise AdapterRefusedError("frame", spoken(say("There is no such frame in this stop.")))
        return stop.places[int(frame)]


def _limit_s(asked: Mapping[str, Any], timeout_s: float) -> float:
    """The program is deaf for as long as it runs code for us: no longer than who asked waits."""
    return min(float(asked.get(LIMIT) or timeout_s), timeout_s)


def _runs_for_ms(limit_s: float) -> int:
    """Its refusal is to arrive before who asked has gone."""
    return max(int((limit_s - _ON_THE_WAY_S) * 1000), 250)


def chunk_of(entry: Mapping[str, Any]) -> Chunk:
    lines = entry.get("lines")
    return Chunk(
        source=str(entry.get("source") or ""),
        file=str(entry.get("file") or ""),
        opath=str(entry.get("oPath") or ""),
        lines=frozenset(int(line) for line in lines) if isinstance(lines, list) else frozenset(),
    )


def function_name(entry: Mapping[str, Any]) -> str:
    """As people write it; one without a name by the line where it begins."""
    name = str(entry.get("function") or "")
    if name or "function" not in entry:
        return name or "?"
    return f"function <{entry.get('defined', '?')}>"


def shown(each: Mapping[str, Any]) -> str:
    """Strings in quotes, so that "1" is not 1; what a metamethod failed with is told in its place."""
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
        text = "{…}" if _ADDRESS.fullmatch(str(each.get("value"))) else shown(each)
        text = text if len(text) <= _PREVIEW_TEXT else text[:_PREVIEW_TEXT] + "…"
        parts.append(text if each.get("keyType") == "number" else f"{each.get('name')} = {text}")
    return "{" + ", ".join([*parts, *(["…"] if count > len(parts) else [])]) + "}"


def _is_uncounted(each: Mapping[str, Any]) -> bool:
    return each.get("type") == "table" and bool(each.get("reference")) and each.get("count") is None


def _is_bare(each: Mapping[str, Any]) -> bool:
    """A table of which the runtime told an address alone: those before it took all that an answer may hold."""
    is_told = isinstance(each.get("children"), list) and each["children"]
    return not is_told and bool(each.get("reference")) and _ADDRESS.fullmatch(str(each.get("value"))) is not None


def _said_in(holder: Holder, each: Mapping[str, Any]) -> str:
    return _said(holder.expression, str(each.get("name", "")), str(each.get("keyType") or ""))


def _said(parent: str, name: str, key_type: str) -> str:
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


def _counted(each: Mapping[str, Any]) -> dict[str, int]:
    count = int(each.get("count") or 0)
    return {"indexedVariables": count} if count > _PAGE // 2 else {"namedVariables": count} if count else {}


def _list(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = answer.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
