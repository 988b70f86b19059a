"""One call in a language without a tracer: by single steps inside the function.

The debugger stops where a function begins and steps over its lines. A call of another function that is looked for
interrupts the step; it is stepped through in turn, and becomes one line of its caller. The records have the form that
the tracer in Python programs writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.evidence_probe import EVALUATION_TIMEOUT_S
from dragoman.debug.evidence.run import EvidenceRun
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.return_places import split_values
from dragoman.debug.evidence.stepping.source_functions import ANONYMOUS, SourceFunction
from dragoman.debug.evidence.stepping.source_languages import SourceLanguage, language_of_file
from dragoman.debug.evidence.stepping.stepped_values import FrameValues, read_values, shown_value
from dragoman.debug.model import FrameInfo, ProgramEnd, StepKind, Stop

_MOST_GLOBALS = 3
_MOST_CALLS_OF_ROW = 8
_ARGUMENT = 60
_CONTAINER = 36
_SOURCE_LINES = 60
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_ASSIGNED = re.compile(
    r"(?<![\w$.>])([A-Za-z_$][\w$]*)\s*(?:\[[^\]]*\]\s*)?(?::\s*[\w<>\[\]&]+\s*)?(?::=|(?<![=!<>])=(?![=>]))"
)

# Types that a function returns in the register for integers and addresses.
_IN_REGISTER = re.compile(r"\*$|\b(?:int|unsigned|long|short|char|bool|_Bool|size_t|s?size_t|u?int\d+_t)$")

NOTHING = "nothing"
"""The value of what returns none."""
# Variables in which a debugger shows the return value before the function has returned.
_SAYS_RETURNED = frozenset({"Return value", "_return"})

Outcome = Stop | ProgramEnd | None


@dataclass(slots=True)
class CallExit:
    """How a call that was stepped through was left."""

    outcome: Outcome
    value: str | None = None
    error: str = ""
    args: list[list[str]] = field(default_factory=list)


class Stepper(Protocol):
    """The run that a call belongs to: it counts calls and steps, and knows which functions are looked for."""

    run: EvidenceRun
    search: FunctionSearch

    @property
    def is_over(self) -> bool: ...

    async def step(self, kind: StepKind, thread: int) -> Outcome: ...

    def function_at(self, stop: Stop) -> SourceFunction | None:
        """The function that begins at this stop."""
        ...

    async def through(self, function: SourceFunction, stop: Stop, depth: int) -> CallExit: ...

    async def mute(self, functions: Sequence[SourceFunction]) -> None: ...


class SteppedCall:
    """One call, from the stop at its beginning to the stop after it."""

    def __init__(self, stepper: Stepper, function: SourceFunction, stop: Stop, depth: int) -> None:
        language = language_of_file(function.path)
        assert language is not None
        self._stepper = stepper
        self._run = stepper.run
        self._function = function
        self._language: SourceLanguage = language
        self._stop = stop
        self._height = stop.total_frames
        self._frame_name = stop.frames[0].name
        self._thread = stop.thread_id
        self._depth = depth
        own = stop.frames[0]
        self.is_inner = any(it.name == own.name and it.path == own.path for it in stop.frames[1:])
        """Whether it is a call within a call of the same function."""
        self._rows: list[dict[str, Any]] = []
        self._seen = FrameValues()
        self._assigned: set[str] = set()
        self._known = {*function.parameters, "this", "self"}
        """Names that the lines which ran have used: before that, memory holds anything."""
        self._value: str | None = None
        self._how = "limit"
        self._error = ""
        self._line = stop.frames[0].line
        self.args: list[list[str]] = []

    def short_args(self) -> list[list[str]]:
        args = [it for it in self.args if it[0] != "this"]
        most = _ARGUMENT if len(args) == 1 else _CONTAINER
        return [[name, _cut(value, most if value.startswith(("{", "[")) else _ARGUMENT)] for name, value in args]

    async def run(self) -> CallExit:
        source = await self._stepper.search.source(self._function.path)
        self._text = source
        self._seen = await self._read(self._stop, self._function.parameters)
        names = [it for it in self._function.parameters if it in self._seen.values]
        names = [*(["this"] if "this" in self._seen.values else []), *names]
        self.args = [[it, self._seen.shown(it)] for it in names]
        held = self._stop.top_locals.variables if self._stop.top_locals else ()
        self._plain_arguments = {
            it.name: it.value for it in held if it.name in self._function.parameters and not it.reference
        }
        here: Stop = self._stop
        outcome: Outcome = here
        while not self._stepper.is_over:
            self._line = here.frames[0].line
            await self._evaluate_returned(here)
            row: dict[str, Any] = {"line": self._line, "calls": []}
            self._rows.append(row)
            outcome = await self._stepped(row)
            if self._how == "suspended":
                break
            if isinstance(outcome, Stop) and self._is_here(outcome):
                now = await self._read(outcome, self._named_at(self._line))
                assigned = list(_ASSIGNED.findall(self._line_text(self._line)))
                first = {it for it in assigned if it not in self._assigned}
                # What a debugger does not list is a global, which a function that is called may assign too.
                unlisted = [*assigned, *(sorted(self._assigned) if row["calls"] else ())]
                self._assigned |= first
                for name in [it for it in dict.fromkeys(unlisted) if it not in now.values][:_MOST_GLOBALS]:
                    value = await self._evaluated(name, outcome)
                    if value is not None:
                        now.values[name] = value
                self._known.update(self._named_at(self._line))
                changed = now.changes(self._seen, first & set(now.values))
                row["changes"] = [it for it in changed if self._is_known(it[0])]
                if now.returned is not None:
                    self._value = now.returned
                self._seen = FrameValues({**self._seen.values, **now.values}, {**self._seen.opened, **now.opened})
                here = outcome
                continue
            await self._leave(outcome)
            break
        self._rows = [it for at, it in enumerate(self._rows) if self._is_telling(at, it)]
        return CallExit(outcome, self._value, self._error, self.short_args())

    async def _stepped(self, row: dict[str, Any]) -> Outcome:
        """One line: over it, and through the calls of known functions in it."""
        outcome = await self._stepper.step("over", self._thread)
        while isinstance(outcome, Stop) and not self._stepper.is_over:
            called = self._stepper.function_at(outcome)
            if outcome.reason == "exception" and not (outcome.raised and outcome.raised.uncaught):
                row["note"] = self._error_of(outcome)
                self._error = ""
                outcome = await self._stepper.step("over", outcome.thread_id)
            elif called is not None and not self._is_here(outcome):
                if not self._is_below(outcome):
                    if "await" not in self._line_text(self._line):
                        break  # the call has returned, and the next call begins in the same line
                    self._how = "suspended"
                    return (await self._stepper.through(called, outcome, 0)).outcome
                frame = outcome.frames[0]
                left = await self._stepper.through(called, outcome, self._depth + 1)
                row["calls"].append([_short_name(frame.name, called), left.args, left.value, left.error, 0])
                outcome = left.outcome
                if len(row["calls"]) >= _MOST_CALLS_OF_ROW:
                    await self._stepper.mute([called])
                if isinstance(outcome, Stop) and outcome.reason != "exception":
                    outcome = await self._back(outcome)
            elif outcome.reason == "step" and not self._is_here(outcome) and self._is_below(outcome):
                outcome = await self._back(outcome)  # a step can end in runtime code called by the line
                if isinstance(outcome, Stop) and not self._is_here(outcome):
                    break
            else:
                break
        return outcome

    async def _back(self, outcome: Stop) -> Outcome:
        """From where a called function has returned to: on to the next line of this one."""
        for _ in range(4):
            if self._stepper.function_at(outcome) is not None and not self._is_here(outcome):
                return outcome
            if self._is_here(outcome):
                if outcome.frames[0].line != self._line:
                    return outcome
                return await self._stepper.step("over", self._thread)
            if not self._is_below(outcome):
                return outcome
            stepped = await self._stepper.step("out", outcome.thread_id)
            if not isinstance(stepped, Stop) or stepped.reason == "exception":
                return stepped
            outcome = stepped
        return outcome

    def _is_known(self, path: str) -> bool:
        return any(it in self._known for it in _WORD.findall(path)[:1])

    def _is_here(self, stop: Stop) -> bool:
        frame = stop.frames[0] if stop.frames else None
        if frame is None or stop.reason == "exception" or frame.path != self._function.path:
            return False
        is_same = frame.name == self._frame_name and self._function.has(frame.line)
        if not is_same or self._is_entered_again(stop):
            return False
        if "await" in self._line_text(self._line):
            return self._has_same_arguments(stop)
        return stop.total_frames == self._height

    def _has_same_arguments(self, stop: Stop) -> bool:
        """Behind a wait, another call of the same function may go on."""
        held = {it.name: it.value for it in stop.top_locals.variables if not it.reference} if stop.top_locals else {}
        return all(held.get(name, value) == value for name, value in self._plain_arguments.items())

    def _is_entered_again(self, stop: Stop) -> bool:
        if "breakpoint" not in stop.reason:
            return False
        is_over = self._line == self._function.last or self._is_return(self._line)  # a line may contain two calls
        return is_over or stop.total_frames != self._height

    def _is_below(self, stop: Stop) -> bool:
        """Whether this call is still on the stack, under others."""
        at = stop.total_frames - self._height
        if at > 0:  # by its depth, because a recursion has several frames of this name
            return at >= len(stop.frames) or self._is_own_frame(stop.frames[at])
        return self._function.is_async and any(map(self._is_own_frame, stop.frames[1:]))

    def _is_own_frame(self, frame: FrameInfo) -> bool:
        return frame.name == self._frame_name and frame.path == self._function.path

    def _is_on_stack(self, stop: Stop) -> bool:
        """One that is raised later, by a caller, ends a step out of a call as well."""
        return any(it.path == self._function.path and self._function.has(it.line) for it in stop.frames)

    async def _leave(self, outcome: Outcome) -> None:
        if isinstance(outcome, Stop) and outcome.reason == "exception" and self._is_on_stack(outcome):
            self._how, self._error = "raised", self._error_of(outcome)
        elif outcome is None or (isinstance(outcome, Stop) and outcome.thread_id != self._thread):
            self._how = "running"
        elif self._rows[-1].get("note"):
            self._how, self._error = "raised", self._rows[-1]["note"]
        else:
            self._how = "returned"
            if isinstance(outcome, Stop) and outcome.reason != "exception":
                await self._read_returned(outcome)

    async def _read_returned(self, stop: Stop) -> None:
        names = self._language.returned_names
        held = stop.top_locals.variables if stop.top_locals else ()
        if self._value is not None or self._stepper.function_at(stop) is not None:
            return
        if not self._returns_anything:
            self._value = NOTHING
        elif any(it.name in names for it in held) and self._language.register:
            self._value = (await read_values(self._run.session, stop, (), None, names)).returned
        elif type := self._register_type:
            self._value = await self._evaluated(self._language.register.format(type=type), stop)

    @property
    def _returns_anything(self) -> bool:
        """Without a word for it, the last value of a body may be what it returns."""
        text = self._text.body(self._function) if self._text else "return x"
        found = self._language.returns.finditer(text)
        return self._language.has_last_value or any(it["value"].strip() for it in found)

    async def _evaluate_returned(self, stop: Stop) -> None:
        """The returned expression, if evaluating it changes nothing."""
        if self._text is None or self._language.returned_names & _SAYS_RETURNED:
            return
        found = self._language.returns.search(self._line_text(self._line))
        if found is None and not (self._language.has_last_value and self._is_last_value(self._line)):
            return
        whole = self._text.lines[self._line - 1].partition("//")[0]
        given = whole[found.start("value") : found.end("value")] if found else whole
        parts = split_values(given.strip().rstrip(";").strip())
        if not parts or not all(it and self._language.may_repeat(it) for it in parts):
            return
        shown = [await self._evaluated(it, stop) for it in parts]
        if all(shown):
            self._value = ", ".join(it for it in shown if it)

    @property
    def _register_type(self) -> str:
        """Empty: what it returns does not stand in the register for integers and addresses."""
        language, type = self._language, self._function.type
        if not language.register:
            return ""
        if language.register_types:
            return language.register_types.get(type, "")
        return type if _IN_REGISTER.search(type) else ""

    def _is_last_value(self, line: int) -> bool:
        text = self._line_text(line).strip()
        behind = "".join(self._line_text(it) for it in range(line + 1, self._function.last + 1))
        return behind.strip() in {"}", "end"} and not text.endswith((";", "}"))

    async def _evaluated(self, expression: str, stop: Stop) -> str | None:
        inspection = self._run.session.inspection
        try:
            found = await inspection.evaluate(
                expression, stop.frames[0].id, "watch", timeout_s=EVALUATION_TIMEOUT_S, thread_id=None
            )
        except DragomanError:
            return None
        return shown_value(found.result)

    def _error_of(self, stop: Stop) -> str:
        raised = stop.raised
        if raised is None:
            return stop.description or stop.text or "exception"
        return f"{raised.type}: {raised.message}" if raised.message else raised.type

    async def _read(self, stop: Stop, named: Sequence[str]) -> FrameValues:
        wanted = {*named, "this", "self"}
        return await read_values(self._run.session, stop, wanted, self._seen, self._language.returned_names)

    def _named_at(self, line: int) -> Sequence[str]:
        return _WORD.findall(self._line_text(line))

    def _line_text(self, line: int) -> str:
        return self._text.line(line) if self._text else ""

    def _is_return(self, line: int) -> bool:
        return bool(self._language.returns.search(self._line_text(line)))

    def _is_telling(self, at: int, row: dict[str, Any]) -> bool:
        """Some debuggers stop twice in a line: before what it does, and before it leaves."""
        if row.get("changes") or row["calls"] or row.get("note"):
            return True
        is_again = at > 0 and self._rows[at - 1]["line"] == row["line"]
        return not (is_again or self._is_edge(row["line"]))

    def _is_edge(self, line: int) -> bool:
        """The head of a function, or the brace or word that ends it."""
        function = self._function
        is_end = line == function.last and not re.search(r"\w{4}", self._line_text(line))
        return is_end or (line == function.header and line < function.first)

    async def record(self) -> dict[str, Any]:
        frame = self._stop.frames[0]
        end: dict[str, Any] = {"how": self._how, "line": self._line}
        if self._value is not None and self._how == "returned":
            end["value"] = self._value
        if self._how in {"limit", "running"}:
            end["values"] = [[name, self._seen.shown(name)] for name in self._seen.values][:20]
        if self._error:
            end["error"] = self._error
        lines = self._text.lines if self._text else []
        last = min(self._function.last, self._function.header + _SOURCE_LINES)
        return {
            "lines": len(self._rows), "function": _short_name(frame.name, self._function), "file": frame.path,
            "first": self._function.header, "args": self.args, "rows": self._rows, "end": end, "by_steps": True,
            "source": [[it, lines[it - 1].rstrip()] for it in range(self._function.header, min(last, len(lines)) + 1)],
        }  # fmt: skip


def _short_name(shown: str, function: SourceFunction) -> str:
    return function.qualified if function.name != ANONYMOUS else re.sub(r"^.*/", "", shown) or ANONYMOUS


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
