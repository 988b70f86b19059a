"""The tools that inspect a stopped program: scopes, variables, expressions and source lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.model import VariableInfo
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.tools.agent_text import one_line, source_line
from dragoman.tools.agent_text import path as shown_path
from dragoman.tools.debug import parameters as params
from dragoman.tools.debug import results
from dragoman.tools.debug.parameters import (
    DEFAULT_COUNT,
    VALUE_CHARACTERS,
    Characters,
    FilePath,
    FrameId,
    LineNumber,
    Number,
    SessionParameters,
    ThreadId,
)
from dragoman.tools.debug.results import OmitNone, SuccessResult, VariableAnswer
from dragoman.tools.debug.session_lookup import stack_files
from dragoman.tools.debug.source_locations import SourceLocations, require_line, require_text
from dragoman.tools.debug.values import ValueFormatter, fair_share, name, share_characters, variable_lines
from dragoman.tools.json_schema import MIN_SECONDS, Maybe
from dragoman.tools.tool import RUNS_CODE, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_FILTERED = 10_000
_VALUE_IN_TEXT = 300
# For a whole page, so that its size does not depend on the program's data; larger if the call asks for more.
_VALUES_IN_ALL = 20_000
_ASKED_IN_ALL = 200_000
_TEXT_IN_ALL = 8_000
_LINE = 500


class ScopesParameters(SessionParameters):
    thread_id: ThreadId = None
    frame_id: FrameId = None


class VariablesParameters(SessionParameters):
    variables_reference: Annotated[Number, Field(ge=1)]
    start: Annotated[int, Field(ge=0, le=2**31)] = 0
    count: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_COUNT
    filter: Annotated[str, Field(max_length=200, description="Only names that contain this.")] = ""
    max_chars: Characters = VALUE_CHARACTERS


class EvaluateParameters(SessionParameters):
    expression: Annotated[str, Field(min_length=1, max_length=100_000)]
    thread_id: ThreadId = None
    frame_id: FrameId = None
    context: Literal["watch", "repl", "hover", "clipboard"] = "repl"
    timeout_s: Annotated[float, Field(ge=MIN_SECONDS, le=300)] = 15.0
    max_chars: Characters = VALUE_CHARACTERS


class SetVariableParameters(SessionParameters):
    name: Annotated[str, Field(min_length=1, max_length=1000)]
    value: Annotated[str, Field(min_length=1, max_length=100_000, description="In the program's language.")]
    variables_reference: Annotated[
        Maybe[Number], Field(description="Reference of its container. Default: the frame.")
    ] = None
    frame_id: FrameId = None
    max_chars: Characters = VALUE_CHARACTERS


class SourceParameters(Parameters):
    file_path: FilePath
    line: Annotated[LineNumber, Field(description="First line.")] = 1
    count: Annotated[int, Field(ge=1, le=400)] = 60


class ScopeAnswer(Result):
    name: str
    variables_reference: int
    expensive: bool
    named_variables: OmitNone[int] = None
    indexed_variables: OmitNone[int] = None


class ScopesResult(SuccessResult):
    """`at_frame_id`: the frame that was used, if none was given and it is not the top one. Also in an evaluation."""

    session_id: str
    scopes: list[ScopeAnswer]
    at_frame_id: OmitNone[int] = None


class VariablesResult(SuccessResult):
    """`total` is null if the debugger does not report it; `values_cut_to` is present if long values were cut to fit."""

    session_id: str
    variables: list[VariableAnswer]
    start: int
    total: int | None
    values_cut_to: OmitNone[int] = None


class EvaluationResult(SuccessResult):
    session_id: str
    result: str
    type: OmitNone[str] = None
    variables_reference: int
    truncated: OmitNone[Literal[True]] = None
    length: OmitNone[int] = None
    at_frame_id: OmitNone[int] = None


class SetVariableResult(SuccessResult):
    """`value` is the new value as the debugger shows it."""

    session_id: str
    name: str
    value: str
    type: OmitNone[str] = None
    variables_reference: int
    truncated: OmitNone[Literal[True]] = None
    length: OmitNone[int] = None


class SourceResult(SuccessResult):
    file_path: str
    start: int
    lines: list[str]
    total_lines: int


@dataclass(frozen=True, slots=True)
class InspectionTools:
    service: DebugService
    locations: SourceLocations
    values: ValueFormatter

    @tool(
        "get_scopes",
        "Scopes of a frame",
        "Use for what a stop leaves out of a frame: its locals, globals and closures, as scopes for get_variables.",
        ScopesParameters,
        ScopesResult,
    )
    async def scopes(self, caller: Caller, wanted: ScopesParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        found = await session.inspection.scopes(wanted.frame_id, wanted.thread_id)
        scopes = [
            ScopeAnswer(
                name=name(scope.name),
                variables_reference=scope.reference,
                expensive=scope.expensive,
                named_variables=scope.named,
                indexed_variables=scope.indexed,
            )
            for scope in found
        ]
        at = _lower_frame(session, wanted)
        lines = [*_of_frame(at), *(map(_scope_line, scopes) if scopes else _data(["-"]))]
        return ToolOutcome(lines, ScopesResult(session_id=session.id, scopes=scopes, at_frame_id=at))

    @tool(
        "get_variables",
        "Variables",
        "List the variables of a scope, or the members of a variable, by variables_reference.",
        VariablesParameters,
        VariablesResult,
    )
    async def variables(self, caller: Caller, wanted: VariablesParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        page, total = await self._variables_page(session, wanted)
        asked = "max_chars" in wanted.model_fields_set
        whole = [self.values.variable(variable, wanted.max_chars) for variable in page]
        shown, share = share_characters(whole, _ASKED_IN_ALL if asked else _VALUES_IN_ALL)
        answer = VariablesResult(
            session_id=session.id, variables=shown, start=wanted.start, total=total, values_cut_to=share
        )
        in_text = wanted.max_chars if asked else _in_text(shown)
        return ToolOutcome([*(variable_lines(shown, in_text) or _data(["-"])), *_rest(answer, in_text)], answer)

    @tool(
        "evaluate_expression",
        "Evaluate",
        "Evaluate an expression in a frame while stopped. It can change the program.",
        EvaluateParameters,
        EvaluationResult,
        RUNS_CODE,
    )
    async def evaluate(self, caller: Caller, wanted: EvaluateParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        found = await self.service.evaluate(
            caller,
            session.id,
            wanted.expression,
            frame=wanted.frame_id,
            context=wanted.context,
            within_s=wanted.timeout_s,
            thread_id=wanted.thread_id,
        )
        shown = self.values.value(wanted.expression, found.result, wanted.max_chars)
        answer = EvaluationResult(
            session_id=session.id,
            result=shown.text,
            type=name(found.type) if found.type is not None else None,
            variables_reference=found.reference,
            truncated=None if shown.is_whole else True,
            length=None if shown.is_whole else shown.length,
            at_frame_id=_lower_frame(session, wanted),
        )
        lines = [*_of_frame(answer.at_frame_id), *_data(_result_lines(answer)), *_cut(answer.length)]
        return ToolOutcome(lines, answer)

    @tool(
        "set_variable",
        "Set a variable",
        "Change a variable while stopped; the program continues with the new value.",
        SetVariableParameters,
        SetVariableResult,
        RUNS_CODE,
    )
    async def set_variable(self, caller: Caller, wanted: SetVariableParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        found = await self.service.set_variable(
            caller,
            session.id,
            name=wanted.name,
            value=wanted.value,
            reference=wanted.variables_reference or None,
            frame=wanted.frame_id,
        )
        changed = VariableInfo(name=wanted.name, value=found.result, type=found.type, reference=found.reference)
        shown = self.values.variable(changed, wanted.max_chars)
        answer = SetVariableResult(session_id=session.id, **shown.model_dump(exclude_none=True))
        return ToolOutcome([*variable_lines([shown], _VALUE_IN_TEXT), *_cut(answer.length)], answer)

    @tool(
        "get_source",
        "Source lines",
        "Read lines of a workspace file, or of a file in a stopped program's call stack.",
        SourceParameters,
        SourceResult,
    )
    async def source(self, caller: Caller, wanted: SourceParameters) -> ToolOutcome:
        named = stack_files(self.service, caller)
        path, found = await self.locations.read(wanted.file_path, caller.workspace, named)
        lines = require_text(found)
        require_line(wanted.line, lines)
        shown = [self.values.text(it, _LINE) for it in lines[wanted.line - 1 : wanted.line - 1 + wanted.count]]
        answer = SourceResult(file_path=shown_path(path), start=wanted.line, lines=shown, total_lines=len(lines))
        numbered = [f"{number:6}  {source_line(it)}" for number, it in enumerate(shown, wanted.line)]
        return ToolOutcome(_data(numbered), answer)

    async def _variables_page(
        self, session: DebugSession, wanted: VariablesParameters
    ) -> tuple[tuple[VariableInfo, ...], int | None]:
        """One page, and the total number if it is known."""
        reference = wanted.variables_reference
        if wanted.filter:
            every = await session.inspection.page(reference, start=0, count=_FILTERED)
            matching, total = _matching(every.variables, wanted)
            return matching, total if every.total == len(every.variables) else None
        page = await session.inspection.page(reference, start=wanted.start, count=wanted.count)
        return page.variables, page.total


def _matching(found: tuple[VariableInfo, ...], wanted: VariablesParameters) -> tuple[tuple[VariableInfo, ...], int]:
    word = wanted.filter.casefold()
    matching = tuple(variable for variable in found if word in variable.name.casefold())
    return matching[wanted.start : wanted.start + wanted.count], len(matching)


def _in_text(shown: Sequence[results.VariableAnswer]) -> int:
    share = fair_share([min(len(it.value), _VALUE_IN_TEXT) for it in shown], _TEXT_IN_ALL)
    return _VALUE_IN_TEXT if share is None else share


def _lower_frame(session: DebugSession, wanted: ScopesParameters | EvaluateParameters) -> int | None:
    """The frame that was used by default, if it is not the top of the stack."""
    stop = session.stop
    is_default = wanted.frame_id is None and (wanted.thread_id is None or (stop and wanted.thread_id == stop.thread_id))
    return stop.frame.id if is_default and stop and stop.at and stop.frame else None


def _of_frame(id: int | None) -> list[LocalizedText]:
    return [] if id is None else [localize("frame: {id}", id=id)]


def _scope_line(scope: ScopeAnswer) -> LocalizedText:
    line = f"  {scope.name} [{scope.variables_reference}]"
    return localize("{scope} expensive", scope=line) if scope.expensive else localize("{text}", text=line)


def _data(lines: list[str]) -> list[LocalizedText]:
    return [localize("{text}", text=line) for line in lines]


def _rest(answer: VariablesResult, in_text: int) -> list[LocalizedText]:
    lines = []
    after = answer.start + len(answer.variables)
    if answer.total is None:
        lines.append(localize("There may be more: start={start}.", start=after))
    elif answer.total > after:
        lines.append(localize("{start} of {total}; more: start={start}.", start=after, total=answer.total))
    if answer.values_cut_to is not None:
        lines.append(
            localize(
                "Values are truncated to {length} characters; a smaller count shows more of each.",
                length=answer.values_cut_to,
            )
        )
    elif in_text < params.MAX_VALUE_CHARACTERS and any(
        (it.length or len(it.value)) > in_text for it in answer.variables
    ):
        lines.append(localize("Values are truncated; raise max_chars to see more."))
    return lines


def _result_lines(answer: EvaluationResult) -> list[str]:
    """The result. Several lines are marked with bars, so that none looks like one of Dragoman's."""
    lines = answer.result.splitlines() or [""]
    opened = f"  [{answer.variables_reference}]" if answer.variables_reference else ""
    type_ = f"{answer.type}: " if answer.type else ""
    if len(lines) == 1:
        return [f"= {type_}{one_line(lines[0])}{opened}"]
    return [f"= {type_}{opened}".rstrip(), *(f"  | {one_line(line)}" for line in lines)]


def _cut(length: int | None) -> list[LocalizedText]:
    if length is None:
        return []
    return [
        localize(
            "Truncated: the debugger sent {length} characters. Raise max_chars, or narrow the expression.",
            length=length,
        )
    ]
