"""Where does a value change, or an invariant break? By a data breakpoint where there is one, else by steps.

Steps stay in the function in which they began; the debugger passes over what it calls. When it returns, the next pass
over the place begins again, as long as the budget lasts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.debug.evidence.just_done import line_just_done
from dragoman.debug.evidence.languages import is_true, language_of
from dragoman.debug.evidence.points import Point, id_of
from dragoman.debug.evidence.probing import EVALUATED_WITHIN_S, Probing, said
from dragoman.debug.evidence.run import End, Evidence, Run, Subject
from dragoman.debug.evidence.sheet import CELL_CHARACTERS, Cell, Limits, Sheet
from dragoman.debug.model import Binding, Ended, Frame, Stop
from dragoman.debug.service import Client
from dragoman.errors import DragomanError
from dragoman.workspace.breakpoints import Breakpoint

Verdict = Literal["changed", "unchanged", "never reached"]
By = Literal["data breakpoint", "steps"]
_UNBOUNDED = 1_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """`at` is the line that did it, in the frame that did it; the stack is that of where it stood then."""

    old: Cell
    new: Cell
    at: Frame | None
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    verdict: Verdict
    by: By
    steps: int
    end: End
    change: Change | None = None
    binding: Binding | None = None
    session_id: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    expression: str
    invariant: str = ""


async def changed(
    evidence: Evidence,
    client: Client,
    subject: Subject,
    point: Point | None,
    question: Question,
    *,
    steps: int,
    seconds: float,
) -> Looked:
    """Without a point it begins where the session stands."""
    sheet = Sheet(Limits(_UNBOUNDED, _UNBOUNDED, seconds, rows=1))
    probing = Probing([point] if point else [], sheet, goes_on=lambda _: False, by_stops=True)
    async with evidence.run(client, subject, probing) as run:
        looked = await _Search(run, question, steps, has_point=point is not None).result()
        is_left = not run.is_own and run.session.ended is None
    session_id, state = (run.session.id, run.session.state.value) if is_left else ("", "")
    return Looked(looked.verdict, looked.by, looked.steps, looked.end, looked.change, looked.binding, session_id, state)


class _Search:
    def __init__(self, run: Run, question: Question, steps: int, *, has_point: bool) -> None:
        self._run = run
        self._question = question
        self._budget = steps
        self._has_point = has_point
        self._steps = 0
        self._by: By = "steps"
        self._truth = language_of(run.session.launch.adapter_id).truth

    async def result(self) -> Looked:
        end = await self._run.finished() if self._has_point else None
        if end is not None and end.how != "stopped":
            hits = self._run.probing.sheet.hits
            return self._told("unchanged" if hits else "never reached", end)
        old = await self._value()
        if await self._is_watched():
            self._by = "data breakpoint"
            return await self._watch(old)
        await self._rest(resting=True)  # a call of the same function would end a step over it
        return await self._step(old)

    def _told(self, verdict: Verdict, end: End, change: Change | None = None) -> Looked:
        binding = self._run.session.bindings.of(id_of(0)) if self._has_point else None
        return Looked(verdict, self._by, self._steps, end, change, binding)

    async def _watch(self, old: Cell) -> Looked:
        while self._steps < self._budget and self._run.left_s:
            self._steps += 1
            end = await self._on()
            if end.how != "stopped" or end.stop is None:
                return self._told("unchanged", end)
            new = await self._value()
            if await self._is_found(old, new):
                at = await line_just_done(self._run.session)
                return self._told("changed", End("stopped"), Change(old, new, at, _with_top(at, end.stop.frames)))
            old = new
        return self._told("unchanged", await self._limited())

    async def _step(self, old: Cell) -> Looked:
        home = self._stop().total_frames
        while self._steps < self._budget and self._run.left_s:
            stood = self._stop()
            self._steps += 1
            outcome = await self._stepped()
            if not isinstance(outcome, Stop) or outcome.reason == "exception":
                return self._told("unchanged", await self._ended(outcome))
            is_home = outcome.total_frames >= home
            new = await self._value() if is_home else old
            if is_home and await self._is_found(old, new):
                return self._told("changed", End("stopped"), Change(old, new, stood.frame, stood.frames))
            old = new
            if not is_home:
                end = await self._again(outcome)
                if end is not None:
                    return self._told("unchanged", end)
                home, old = self._stop().total_frames, await self._value()
        return self._told("unchanged", await self._limited())

    async def _again(self, left: Stop) -> End | None:
        """The function was left: on to the next pass over the place, or what came instead."""
        if not self._has_point:
            return End("stopped", stop=left)
        await self._rest(resting=False)
        end = await self._on()
        if end.how != "stopped":
            return end
        await self._rest(resting=True)
        return None

    async def _rest(self, *, resting: bool) -> None:
        self._run.probing.is_resting = resting
        await self._run.session.probe(self._run.probing)

    async def _on(self) -> End:
        self._run.probing.sheet.again()
        return await self._run.went_on()

    async def _stepped(self) -> Stop | Ended | None:
        run = self._run
        stepped = await run.service.step(run.client, run.session.id, "over", thread_id=None, within_s=run.left_s)
        return stepped.outcome

    async def _is_found(self, old: Cell, new: Cell) -> bool:
        if not self._question.invariant:
            return new != old
        holds = await self._evaluated(self._truth.format(claim=self._question.invariant))
        return not holds.failed and not is_true(holds)

    async def _value(self) -> Cell:
        return await self._evaluated(self._question.expression)

    async def _evaluated(self, expression: str) -> Cell:
        looks = self._run.session.looks
        try:
            found = await looks.evaluate(expression, None, "watch", timeout_s=EVALUATED_WITHIN_S, thread_id=None)
        except DragomanError as error:
            return Cell(said(error)[:CELL_CHARACTERS], failed=True)
        return Cell(found.result)

    async def _is_watched(self) -> bool:
        """A debugger that cannot watch this data, or none, steps."""
        session = self._run.session
        wanted = Breakpoint(id=id_of(1), kind="data", variable=self._question.expression, session=session.id)
        try:
            self._run.probing.watched = await session.looks.data_of(wanted)
            await session.probe(self._run.probing)
        except DragomanError:
            self._run.probing.watched = None
            return False
        if session.bindings.of(id_of(1)).verified:
            return True
        self._run.probing.watched = None
        return False

    def _stop(self) -> Stop:
        return self._run.session.require_stopped()

    async def _limited(self) -> End:
        limit: Literal["steps", "seconds"] = "seconds" if not self._run.left_s else "steps"
        return await self._run.limited(limit, self._run.session.stop if self._run.session.stands else None)

    async def _ended(self, outcome: Stop | Ended | None) -> End:
        if isinstance(outcome, Ended):
            return End("exited", ended=outcome)
        return End("exception", stop=outcome) if outcome else await self._run.limited("seconds")


def _with_top(top: Frame | None, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    return (top, *frames[1:]) if top else frames
