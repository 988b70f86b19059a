"""What an editor shows of a stopped program. Each number that it is given names its stop: one of an earlier stop is
refused as such."""

from __future__ import annotations

import re
from typing import Any

from dragoman.dap import arguments as take
from dragoman.dap import refusals, shapes
from dragoman.dap.places import Places
from dragoman.debug.following import Followed
from dragoman.debug.model import Evaluated
from dragoman.debug.service import Client, DebugService
from dragoman.wire.dap.bodies import Source

VARIABLES_AT_ONCE = 10_000
_EVALUATED_WITHIN_S = {"hover": 5.0, "repl": 60.0}
_USUALLY_WITHIN_S = 10.0
# A look, as variables are looked at; anything else may be a call.
_PLAIN = re.compile(r"[\w$]+(?:(?:\.|->|::)[\w$]+|\[(?:-?\d+|'[^'\\]*'|\"[^\"\\]*\")\])*")


class Looking:
    def __init__(
        self, service: DebugService, client: Client, followed: Followed, places: Places, *, may_change: bool
    ) -> None:
        self._service = service
        self._client = client
        self._followed = followed
        self._places = places
        self._may_change = may_change

    @property
    def _id(self) -> str:
        return self._followed.session.id

    async def threads(self, _: take.Anything) -> dict[str, Any]:
        found = await self._service.threads(self._client, self._id, placed=False)
        return {"threads": [shapes.thread(it) for it in found]}

    async def stack(self, asked: take.StackTrace) -> dict[str, Any]:
        start, levels = max(asked.start_frame or 0, 0), max(asked.levels or 0, 0)
        frames, total = await self._followed.session.looks.stack(asked.thread_id, start, levels)
        return {"stackFrames": [shapes.frame(it, self._places) for it in frames], "totalFrames": total}

    async def scopes(self, asked: take.Scopes) -> dict[str, Any]:
        found = await self._service.scopes(self._client, self._id, asked.frame_id)
        return {"scopes": [shapes.scope(it) for it in found]}

    async def variables(self, asked: take.Variables) -> dict[str, Any]:
        """So many at once; a container that holds more is read on from there."""
        start, count = max(asked.start or 0, 0), max(asked.count or 0, 0)
        if asked.filter == "named":
            every = await self._followed.session.looks.named(asked.variables_reference)
            found = every[start : start + count] if count else every[start:]
        else:
            most = min(count or VARIABLES_AT_ONCE, VARIABLES_AT_ONCE)
            page = await self._service.page(self._client, self._id, asked.variables_reference, start=start, count=most)
            found = page.variables
        return {"variables": [shapes.variable(it) for it in found]}

    async def evaluate(self, asked: take.Evaluate) -> dict[str, Any]:
        context = asked.context or "watch"
        if not self._may_change and not _PLAIN.fullmatch(asked.expression.strip()):
            raise refusals.read_only("evaluate")
        return shapes.evaluated(await (self._said if context == "repl" else self._glanced)(asked, context))

    async def _glanced(self, asked: take.Evaluate, context: str) -> Evaluated:
        """What an editor looks at by itself, at each stop and under the mouse, is nobody's doing, and not recorded."""
        looks, within_s = self._followed.session.looks, _EVALUATED_WITHIN_S.get(context, _USUALLY_WITHIN_S)
        return await looks.evaluate(asked.expression, asked.frame_id, context, timeout_s=within_s, thread_id=None)

    async def _said(self, asked: take.Evaluate, context: str) -> Evaluated:
        """By a person, and perhaps to change something: whoever looks next sees what is so then."""
        found = await self._service.evaluate(
            self._client,
            self._id,
            asked.expression,
            frame=asked.frame_id,
            context=context,
            within_s=_EVALUATED_WITHIN_S[context],
        )
        if self._followed.session.stands:
            await self._followed.session.looks.refresh()
        return found

    async def set_variable(self, asked: take.SetVariable) -> dict[str, Any]:
        found = await self._service.set_variable(
            self._client,
            self._id,
            name=asked.name,
            value=asked.value,
            reference=asked.variables_reference,
            frame=None,
        )
        return shapes.evaluated(found, named="value")

    async def set_expression(self, asked: take.SetExpression) -> dict[str, Any]:
        found = await self._service.set_variable(
            self._client, self._id, name=asked.expression, value=asked.value, reference=None, frame=asked.frame_id
        )
        return shapes.evaluated(found, named="value")

    async def exception(self, asked: take.Thread) -> dict[str, Any]:
        """Of the stop: what was learned when it stopped is still so."""
        stop = self._followed.session.require_stopped()
        if stop.raised is None or stop.thread_id != asked.thread_id:
            raise refusals.nothing_raised()
        return shapes.exception(stop.raised)

    async def source(self, asked: take.SourceText) -> dict[str, Any]:
        reference = asked.source_reference or (asked.source.source_reference if asked.source else None) or 0
        if not reference:
            raise refusals.no_source(reference)
        named = {"source": _source(asked.source, reference)}
        return await self._followed.session.looks.ask("source", {"sourceReference": reference, **named})

    async def loaded_sources(self, _: take.Anything) -> dict[str, Any]:
        return await self._followed.session.looks.ask("loadedSources", {})

    async def modules(self, asked: take.Modules) -> dict[str, Any]:
        pages = {"startModule": asked.start_module, "moduleCount": asked.module_count}
        given = {name: value for name, value in pages.items() if value is not None}
        return await self._followed.session.looks.ask("modules", given)

    async def completions(self, asked: take.Completions) -> dict[str, Any]:
        """Columns in it are of the text that is typed, and go as they came: we and the editor count alike there."""
        given: dict[str, Any] = {"text": asked.text, "column": self._places.our_column(asked.column)}
        return await self._followed.session.looks.ask("completions", given, frame=asked.frame_id)


def _source(named: Source | None, reference: int) -> dict[str, Any]:
    told: dict[str, Any] = {"sourceReference": reference}
    if named is not None:
        told |= {"name": named.name} if named.name else {}
        told |= {"path": named.path} if named.path else {}
    return told
