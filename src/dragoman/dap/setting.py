"""An editor's breakpoints: a list at a time, as its own. Those of others at the same places stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

import anyio

from dragoman.dap import arguments as take
from dragoman.dap import shapes
from dragoman.dap.places import Places
from dragoman.dap.refusals import read_only
from dragoman.dap.teller import Teller
from dragoman.debug.following import Followed
from dragoman.debug.hit_conditions import parse_hit_condition
from dragoman.debug.model import Binding
from dragoman.debug.service import Client, DebugService
from dragoman.errors import DragomanError
from dragoman.phrases import Language, say
from dragoman.workspace.breakpoints import Breakpoint, DataAccess

_BOUND_WITHIN_S = 0.3

Kind = Literal["line", "function", "exception", "data"]
Wanted = Breakpoint | str
"""One to set, or why it cannot be."""


class Setting:
    """They belong to this editor in this session, and go with either."""

    def __init__(
        self,
        service: DebugService,
        client: Client,
        followed: Followed,
        teller: Teller,
        places: Places,
        language: Language,
        *,
        may_change: bool,
        decides: bool,
        mirrors: bool,
    ) -> None:
        """`decides`: it started the program, so what it does not want to stop at is not stopped at. `mirrors`: it sends
        others' breakpoints back as well."""
        self._service = service
        self._client = client
        self._followed = followed
        self._teller = teller
        self._places = places
        self._language = language
        self._may_change = may_change
        self._decides = decides
        self._mirrors = mirrors
        self._names_of_data: dict[str, str] = {}
        self._is_first = True
        self._has_decided = not decides

    def others(self) -> list[tuple[Breakpoint, Binding]]:
        id, bindings = self._followed.session.id, self._followed.session.bindings
        every = [it for it, _ in self._service.breakpoints(self._client)]
        return [(it, bindings.of(it.id)) for it in every if it.owner != self._client.id and it.session in {"", id}]

    async def lines(self, asked: take.SetBreakpoints) -> dict[str, Any]:
        path = self._places.our_path(asked.source.path or "")
        wanted = [self._line(path, it) for it in asked.wanted]
        answer = await self._set("line", wanted, lambda it: it.path == path)
        if not self._is_first:
            return answer
        self._is_first = False
        return await self._once_bound(answer)

    async def functions(self, asked: take.SetFunctionBreakpoints) -> dict[str, Any]:
        wanted = [self._made("function", it, function=it.name) for it in asked.breakpoints]
        return await self._set("function", wanted)

    async def decide_exceptions(self) -> None:
        """An editor that started the program and ticked no box wants no stop at exceptions."""
        if not self._has_decided:
            await self.exceptions(take.SetExceptionBreakpoints())

    async def exceptions(self, asked: take.SetExceptionBreakpoints) -> dict[str, Any]:
        self._has_decided = True
        options = [take.FilterOptions(filter_id=name) for name in asked.filters] + list(asked.filter_options or ())
        wanted: list[Wanted] = [
            self._own("exception", filter=it.filter_id, condition=it.condition or "") for it in options
        ]
        off = self._switched_off({it.filter_id for it in options}) if self._decides else []
        answer = await self._set("exception", [*wanted, *off])
        return {"breakpoints": answer["breakpoints"][: len(wanted)]}

    async def data_info(self, asked: take.DataBreakpointInfo) -> dict[str, Any]:
        looks = self._followed.session.looks
        found = await looks.data_info(asked.name, asked.variables_reference, asked.frame_id)
        if found.data_id is not None:
            self._names_of_data[found.data_id] = asked.name
        kinds = list(found.access_types) if found.access_types is not None else None
        told = {"dataId": found.data_id, "description": found.description or asked.name, "canPersist": False}
        return told | ({"accessTypes": kinds} if kinds is not None else {})

    async def data(self, asked: take.SetDataBreakpoints) -> dict[str, Any]:
        return await self._set("data", [self._data(it) for it in asked.breakpoints])

    async def remove(self, asked: take.RemoveBreakpoint) -> dict[str, Any]:
        """One that has gone meanwhile is as it was wished."""
        await self._service.remove_breakpoints(self._client, lambda it: it.id == asked.id)
        return {"breakpoints": self._teller.others_now()}

    async def change(self, asked: take.ChangeBreakpoint) -> dict[str, Any]:
        changed, _ = await self._service.change_breakpoint(
            self._client,
            asked.id,
            line=self._places.our_line(asked.line),
            column=self._places.our_column(asked.column),
            condition=asked.condition or "",
            hit_condition=asked.hit_condition or "",
            log_message=asked.log_message or "",
            enabled=asked.enabled,
        )
        await self._drop_twin(changed)
        return {"breakpoints": self._teller.others_now()}

    async def _drop_twin(self, changed: Breakpoint) -> None:
        """The editor may have sent its list first: what came with it as its own was this one."""
        twins = [id for id, it in self._teller.own.items() if _meaning(it) == _meaning(changed)]
        for id in twins:
            del self._teller.own[id]
        await self._service.remove_breakpoints(self._client, lambda it: it.id in twins)

    async def forget(self) -> None:
        """The editor keeps its own list, and sends it when it comes again: so it is not told that they are removed."""
        self._teller.own.clear()
        await self._service.remove_breakpoints(self._client, lambda it: it.owner == self._client.id)

    def _line(self, path: str, it: take.SourceBreakpoint) -> Wanted:
        if not path.startswith("/"):
            return self._said(say("A breakpoint needs the absolute path of its file."))
        line, column = self._places.our_line(it.line), self._places.our_column(it.column)
        made = self._made("line", it, path=path, line=line, column=column, log_message=it.log_message or "")
        return self._mirrored(made) or made

    def _data(self, it: take.DataBreakpoint) -> Wanted:
        access = it.access_type if it.access_type in get_args(DataAccess) else "write"
        name = self._names_of_data.get(it.data_id, it.data_id)
        return self._made("data", it, data_id=it.data_id, variable=name, access=cast("DataAccess", access))

    def _made(
        self,
        kind: Kind,
        it: take.SourceBreakpoint | take.FunctionBreakpoint | take.DataBreakpoint,
        **fields: Any,
    ) -> Wanted:
        try:
            if it.hit_condition:
                parse_hit_condition(it.hit_condition)
        except DragomanError as error:
            return self._said(error.message)
        return self._own(kind, condition=it.condition or "", hit_condition=it.hit_condition or "", **fields)

    def _own(self, kind: Kind, **fields: Any) -> Breakpoint:
        return Breakpoint(id=0, owner=self._client.id, session=self._followed.session.id, kind=kind, **fields)

    def _switched_off(self, on: set[str]) -> list[Breakpoint]:
        offered = self._followed.session.capabilities.get("exceptionBreakpointFilters") or ()
        names = [it["filter"] for it in offered if it.get("filter") not in on]
        defaults = self._followed.session.launch.exception_filters
        return [self._own("exception", filter=name, enabled=False) for name in names if name in defaults]

    def _mirrored(self, made: Wanted) -> Breakpoint | None:
        """Another's, which the editor only shows: an echo of it is not a breakpoint of its own. What it has set before,
        or was never told of, is no echo."""
        if not self._mirrors or isinstance(made, str):
            return None
        alike = [it for it, _ in self._service.breakpoints(self._client) if _meaning(it) == _meaning(made)]
        if any(it.owner == self._client.id for it in alike):
            return None
        return next((it for it in alike if self._teller.told_of(it)), None)

    async def _set(
        self, kind: Kind, wanted: Sequence[Wanted], which: Callable[[Breakpoint], bool] = lambda _: True
    ) -> dict[str, Any]:
        """In the order they were asked for. What cannot be set says why, and is no reason to refuse the others."""
        if not self._may_change:
            reason = self._said(read_only(f"set {kind} breakpoints").message)
            return {"breakpoints": [shapes.unset(reason) for _ in wanted]}
        owner, session = self._client.id, self._followed.session.id
        mine = [it for it in wanted if isinstance(it, Breakpoint) and it.owner == owner]

        def is_mine(it: Breakpoint) -> bool:
            return (it.owner, it.session, it.kind) == (owner, session, kind) and which(it)

        for gone in [id for id, it in self._teller.own.items() if is_mine(it)]:
            del self._teller.own[gone]
        made = iter(await self._service.replace_breakpoints(self._client, is_mine, mine))
        every = [next(made) if isinstance(it, Breakpoint) and it.owner == owner else it for it in wanted]
        return {"breakpoints": [self._told(it) for it in every]}

    async def _once_bound(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Some debuggers bind a moment after their answer. An editor that looks at its first answer alone, as test
        drivers do, would take these for unbound; a wait at each change would be felt."""
        own, bindings = self._teller.own, self._followed.session.bindings
        ids = [it["id"] for it in answer["breakpoints"] if it.get("id") in own]
        with anyio.move_on_after(_BOUND_WITHIN_S):
            beats = self._followed.pulse.beats
            while not all(bindings.of(id).verified for id in ids):
                beats = await self._followed.pulse.after(beats)
        told = {id: self._told(own[id]) for id in ids if id in own}
        return {"breakpoints": [told.get(it.get("id"), it) for it in answer["breakpoints"]]}

    def _told(self, it: Wanted) -> dict[str, Any]:
        if isinstance(it, str):
            return shapes.unset(it)
        binding = self._followed.session.bindings.of(it.id)
        if it.owner == self._client.id and it.enabled:
            self._teller.own[it.id] = it
            self._teller.knows(it, binding)
        return shapes.breakpoint(it, binding, self._places, self._language)

    def _said(self, phrase: Any) -> str:
        return str(phrase.in_language(self._language))


def _meaning(it: Breakpoint) -> tuple[object, ...]:
    return (it.kind, it.path, it.line, it.column or None, it.condition, it.hit_condition, it.log_message)
