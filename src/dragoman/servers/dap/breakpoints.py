"""The editor's breakpoints: each request replaces one list of its own. Breakpoints of other clients at the same
places stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.debug.model import Binding
from dragoman.debug.registry import FollowedSession
from dragoman.debug.service import DebugService
from dragoman.servers.dap import arguments as take
from dragoman.servers.dap import bodies
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.servers.dap.errors import read_only
from dragoman.servers.dap.event_publisher import DapEventPublisher
from dragoman.workspace.breakpoints import Breakpoint, DataAccess
from dragoman.workspace.caller import Caller

_BOUND_WITHIN_S = 0.3

BreakpointListKind = Literal["line", "function", "exception", "data"]
RequestedBreakpoint = Breakpoint | str
"""A breakpoint to set, or the reason why it cannot be set."""


class BreakpointRequests:
    """Handles the requests that set breakpoints. They belong to this editor in this session, and are removed with
    either.
    """

    def __init__(
        self,
        service: DebugService,
        caller: Caller,
        followed: FollowedSession,
        publisher: DapEventPublisher,
        coordinates: EditorCoordinates,
        language: Language,
        *,
        may_change: bool,
        decides: bool,
        mirrors: bool,
    ) -> None:
        """`decides`: this editor started the program, so the program stops only where the editor wants it to.

        `mirrors`: it also sends others' breakpoints back.
        """
        self._service = service
        self._client = caller
        self._followed = followed
        self._publisher = publisher
        self._coordinates = coordinates
        self._language = language
        self._may_change = may_change
        self._decides = decides
        self._mirrors = mirrors
        self._names_of_data: dict[str, str] = {}
        self._is_first = True
        self._has_decided = not decides

    def others(self) -> list[tuple[Breakpoint, Binding]]:
        id, breakpoint_sync = self._followed.session.id, self._followed.session.breakpoint_sync
        every = [it for it, _ in self._service.breakpoints(self._client)]
        return [
            (it, breakpoint_sync.binding_of(it.id))
            for it in every
            if it.owner != self._client.id and it.session in {"", id}
        ]

    async def set_line_breakpoints(self, args: take.SetBreakpointsArguments) -> dict[str, Any]:
        path = self._coordinates.our_path(args.source.path or "")
        requested = [self._line(path, it) for it in args.requested]
        answer = await self._set("line", requested, lambda it: it.path == path)
        if not self._is_first:
            return answer
        self._is_first = False
        return await self._wait_until_bound(answer)

    async def set_function_breakpoints(self, args: take.SetFunctionBreakpointsArguments) -> dict[str, Any]:
        requested = [self._new_breakpoint("function", it, function=it.name) for it in args.breakpoints]
        return await self._set("function", requested)

    async def decide_exceptions(self) -> None:
        """If an editor started the program and selected no exception filter, it wants no stop at exceptions."""
        if not self._has_decided:
            await self.set_exception_breakpoints(take.SetExceptionBreakpointsArguments())

    async def set_exception_breakpoints(self, args: take.SetExceptionBreakpointsArguments) -> dict[str, Any]:
        self._has_decided = True
        options = [take.ExceptionFilterOptions(filter_id=name) for name in args.filters] + list(
            args.filter_options or ()
        )
        requested: list[RequestedBreakpoint] = [
            self._own_breakpoint("exception", filter=it.filter_id, condition=it.condition or "") for it in options
        ]
        off = self._disabled_filters({it.filter_id for it in options}) if self._decides else []
        answer = await self._set("exception", [*requested, *off])
        return {"breakpoints": answer["breakpoints"][: len(requested)]}

    async def data_info(self, args: take.DataBreakpointInfoArguments) -> dict[str, Any]:
        inspection = self._followed.session.inspection
        found = await inspection.data_info(args.name, args.variables_reference, args.frame_id)
        if found.data_id is not None:
            self._names_of_data[found.data_id] = args.name
        kinds = list(found.access_types) if found.access_types is not None else None
        body = {"dataId": found.data_id, "description": found.description or args.name, "canPersist": False}
        return body | ({"accessTypes": kinds} if kinds is not None else {})

    async def set_data_breakpoints(self, args: take.SetDataBreakpointsArguments) -> dict[str, Any]:
        return await self._set("data", [self._data(it) for it in args.breakpoints])

    async def remove_breakpoint(self, args: take.RemoveBreakpointArguments) -> dict[str, Any]:
        """Remove a breakpoint. If it is gone already, there is nothing to do."""
        await self._service.remove_breakpoints(self._client, lambda it: it.id == args.id)
        return {"breakpoints": self._publisher.publish_others_now()}

    async def change_other_breakpoint(self, args: take.ChangeBreakpointArguments) -> dict[str, Any]:
        changed, _ = await self._service.change_breakpoint(
            self._client,
            args.id,
            line=self._coordinates.our_line(args.line),
            column=self._coordinates.our_column(args.column),
            condition=args.condition or "",
            hit_condition=args.hit_condition or "",
            log_message=args.log_message or "",
            enabled=args.enabled,
        )
        await self._drop_duplicate(changed)
        return {"breakpoints": self._publisher.publish_others_now()}

    async def _drop_duplicate(self, changed: Breakpoint) -> None:
        """Remove the editor's copy of another's breakpoint.

        The editor may have sent its list before it knew whose breakpoint this was.
        """
        duplicates = [
            id for id, it in self._publisher.own.items() if _breakpoint_identity(it) == _breakpoint_identity(changed)
        ]
        for id in duplicates:
            del self._publisher.own[id]
        await self._service.remove_breakpoints(self._client, lambda it: it.id in duplicates)

    async def remove_own(self) -> None:
        """Remove the editor's breakpoints without an event: the editor keeps its list, and sends it again when it
        reconnects."""
        self._publisher.own.clear()
        await self._service.remove_breakpoints(self._client, lambda it: it.owner == self._client.id)

    def _line(self, path: str, it: take.SourceBreakpoint) -> RequestedBreakpoint:
        if not path.startswith("/"):
            return self._localized(localize("A breakpoint needs the absolute path of its file."))
        line, column = self._coordinates.our_line(it.line), self._coordinates.our_column(it.column)
        made = self._new_breakpoint("line", it, path=path, line=line, column=column, log_message=it.log_message or "")
        return self._mirrored_breakpoint(made) or made

    def _data(self, it: take.DataBreakpoint) -> RequestedBreakpoint:
        access = it.access_type if it.access_type in get_args(DataAccess) else "write"
        name = self._names_of_data.get(it.data_id, it.data_id)
        return self._new_breakpoint("data", it, data_id=it.data_id, variable=name, access=cast("DataAccess", access))

    def _new_breakpoint(
        self,
        kind: BreakpointListKind,
        it: take.SourceBreakpoint | take.FunctionBreakpoint | take.DataBreakpoint,
        **fields: Any,
    ) -> RequestedBreakpoint:
        try:
            if it.hit_condition:
                parse_hit_condition(it.hit_condition)
        except DragomanError as error:
            return self._localized(error.message)
        return self._own_breakpoint(kind, condition=it.condition or "", hit_condition=it.hit_condition or "", **fields)

    def _own_breakpoint(self, kind: BreakpointListKind, **fields: Any) -> Breakpoint:
        return Breakpoint(id=0, owner=self._client.id, session=self._followed.session.id, kind=kind, **fields)

    def _disabled_filters(self, on: set[str]) -> list[Breakpoint]:
        offered = self._followed.session.capabilities.get("exceptionBreakpointFilters") or ()
        names = [it["filter"] for it in offered if it.get("filter") not in on]
        defaults = self._followed.session.launch.exception_filters
        return [self._own_breakpoint("exception", filter=name, enabled=False) for name in names if name in defaults]

    def _mirrored_breakpoint(self, made: RequestedBreakpoint) -> Breakpoint | None:
        """The breakpoint of another client that the editor only mirrors, or None.

        A breakpoint that the editor set itself, or that was never published to it, is not a mirror.
        """
        if not self._mirrors or isinstance(made, str):
            return None
        alike = [
            it
            for it, _ in self._service.breakpoints(self._client)
            if _breakpoint_identity(it) == _breakpoint_identity(made)
        ]
        if any(it.owner == self._client.id for it in alike):
            return None
        return next((it for it in alike if self._publisher.has_published(it)), None)

    async def _set(
        self,
        kind: BreakpointListKind,
        requested: Sequence[RequestedBreakpoint],
        which: Callable[[Breakpoint], bool] = lambda _: True,
    ) -> dict[str, Any]:
        """Set the breakpoints in the order of the request.

        One that cannot be set carries the reason, and does not stop the others.
        """
        if not self._may_change:
            reason = self._localized(read_only(command=f"set {kind} breakpoints").message)
            return {"breakpoints": [bodies.unset_breakpoint(reason) for _ in requested]}
        owner, session = self._client.id, self._followed.session.id
        mine = [it for it in requested if isinstance(it, Breakpoint) and it.owner == owner]

        def is_mine(it: Breakpoint) -> bool:
            return (it.owner, it.session, it.kind) == (owner, session, kind) and which(it)

        for gone in [id for id, it in self._publisher.own.items() if is_mine(it)]:
            del self._publisher.own[gone]
        made = iter(await self._service.replace_breakpoints(self._client, is_mine, mine))
        every = [next(made) if isinstance(it, Breakpoint) and it.owner == owner else it for it in requested]
        return {"breakpoints": [self._breakpoint_body(it) for it in every]}

    async def _wait_until_bound(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Wait a moment for bindings that arrive after the debugger's response.

        An editor that reads only the first response, as test drivers do, would take these for unbound. Only the first
        request waits: a delay at each change would be noticed.
        """
        own, breakpoint_sync = self._publisher.own, self._followed.session.breakpoint_sync
        ids = [it["id"] for it in answer["breakpoints"] if it.get("id") in own]
        with anyio.move_on_after(_BOUND_WITHIN_S):
            change_count = self._followed.changes.change_count
            while not all(breakpoint_sync.binding_of(id).verified for id in ids):
                change_count = await self._followed.changes.wait_for_change(change_count)
        body = {id: self._breakpoint_body(own[id]) for id in ids if id in own}
        return {"breakpoints": [body.get(it.get("id"), it) for it in answer["breakpoints"]]}

    def _breakpoint_body(self, it: RequestedBreakpoint) -> dict[str, Any]:
        if isinstance(it, str):
            return bodies.unset_breakpoint(it)
        binding = self._followed.session.breakpoint_sync.binding_of(it.id)
        if it.owner == self._client.id and it.enabled:
            self._publisher.own[it.id] = it
            self._publisher.mark_bound(it, binding)
        return bodies.breakpoint(it, binding, self._coordinates, self._language)

    def _localized(self, localized: Any) -> str:
        return str(localized.in_language(self._language))


def _breakpoint_identity(it: Breakpoint) -> tuple[object, ...]:
    return (it.kind, it.path, it.line, it.column or None, it.condition, it.hit_condition, it.log_message)
