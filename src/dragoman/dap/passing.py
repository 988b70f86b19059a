"""What some debuggers can and we have no part in: asked of the one below, lines and paths as the editor counts them."""

from __future__ import annotations

from typing import Any

from dragoman.dap import arguments as take
from dragoman.dap.places import Places
from dragoman.debug.following import Followed

_LINES = ("line", "endLine")
_COLUMNS = ("column", "endColumn")


class Passing:
    def __init__(self, followed: Followed, places: Places) -> None:
        self._followed = followed
        self._places = places

    async def read_memory(self, asked: take.ReadMemory) -> dict[str, Any]:
        where = {"memoryReference": asked.memory_reference, "offset": asked.offset, "count": asked.count}
        return await self._ask("readMemory", where)

    async def write_memory(self, asked: take.WriteMemory) -> dict[str, Any]:
        """Whoever looks next sees what is so then."""
        where = {"memoryReference": asked.memory_reference, "offset": asked.offset}
        told = await self._ask("writeMemory", {**where, "data": asked.data, "allowPartial": asked.allow_partial})
        if self._followed.session.stands:
            await self._followed.session.looks.refresh()
        return told

    async def disassemble(self, asked: take.Disassemble) -> dict[str, Any]:
        given = {
            "memoryReference": asked.memory_reference,
            "offset": asked.offset,
            "instructionOffset": asked.instruction_offset,
            "instructionCount": asked.instruction_count,
            "resolveSymbols": asked.resolve_symbols,
        }
        return self._placed(await self._ask("disassemble", given), "instructions")

    async def step_in_targets(self, asked: take.InFrame) -> dict[str, Any]:
        return self._placed(await self._ask("stepInTargets", {}, frame=asked.frame_id), "targets")

    async def goto_targets(self, asked: take.InSource) -> dict[str, Any]:
        return self._placed(await self._ask("gotoTargets", self._ours(asked)), "targets")

    async def breakpoint_locations(self, asked: take.InSource) -> dict[str, Any]:
        return self._placed(await self._ask("breakpointLocations", self._ours(asked)), "breakpoints")

    async def terminate_threads(self, asked: take.TerminateThreads) -> dict[str, Any]:
        return await self._ask("terminateThreads", {"threadIds": list(asked.thread_ids)})

    async def collect_garbage(self, _: take.Anything) -> dict[str, Any]:
        """Of a Lua program, stopped or running."""
        return await self._ask("collectGarbage", {})

    async def _ask(self, command: str, given: dict[str, Any], *, frame: int | None = None) -> dict[str, Any]:
        return await self._followed.session.looks.ask(command, given, frame=frame)

    def _ours(self, asked: take.InSource) -> dict[str, Any]:
        path = self._places.our_path(asked.source.path or "")
        source = {"name": asked.source.name, "path": path, "sourceReference": asked.source.source_reference}
        end_line = None if asked.end_line is None else self._places.our_line(asked.end_line)
        given = {
            "line": self._places.our_line(asked.line),
            "column": self._places.our_column(asked.column),
            "endLine": end_line,
            "endColumn": self._places.our_column(asked.end_column),
        }
        told = {"source": {name: value for name, value in source.items() if value}}
        return told | {name: value for name, value in given.items() if value is not None}

    def _placed(self, told: dict[str, Any], list_name: str) -> dict[str, Any]:
        found = told.get(list_name)
        rows = [self._row(it) for it in found if isinstance(it, dict)] if isinstance(found, list) else []
        return {**told, list_name: rows}

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        lines = {name: self._places.line(row[name]) for name in _LINES if isinstance(row.get(name), int)}
        columns = {name: self._places.column(row[name]) for name in _COLUMNS if isinstance(row.get(name), int)}
        return {**row, **lines, **columns, **self._located(row.get("location"))}

    def _located(self, source: Any) -> dict[str, Any]:
        if not isinstance(source, dict) or not isinstance(source.get("path"), str):
            return {}
        return {"location": {**source, "path": self._places.path(source["path"])}}
