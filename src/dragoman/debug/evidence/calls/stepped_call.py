"""One call in a language without a tracer: by single steps inside the function, within a budget.

The debugger steps over what the function calls. The record has the form that the tracer in Python programs writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.evidence.frame_values import ReadLines, is_user_variable
from dragoman.debug.evidence.run import EvidenceRun, RunOutcome
from dragoman.debug.model import ProgramEnd, Stop

MAX_STEPS = 500
MAX_SECONDS = 20.0
_MOST_VARIABLES = 40
_VALUE = 120
_SOURCE_LINES = 60


async def step_through_call(run: EvidenceRun, lines: ReadLines, number: int) -> tuple[Mapping[str, Any], RunOutcome]:
    """From the run's start through the call with that number, and on to the program's end."""
    if not run.probe.points:
        raise DragomanError(
            "bad_arguments",
            localize("Where the function begins is not known for this language."),
            hint=localize("Name the function by a line of its file, such as cart.py:12."),
        )
    end = await run.run_to_end()
    calls = 1
    while end.how == "stopped" and end.stop is not None and calls < number and run.remaining_s:
        run.probe.table.reopen()
        end = await run.run_on()
        calls += 1
    if end.how != "stopped" or end.stop is None:
        return {"calls": calls - 1 if calls > 1 else 0, "deepest": 1}, end
    run.probe.is_suspended = True  # a call within the call is stepped over
    await run.session.probe(run.probe)
    record, outcome = await _SteppedCall(run, end.stop, calls).record()
    record["source"] = await _source(record, lines)
    if isinstance(outcome, ProgramEnd):
        return record, RunOutcome("exited", ended=outcome)
    if outcome is None or not run.owns_session:
        return record, RunOutcome("stopped", stop=outcome)
    run.probe.table.reopen()
    return record, await run.run_on()


class _SteppedCall:
    def __init__(self, run: EvidenceRun, first: Stop, number: int) -> None:
        self._run = run
        self._first = first
        self._number = number
        self._seen = _variables(first)
        self._rows: list[dict[str, Any]] = []
        self._until_s = max(0.0, run.remaining_s - MAX_SECONDS)

    async def record(self) -> tuple[dict[str, Any], Stop | ProgramEnd | None]:
        args = [[name, value] for name, value in self._seen.items()]
        here, how = self._first, "limit"
        outcome: Stop | ProgramEnd | None = None
        line = _line(here)
        while len(self._rows) < MAX_STEPS and self._run.remaining_s > self._until_s:
            line = _line(here)
            outcome = await self._step()
            if isinstance(outcome, Stop) and self._is_inside(outcome):
                self._rows.append(self._row(line, outcome))
                here = outcome
                continue
            self._rows.append({"line": line})
            is_raised = isinstance(outcome, Stop) and outcome.reason == "exception"
            how = "raised" if is_raised else "running" if outcome is None else "returned"
            break
        return self._data(args, how, line, outcome), outcome

    async def _step(self) -> Stop | ProgramEnd | None:
        run = self._run
        within_s = max(0.0, run.remaining_s - self._until_s)
        stepped = await run.service.step(run.client, run.session.id, "over", thread_id=None, within_s=within_s)
        return stepped.outcome

    def _is_inside(self, stop: Stop) -> bool:
        return stop.reason != "exception" and stop.total_frames >= self._first.total_frames

    def _row(self, line: int, after: Stop) -> dict[str, Any]:
        now = _variables(after)
        changed = [[name, value] for name, value in now.items() if self._seen.get(name) != value]
        self._seen = now
        return {"line": line, "changes": changed}

    def _data(self, args: list[list[str]], how: str, line: int, outcome: Stop | ProgramEnd | None) -> dict[str, Any]:
        frame = self._first.frame
        end: dict[str, Any] = {"how": how, "line": line}
        if how in {"limit", "running"}:
            end["values"] = [[name, value] for name, value in self._seen.items()][:20]
        if isinstance(outcome, Stop) and outcome.raised is not None and how == "raised":
            end["error"] = f"{outcome.raised.type}: {outcome.raised.message}"
        return {
            "calls": self._number, "call": self._number, "deepest": 1, "uncounted": True, "lines": len(self._rows),
            "function": frame.name if frame else "", "file": frame.path if frame else "", "first": _line(self._first),
            "args": args, "rows": self._rows, "end": end, "by_steps": True,
        }  # fmt: skip


def _line(stop: Stop) -> int:
    return stop.frame.line if stop.frame else 0


def _variables(stop: Stop) -> dict[str, str]:
    """Those of the frame, without what the language or a test runner made."""
    held = stop.top_locals.variables if stop.top_locals else ()
    own = [it for it in held if is_user_variable(it)][:_MOST_VARIABLES]
    return {it.name: it.value[:_VALUE] for it in own}


async def _source(record: Mapping[str, Any], lines: ReadLines) -> list[list[Any]]:
    """The lines that ran and those between them, from the one above, where the function begins."""
    ran = [row["line"] for row in record["rows"]]
    text = await lines(record["file"]) if record["file"] else None
    if not text or not ran:
        return []
    first = max(1, min(ran) - 1)
    last = min(max(ran), first + _SOURCE_LINES, len(text))
    found = [[number, text[number - 1].rstrip()] for number in range(first, last + 1)]
    return found if found[0][1] else found[1:]
