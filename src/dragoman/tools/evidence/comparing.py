"""The tool `compare_runs`: the same trace twice, on two inputs, configurations or commits; where do they part?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.debug.evidence.difference import Difference, first_difference
from dragoman.debug.evidence.effects import suspicious
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.sheet import Cell, Row
from dragoman.debug.evidence.trace import Trace, together, traced
from dragoman.debug.evidence.worktree import workspace_at
from dragoman.debug.service import Client, Wish
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.evidence.answers import RunsCompared
from dragoman.tools.evidence.ends import end_lines
from dragoman.tools.evidence.parameters import CompareWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.evidence.subject import WAYS, subject_of
from dragoman.tools.evidence.tracing import points_seen, require_apart
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.words import labelled, word_of

_CELL_IN_TEXT = 120


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs."""

    caller: Caller
    client: Client
    wanted: CompareWanted

    @property
    def start(self) -> tuple[Client, Wish]:
        wish = subject_of(self.wanted).wish
        assert wish is not None, "two runs are started for this"
        return self.client, wish


@dataclass(frozen=True, slots=True)
class Comparing:
    room: Room

    async def compare(self, caller: Caller, wanted: CompareWanted) -> Outcome:
        if wanted.session_id:
            raise ToolError("bad_arguments", say("Two runs are started for this: a session cannot be one of them."))

        changed = _changed(wanted)
        first = _Side(caller, client_of(caller), wanted)

        async def act() -> tuple[Trace, Trace]:
            service = self.room.evidence.service
            # Before anything of the other: git runs in the workspace only where that is trusted.
            one_disclosed = await service.disclose(*first.start)
            async with self._other(first, changed) as other:
                service.approve([one_disclosed, await service.disclose(*other.start)])
                return await self._traced(first), await self._traced(other)

        one, other = await self.room.awaited(caller, "compare_runs", 2 * wanted.timeout_s, act)
        answer = self._answer(caller, one, other, first_difference(one, other))
        return Outcome(self._lines(answer), answer)

    @asynccontextmanager
    async def _other(self, first: _Side, wanted: CompareWanted) -> AsyncIterator[_Side]:
        caller = first.caller
        if not wanted.against.commit:
            yield replace(first, wanted=wanted)
            return
        async with workspace_at(wanted.against.commit, caller.workspace, caller.environment) as tree:
            environment = _with_its_python(caller)
            elsewhere = replace(
                caller, workspace=tree.path, cwd=tree.path, environment=environment, trusts_workspace=True
            )
            client = replace(client_of(elsewhere), moved={str(tree.root): f"{caller.workspace}@{tree.commit}"})
            yield _Side(elsewhere, client, _moved(wanted, caller.workspace, tree.path))

    async def _traced(self, side: _Side) -> Trace:
        wanted = side.wanted
        points = together([await self._point(side.caller, wanted, at) for at in range(len(wanted.points))])
        require_apart(points)
        return await traced(self.room.evidence, side.client, subject_of(wanted), points, wanted.limits)

    async def _point(self, caller: Caller, wanted: CompareWanted, at: int) -> Point:
        point = wanted.points[at]
        return await self.room.finder.point(caller, wanted, point, tuple(point.expressions), point.condition)

    def _answer(self, caller: Caller, one: Trace, other: Trace, found: Difference | None) -> RunsCompared:
        expressions = [it for point in one.points for it in (*point.expressions, point.condition) if it]
        row = found and (found.one or found.other)
        places = [it.place for it in points_seen(one, caller, self.room)]
        return RunsCompared(
            status="success",
            verdict="different" if found else "same",
            hits=[one.sheet.hits, other.sheet.hits],
            hit=row.number if row else None,
            place=places[row.point] if row else None,
            one=self._values(one, found, found.one) if found and found.one else None,
            other=self._values(other, found, found.other) if found and found.other else None,
            before=[self._values(one, None, it) for it in found.before] if found and found.before else None,
            ended=self.room.ends.data(caller, one.end),
            other_ended=self.room.ends.data(caller, other.end),
            side_effects=[escaped(it) for it in suspicious(expressions)] or None,
        )

    def _values(self, trace: Trace, found: Difference | None, row: Row) -> dict[str, str]:
        """Those that differ; all, where that is not what differs."""
        pairs = list(zip(trace.points[row.point].expressions, row.cells, strict=False))
        chosen = [pairs[at] for at in found.cells if at < len(pairs)] if found and found.cells else pairs
        return {escaped(it): self._shown(it, cell) for it, cell in chosen}

    def _shown(self, expression: str, cell: Cell) -> str:
        shown = self.room.values.value(expression, cell.text, len(cell.text)).text
        return f"!{shown}" if cell.failed else shown

    def _lines(self, answer: RunsCompared) -> list[Phrase]:
        if answer.verdict == "same":
            return [say("The runs are the same, hits: {hits}.", hits=answer.hits[0]), *end_lines(answer.ended)]
        head = say("The runs end differently, after hits: {hits}.", hits=answer.hits[0])
        if answer.hit is not None:
            head = say("The runs differ first at hit {hit}, {place}.", hit=answer.hit, place=answer.place)
        lines = [labelled(say("before"), _pairs(it)) for it in answer.before or ()]
        if answer.hit is not None:
            one, other = ("-" if it is None else _pairs(it) for it in (answer.one, answer.other))
            lines += [say("one: {values}", values=one), say("other: {values}", values=other)]
        lines += [say("one ended: {how}", how=word_of(answer.ended.how)), *end_lines(answer.ended)]
        lines += [say("other ended: {how}", how=word_of(answer.other_ended.how)), *end_lines(answer.other_ended)]
        return [head, *lines]


def _changed(wanted: CompareWanted) -> CompareWanted:
    """The first run with what the other has of its own; another thing to run takes the place of the first one's."""
    given = {name: getattr(wanted.against, name) for name in wanted.against.model_fields_set - {"commit"}}
    if not given and not wanted.against.commit:
        raise ToolError("bad_arguments", say("Give in `against` what the other run has of its own."))
    cleared: dict[str, Any] = {**dict.fromkeys(WAYS, ""), "configuration": {}} if given.keys() & set(WAYS) else {}
    return wanted.model_copy(update={**cleared, **given})


def _with_its_python(caller: Caller) -> Mapping[str, str]:
    """A virtual environment lies in the workspace and in no commit: the tree runs with that of the workspace."""
    found = [folder for name in (".venv", "venv") if (folder := caller.workspace / name).is_dir()]
    return {"VIRTUAL_ENV": str(found[0]), **caller.environment} if found else caller.environment


def _moved(wanted: CompareWanted, workspace: Path, tree: Path) -> CompareWanted:
    """Paths of the workspace as paths of the tree."""

    def moved(path: str) -> str:
        inside = path and Path(path).is_absolute() and Path(path).is_relative_to(workspace)
        return str(tree / Path(path).relative_to(workspace)) if inside else path

    points = [it.model_copy(update={"file_path": moved(it.file_path)}) for it in wanted.points]
    update = {"program": moved(wanted.program), "cwd": moved(wanted.cwd), "points": points}
    return wanted.model_copy(update=update)


def _pairs(values: dict[str, str]) -> str:
    shown: Sequence[str] = [f"{name} = {one_line(value, _CELL_IN_TEXT)}" for name, value in values.items()]
    return ", ".join(shown)
