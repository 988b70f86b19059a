"""The tool `trace_call`: one call of one function, whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug import source_files
from dragoman.debug.evidence.calls.call_text import call_lines
from dragoman.debug.evidence.calls.trace_call import CallQuery, TracedCall, step_through_call, trace_call
from dragoman.debug.evidence.expressions import impure_expressions
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_functions import SourceFunction
from dragoman.debug.evidence.stepping.source_languages import language_of_file
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.debug.results import OmitNone
from dragoman.tools.debug.session_lookup import stack_files
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.debug.values import ValueFormatter, name
from dragoman.tools.evidence.context import EvidenceContext
from dragoman.tools.evidence.function_names import FunctionNames, read_function_name
from dragoman.tools.evidence.schema import EvidenceResult, Seconds
from dragoman.tools.evidence.target import RunTargetParameters, evidence_source
from dragoman.tools.tool import RUNS_CODE, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_PARTS = re.compile(r"[^\s.\[\]'\"+]+")
CALL_CHARACTERS = 2900
_VALUE = 400
_LINE = 160
_ERROR = 400
_CLOSING_LINES = 6
MOST_CHARACTERS = 4000
# As many as the tracer writes. The file is the program's to spoil, and to redact costs time.
_ROWS = 400
_ENTRIES = 60
_COUNTS = (
    "calls",
    "deepest",
    "other_threads",
    "untraced_threads",
    "all_cut",
    "open_cut",
    "call",
    "lines",
    "yields",
    "first",
    "most_steps",
    "most_seconds",
    "newest_passed",
    "counted_to",
)
_CALL = re.compile(r"outermost|last|failing|[1-9]\d{0,8}")

# The words of `call_text`, which knows no catalogue because it runs elsewhere too. Its values come later.
_TEXTS = {
    it.template: it
    for it in (
        localize("No such call: the function was called {count} times.", count=""),
        localize("The function was never called."),
        localize("The function was not called in the threads that are traced."),
        localize("Not traced, because they ran before or began without `threading`: {count} threads", count=""),
        localize("`where` failed: {error}", error=""),
        localize("call {number} of {count}", number="", count=""),
        localize("call {number}", number=""),
        localize("arguments: {values}", values=""),
        localize("closure: {values}", values=""),
        localize("… {count} more steps in lines {lines}", count="", lines=""),
        localize(", {count} calls", count=""),
        localize("; after them {values}", values=""),
        localize("… {count} more calls", count=""),
        localize("{count} values, last {value}", count="", value=""),
        localize("yielded {count} values", count=""),
        localize("returned {value}", value=""),
        localize("raised {error} at line {line}", error="", line=""),
        localize("RecursionError: the stack overflowed, and Python ended tracing there"),
        localize("suspended at line {line}, and not resumed", line=""),
        localize("still running at line {line} ({count} lines so far)", line="", count=""),
        localize("calls in the order they ended (deepest: {depth}):", depth=""),
        localize("calls in the order they began (deepest: {depth}):", depth=""),
        localize("yields {value}", value=""),
        localize(" ({count} times)", count=""),
        localize("  … {count} more calls", count=""),
        localize("calls that had not ended (deepest: {depth}):", depth=""),
        localize("cycle: {names}", names=""),
        localize("No call was on the stack when the run failed; this is the last one."),
        localize("Before Python 3.13, tracing refreshes the dictionary that `locals()` returned in this function."),
        localize("{count} calls in other threads", count=""),
        localize("No call was recorded."),
        localize("returned; this debugger does not say what"),
        localize("The function was called {count} times, and none was reached.", count=""),
        localize("The function was not called within the time limit."),
        localize("Single steps end after {steps} steps or {seconds} s in all.", steps="", seconds=""),
        localize("Not the last call: call {number} came later, and was not stepped through.", number=""),
        localize("Only the first {count} calls were counted.", count=""),
    )
}

CallEnd = Literal["returned", "raised", "suspended", "running", "not called"]
_ENDS: Mapping[str, CallEnd] = {
    "returned": "returned",
    "raised": "raised",
    "suspended": "suspended",
    "running": "running",
    "limit": "running",
}


class TraceCallParameters(RunTargetParameters):
    function: Annotated[str, Field(min_length=1, max_length=1000, description="total, Cart.total or shop/cart.py:12.")]
    call: Annotated[str, Field(max_length=20, description="outermost, last, failing or a number.")] = "outermost"
    where: Annotated[str, Field(max_length=2000, description="Or the first call where this holds.")] = ""
    timeout_s: Seconds = 60.0


class TraceCallResult(EvidenceResult):
    """`text`: source, arguments, then a row per executed line with what it changed and called, and the result."""

    call_ended: CallEnd
    calls: int
    text: str
    place: OmitNone[str] = None
    call: OmitNone[int] = None
    lines: OmitNone[int] = None
    value: OmitNone[str] = None
    error: OmitNone[str] = None


@dataclass(frozen=True, slots=True)
class TraceCallTool:
    context: EvidenceContext

    @tool(
        "trace_call",
        "Trace one call",
        (
            "Use to see why a function returns what it does: one call whole, its arguments, each executed line "
            "with what it changed and called, its result or exception."
        ),
        TraceCallParameters,
        TraceCallResult,
        RUNS_CODE,
    )
    async def trace_call(self, caller: Caller, wanted: TraceCallParameters) -> ToolOutcome:
        subject = evidence_source(caller, wanted)
        search = FunctionSearch(caller.workspace)
        query, functions = await self._meant(caller, wanted, search)

        async def act() -> TracedCall:
            evidence, seconds = self.context.evidence, wanted.timeout_s
            if functions is None:
                return await trace_call(evidence, caller, subject, query, seconds)
            return await step_through_call(evidence, caller, subject, query, functions, search, seconds)

        traced = await self.context.wait_for_run(caller, "trace_call", wanted.timeout_s, act)
        record = RecordRedactor(self.context.values).redacted(traced.record, caller.workspace)
        if traced.end.how == "limit":
            record["is_unfinished"] = True
        lines = record_lines(caller, record, CALL_CHARACTERS)
        answer = self._answer(caller, wanted, traced, record, lines)
        place = answer.place or wanted.function
        self.context.evidence.service.record_trace(caller, traced.ran_as, place, answer.text)
        closing = self.context.closing_lines(answer)[:_CLOSING_LINES]
        shown = [*(localize("{text}", text=line) for line in lines), *closing]
        drawn = {"record": record} if "function" in record else None
        return ToolOutcome(lines_within(shown, caller, MOST_CHARACTERS), answer, page_data=drawn)

    async def _meant(
        self, caller: Caller, wanted: TraceCallParameters, search: FunctionSearch
    ) -> tuple[CallQuery, list[SourceFunction] | None]:
        """The function, and those with its name for debuggers that step through them; None: a tracer finds it."""
        if not _CALL.fullmatch(wanted.call):
            raise DragomanError("bad_arguments", localize("`call` is outermost, last, failing or a number from 1."))
        name = read_function_name(wanted.function)
        finder = self.context.finder
        names, named = FunctionNames(finder.locations), stack_files(finder.service, caller)
        suffix = PurePath(name.file or wanted.program).suffix
        language = language_of_file(name.file or wanted.program)
        is_python: bool | None = suffix in source_files.PYTHON
        if not is_python and language is None:
            is_python = await finder.is_python(caller, wanted, "")
        if is_python and not wanted.session_id:  # the files of a session may be on another machine
            name = await names.python(caller, name, named, wanted.program)
        query = CallQuery(name.name, name.file, name.line, wanted.call, wanted.where)
        if is_python:
            return query, None
        suffixes = language.suffixes if language else frozenset[str]()
        if name.line:
            path, line = await finder.locations.resolve_line(name.file, caller.workspace, named, name.line, "")
            function = await search.around(path, line)
            found = [function] if function else []
        else:
            found = await names.stepped(name, search, suffixes)
        if not found and is_python is False:
            raise await names.missing(name, search, suffixes)
        return query, found or None

    def _answer(
        self,
        caller: Caller,
        wanted: TraceCallParameters,
        traced: TracedCall,
        record: Mapping[str, Any],
        lines: Sequence[str],
    ) -> TraceCallResult:
        end = record.get("end", {})
        ended = self.context.ends.data(caller, traced.end).model_copy(update={"frames": None})
        return TraceCallResult(
            status="success",
            call_ended=_ENDS.get(str(end.get("how")), "not called"),
            calls=int(record.get("calls", 0)),
            text="\n".join(lines),
            place=f"{record['file']}:{record['first']}" if "function" in record else None,
            call=record.get("call"),
            lines=record.get("lines"),
            value=end.get("value"),
            error=end.get("error"),
            ended=ended,
            session_id=traced.session_id or None,
            state=traced.state or None,
            side_effects=[escaped(it) for it in impure_expressions([wanted.where])] or None if wanted.where else None,
        )


def record_lines(caller: Caller, record: dict[str, Any], characters: int) -> list[str]:
    """A redacted record as text, in the caller's language."""
    return call_lines(record, translator(caller), characters)


def lines_within(lines: Sequence[LocalizedText], caller: Caller, characters: int) -> list[LocalizedText]:
    """The first lines that fit; the last of them is cut."""
    shown: list[LocalizedText] = []
    left = characters
    for line in lines:
        text = line.in_language(caller.language)
        if len(text) + 1 > left:
            return [*shown, localize("{text}", text=f"{text[: max(0, left - 2)]}…")]
        shown.append(line)
        left -= len(text) + 1
    return shown


def translator(caller: Caller) -> Callable[..., str]:
    def translate(template: str, **values: object) -> str:
        return replace(_TEXTS[template], values=values).in_language(caller.language)

    return translate


@dataclass(frozen=True, slots=True)
class RecordRedactor:
    """What a program recorded, without secrets and without characters that could pass for our own lines."""

    values: ValueFormatter

    def redacted(self, record: Mapping[str, Any], workspace: Path) -> dict[str, Any]:
        try:
            return self._record(record, workspace)
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
            IndexError,
            OverflowError,
            RecursionError,
        ):  # the program may write what it likes
            return {}

    def _record(self, record: Mapping[str, Any], workspace: Path) -> dict[str, Any]:
        found = {key: int(record[key]) for key in _COUNTS if key in record}
        data: dict[str, Any] = dict(found)
        data |= {
            key: True for key in ("uncounted", "lost", "not_failing", "by_steps", "locals_changed") if record.get(key)
        }
        if record.get("where_error"):
            data["where_error"] = self._text(record["where_error"])
        if "function" not in record:
            return data
        _ = data["call"], data["first"], data["lines"]  # what is a call has them
        data |= {
            "function": name(str(record["function"])),
            "file": short_path(str(record["file"]), workspace),
            "source": [
                [int(number), self.values.text(str(text), _LINE)] for number, text in _first(record.get("source"))
            ],
            "args": self._pairs(record.get("args")),
            "outer": self._pairs(record.get("outer")),
            "rows": [self._row(it, str(record["function"]), workspace) for it in _first(record.get("rows"))],
            "end": self._end(record["end"], str(record["function"])),
            "cycle": [name(str(it)) for it in _first(record.get("cycle"), _ENTRIES)],
        }
        data |= {
            key: [self._listed(it, str(record["function"])) for it in _first(record.get(key), _ENTRIES)]
            for key in ("all", "all_last", "open")
        }
        return data

    def _text(self, text: Any) -> str:
        return one_line(self.values.text(str(text), _LINE), _LINE) if str(text).strip() else ""

    def _value(self, path: Any, text: Any) -> str:
        """In a path such as `user.password[0]` or `env['TOKEN']` any part may be the name of a secret."""
        plain = self.values.value("", str(text), _VALUE).text
        named = (self.values.value(part, str(text), _VALUE).text for part in _PARTS.findall(str(path)))
        return next((it for it in named if it != plain), plain)

    def _pairs(self, pairs: Any) -> list[list[str]]:
        return [[one_line(str(path), 80), self._value(path, text)] for path, text in _first(pairs, _ENTRIES)]

    def _row(self, row: Mapping[str, Any], function: str, workspace: Path) -> dict[str, Any]:
        data: dict[str, Any] = {"changes": self._pairs(row.get("changes"))}
        if "gap" in row:
            low, high = row["lines"]
            return data | {"gap": int(row["gap"]), "lines": [int(low), int(high)], "calls": int(row.get("calls", 0))}
        data |= {
            "line": int(row["line"]),
            "calls": [self._called(it, workspace) for it in _first(row.get("calls"), _ENTRIES)],
        }
        data |= {"more_calls": int(row.get("more_calls", 0)), "new": bool(row.get("new"))}
        if row.get("yielded"):
            data["yielded"] = [self._value(function, it) for it in _first(row["yielded"], _ENTRIES)]
        return data | ({"note": self._text(row["note"])} if row.get("note") else {})

    def _called(self, call: Sequence[Any], workspace: Path) -> list[Any]:
        function, args, result, error, yields, *place = call
        shown = None if result is None else self._value(function, result)
        called = [name(str(function)), self._pairs(args), shown, self._text(error), int(yields)]
        return [*called, short_path(str(place[0]), workspace), int(place[1])] if place else called

    def _listed(self, entry: Sequence[Any], function: str) -> list[Any]:
        number, depth, args, result, error = entry
        shown = None if result is None else self._value(function, result)
        return [int(number), int(depth), self._pairs(args), shown, self._text(error)]

    def _end(self, end: Mapping[str, Any], function: str) -> dict[str, Any]:
        data: dict[str, Any] = {"how": str(end["how"]), "line": int(end["line"])}
        if "value" in end:
            data["value"] = self._value(function, end["value"])
        if end.get("error"):
            data["error"] = self.values.text(str(end["error"]), _ERROR)
        return data | ({"values": self._pairs(end["values"])} if "values" in end else {})


def _first(held: Any, most: int = _ROWS) -> list[Any]:
    return list(islice(held or (), most))
