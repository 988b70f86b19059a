"""DAP requests that inspect a stopped program.

Every id given to the editor belongs to one stop: an id of an earlier stop is refused. Requests that Dragoman adds
nothing to are passed to the adapter; only lines, columns and paths are converted.
"""

from __future__ import annotations

import re
from typing import Any

from dragoman.debug.model import EvaluateResult
from dragoman.debug.registry import FollowedSession
from dragoman.debug.service import DebugService
from dragoman.protocols.dap.bodies import DapSource
from dragoman.servers.dap import arguments as take
from dragoman.servers.dap import bodies as dap_bodies
from dragoman.servers.dap import errors
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.workspace.caller import Caller

VARIABLES_AT_ONCE = 10_000
_EVALUATE_TIMEOUT_S = 10.0
_LINES = ("line", "endLine")
_COLUMNS = ("column", "endColumn")

_EVALUATE_TIMEOUTS_S = {"hover": 5.0, "repl": 60.0}
# Contexts that only read, as a variable view does. In any other, the expression may be a call.
_PLAIN_EXPRESSION = re.compile(r"[\w$]+(?:(?:\.|->|::)[\w$]+|\[(?:-?\d+|'[^'\\]*'|\"[^\"\\]*\")\])*")


class InspectionRequests:
    """Handles the requests that read the stack, scopes, variables and sources of a stopped session."""

    def __init__(
        self,
        service: DebugService,
        caller: Caller,
        followed: FollowedSession,
        coordinates: EditorCoordinates,
        *,
        may_change: bool,
    ) -> None:
        self._service = service
        self._client = caller
        self._followed = followed
        self._coordinates = coordinates
        self._may_change = may_change

    @property
    def _id(self) -> str:
        return self._followed.session.id

    async def threads(self, _: take.AnyArguments) -> dict[str, Any]:
        found = await self._service.find(self._client, self._id).inspection.threads(placed=False)
        return {"threads": [dap_bodies.thread(it) for it in found]}

    async def stack(self, args: take.StackTraceArguments) -> dict[str, Any]:
        start, levels = max(args.start_frame or 0, 0), max(args.levels or 0, 0)
        frames, total = await self._followed.session.inspection.stack(args.thread_id, start, levels)
        return {"stackFrames": [dap_bodies.frame(it, self._coordinates) for it in frames], "totalFrames": total}

    async def scopes(self, args: take.ScopesArguments) -> dict[str, Any]:
        found = await self._service.find(self._client, self._id).inspection.scopes(args.frame_id, None)
        return {"scopes": [dap_bodies.scope(it) for it in found]}

    async def variables(self, args: take.VariablesArguments) -> dict[str, Any]:
        """Return a page of the children. The editor requests the next page from there."""
        start, count = max(args.start or 0, 0), max(args.count or 0, 0)
        if args.filter == "named":
            every = await self._followed.session.inspection.named(args.variables_reference)
            found = every[start : start + count] if count else every[start:]
        else:
            most = min(count or VARIABLES_AT_ONCE, VARIABLES_AT_ONCE)
            inspection = self._service.find(self._client, self._id).inspection
            page = await inspection.page(args.variables_reference, start=start, count=most)
            found = page.variables
        return {"variables": [dap_bodies.variable(it) for it in found]}

    async def evaluate(self, args: take.EvaluateArguments) -> dict[str, Any]:
        context = args.context or "watch"
        if not self._may_change and not _PLAIN_EXPRESSION.fullmatch(args.expression.strip()):
            raise errors.read_only(command="evaluate")
        return dap_bodies.evaluated(
            await (self._evaluate_recorded if context == "repl" else self._evaluate_unrecorded)(args, context)
        )

    async def _evaluate_unrecorded(self, args: take.EvaluateArguments, context: str) -> EvaluateResult:
        """Evaluate for the editor's own views (watch, hover). They refresh at each stop, so they are not recorded."""
        inspection, within_s = self._followed.session.inspection, _EVALUATE_TIMEOUTS_S.get(context, _EVALUATE_TIMEOUT_S)
        return await inspection.evaluate(args.expression, args.frame_id, context, timeout_s=within_s, thread_id=None)

    async def _evaluate_recorded(self, args: take.EvaluateArguments, context: str) -> EvaluateResult:
        """Evaluate for a person. The expression may change something, so cached values are dropped."""
        found = await self._service.evaluate(
            self._client,
            self._id,
            args.expression,
            frame=args.frame_id,
            context=context,
            within_s=_EVALUATE_TIMEOUTS_S[context],
        )
        if self._followed.session.is_at_stop:
            await self._followed.session.inspection.refresh()
        return found

    async def set_variable(self, args: take.SetVariableArguments) -> dict[str, Any]:
        found = await self._service.set_variable(
            self._client,
            self._id,
            name=args.name,
            value=args.value,
            reference=args.variables_reference,
            frame=None,
        )
        return dap_bodies.evaluated(found, named="value")

    async def set_expression(self, args: take.SetExpressionArguments) -> dict[str, Any]:
        found = await self._service.set_variable(
            self._client, self._id, name=args.expression, value=args.value, reference=None, frame=args.frame_id
        )
        return dap_bodies.evaluated(found, named="value")

    async def exception(self, args: take.ThreadArguments) -> dict[str, Any]:
        """The exception of this stop. It was read when the program stopped, and is still valid."""
        stop = self._followed.session.require_stopped()
        if stop.raised is None or stop.thread_id != args.thread_id:
            raise errors.nothing_raised()
        return dap_bodies.exception(stop.raised)

    async def source(self, args: take.SourceArguments) -> dict[str, Any]:
        reference = args.source_reference or (args.source.source_reference if args.source else None) or 0
        if not reference:
            raise errors.no_source(number=reference)
        named = {"source": _source_body(args.source, reference)}
        return await self._followed.session.inspection.ask("source", {"sourceReference": reference, **named})

    async def loaded_sources(self, _: take.AnyArguments) -> dict[str, Any]:
        return await self._followed.session.inspection.ask("loadedSources", {})

    async def modules(self, args: take.ModulesArguments) -> dict[str, Any]:
        pages = {"startModule": args.start_module, "moduleCount": args.module_count}
        given = {name: value for name, value in pages.items() if value is not None}
        return await self._followed.session.inspection.ask("modules", given)

    async def completions(self, args: take.CompletionsArguments) -> dict[str, Any]:
        """Columns refer to the typed text and are not converted: Dragoman and the editor count them alike."""
        given: dict[str, Any] = {"text": args.text, "column": self._coordinates.our_column(args.column)}
        return await self._followed.session.inspection.ask("completions", given, frame=args.frame_id)


def _source_body(named: DapSource | None, reference: int) -> dict[str, Any]:
    body: dict[str, Any] = {"sourceReference": reference}
    if named is not None:
        body |= {"name": named.name} if named.name else {}
        body |= {"path": named.path} if named.path else {}
    return body


class PassthroughRequests:
    """Passes requests to the adapter of the session, where the adapter says that it supports them."""

    def __init__(self, followed: FollowedSession, coordinates: EditorCoordinates) -> None:
        self._followed = followed
        self._coordinates = coordinates

    async def read_memory(self, args: take.ReadMemoryArguments) -> dict[str, Any]:
        where = {"memoryReference": args.memory_reference, "offset": args.offset, "count": args.count}
        return await self._ask("readMemory", where)

    async def write_memory(self, args: take.WriteMemoryArguments) -> dict[str, Any]:
        """Write memory, then drop cached values."""
        where = {"memoryReference": args.memory_reference, "offset": args.offset}
        body = await self._ask("writeMemory", {**where, "data": args.data, "allowPartial": args.allow_partial})
        if self._followed.session.is_at_stop:
            await self._followed.session.inspection.refresh()
        return body

    async def disassemble(self, args: take.DisassembleArguments) -> dict[str, Any]:
        given = {
            "memoryReference": args.memory_reference,
            "offset": args.offset,
            "instructionOffset": args.instruction_offset,
            "instructionCount": args.instruction_count,
            "resolveSymbols": args.resolve_symbols,
        }
        return self._with_editor_positions(await self._ask("disassemble", given), "instructions")

    async def step_in_targets(self, args: take.FrameArguments) -> dict[str, Any]:
        return self._with_editor_positions(await self._ask("stepInTargets", {}, frame=args.frame_id), "targets")

    async def goto_targets(self, args: take.SourceRangeArguments) -> dict[str, Any]:
        return self._with_editor_positions(await self._ask("gotoTargets", self._adapter_arguments(args)), "targets")

    async def breakpoint_locations(self, args: take.SourceRangeArguments) -> dict[str, Any]:
        return self._with_editor_positions(
            await self._ask("breakpointLocations", self._adapter_arguments(args)), "breakpoints"
        )

    async def terminate_threads(self, args: take.TerminateThreadsArguments) -> dict[str, Any]:
        return await self._ask("terminateThreads", {"threadIds": list(args.thread_ids)})

    async def collect_garbage(self, _: take.AnyArguments) -> dict[str, Any]:
        """For a Lua program, stopped or running."""
        return await self._ask("collectGarbage", {})

    async def _ask(self, command: str, given: dict[str, Any], *, frame: int | None = None) -> dict[str, Any]:
        return await self._followed.session.inspection.ask(command, given, frame=frame)

    def _adapter_arguments(self, args: take.SourceRangeArguments) -> dict[str, Any]:
        path = self._coordinates.our_path(args.source.path or "")
        source = {"name": args.source.name, "path": path, "sourceReference": args.source.source_reference}
        end_line = None if args.end_line is None else self._coordinates.our_line(args.end_line)
        given = {
            "line": self._coordinates.our_line(args.line),
            "column": self._coordinates.our_column(args.column),
            "endLine": end_line,
            "endColumn": self._coordinates.our_column(args.end_column),
        }
        body = {"source": {name: value for name, value in source.items() if value}}
        return body | {name: value for name, value in given.items() if value is not None}

    def _with_editor_positions(self, body: dict[str, Any], list_name: str) -> dict[str, Any]:
        found = body.get(list_name)
        rows = [self._row(it) for it in found if isinstance(it, dict)] if isinstance(found, list) else []
        return {**body, list_name: rows}

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        lines = {name: self._coordinates.line(row[name]) for name in _LINES if isinstance(row.get(name), int)}
        columns = {name: self._coordinates.column(row[name]) for name in _COLUMNS if isinstance(row.get(name), int)}
        return {**row, **lines, **columns, **self._with_location(row.get("location"))}

    def _with_location(self, source: Any) -> dict[str, Any]:
        if not isinstance(source, dict) or not isinstance(source.get("path"), str):
            return {}
        return {"location": {**source, "path": self._coordinates.path(source["path"])}}
