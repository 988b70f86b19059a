"""Stops where data changes: by our own runtime alone, which compares at each line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dragoman.debug.luapanda.inside import Inside
from dragoman.debug.luapanda.looking import Looking
from dragoman.debug.luapanda.stop import LuaStop
from dragoman.phrases import say

FIRST_ID = 1_000_000  # apart from those of lines and functions
_SET_WITHIN_S = 5.0
FEATURE = "data"


class DataBreakpoints:
    def __init__(self, inside: Inside, looking: Looking, *, is_there: bool) -> None:
        self._inside = inside
        self._looking = looking
        self._is_there = is_there
        self._id_by_data: dict[str, int] = {}
        self._last_id = FIRST_ID

    async def info(self, stop: LuaStop, asked: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        if not self._is_there:
            why = say("This Lua runtime does not tell changes of data; the dragoman.lua of this version does.")
            return {"dataId": None, "description": str(why)}
        reference, position = await self._looking.found(stop, asked, timeout_s)
        told = await self._inside.ask("watchable", {"reference": reference, "position": position}, timeout_s=timeout_s)
        return {"dataId": str(told["data"]), "description": str(told.get("name") or ""), "accessTypes": ["write"]}

    async def set(self, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        data = [{"id": str(each["dataId"]), **_conditions(each)} for each in wanted]
        if not data and not self._id_by_data:
            return []
        answer = await self._inside.ask("setDataBreakpoints", {"data": data}, timeout_s=_SET_WITHIN_S)
        self._id_by_data = {each["id"]: self._next_id() for each in data}
        by_data = {str(it.get("id")): it for it in answer.get("breakpoints") or () if isinstance(it, dict)}
        return [self._told(each["id"], by_data.get(each["id"], {})) for each in data]

    def hit(self, data: str) -> list[int]:
        return [self._id_by_data[data]] if data in self._id_by_data else []

    def over(self, data: str) -> dict[str, Any] | None:
        """The call that the local belonged to has ended."""
        if data not in self._id_by_data:
            return None
        why = say("The call that this variable belonged to has ended.")
        return {"id": self._id_by_data[data], "verified": False, "message": str(why)}

    def _told(self, data: str, told: Mapping[str, Any]) -> dict[str, Any]:
        message = {"message": str(told["message"])} if told.get("message") else {}
        return {"id": self._id_by_data[data], "verified": told.get("verified") is True, **message}

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id


def _conditions(each: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(each[name]) for name in ("condition", "hitCondition") if each.get(name)}
