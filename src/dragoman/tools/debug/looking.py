"""The tools that look at a stopped program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.debug.model import Variable
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.phrases import Phrase, say
from dragoman.tools.debug import answers
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.client import client_of, files_of_stacks
from dragoman.tools.debug.places import Places, require_line, require_text
from dragoman.tools.debug.values import Values, fair_share, name, variable_lines, within
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line, source_line
from dragoman.tools.showing import path as shown_path

_FILTERED = 10_000
_VALUE_IN_TEXT = 300
# Of a whole page, so that its size does not follow from what the program holds; more where more was asked for.
_VALUES_IN_ALL = 20_000
_ASKED_IN_ALL = 200_000
_TEXT_IN_ALL = 8_000
_LINE = 500


@dataclass(frozen=True, slots=True)
class LookingTools:
    service: DebugService
    places: Places
    values: Values

    async def scopes(self, caller: Caller, wanted: take.Scopes) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        found = await self.service.scopes(client, session.id, wanted.frame_id, thread_id=wanted.thread_id)
        scopes = [
            answers.ScopeAnswer(
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
        return Outcome(lines, answers.Scopes(session_id=session.id, scopes=scopes, at_frame_id=at))

    async def variables(self, caller: Caller, wanted: take.Variables) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        page, total = await self._page(client, session, wanted)
        asked = "max_chars" in wanted.model_fields_set
        whole = [self.values.variable(variable, wanted.max_chars) for variable in page]
        shown, share = within(whole, _ASKED_IN_ALL if asked else _VALUES_IN_ALL)
        answer = answers.Variables(
            session_id=session.id, variables=shown, start=wanted.start, total=total, values_cut_to=share
        )
        in_text = wanted.max_chars if asked else _in_text(shown)
        return Outcome([*(variable_lines(shown, in_text) or _data(["-"])), *_rest(answer, in_text)], answer)

    async def evaluate(self, caller: Caller, wanted: take.Evaluate) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        found = await self.service.evaluate(
            client,
            session.id,
            wanted.expression,
            frame=wanted.frame_id,
            context=wanted.context,
            within_s=wanted.timeout_s,
            thread_id=wanted.thread_id,
        )
        shown = self.values.value(wanted.expression, found.result, wanted.max_chars)
        answer = answers.Evaluation(
            session_id=session.id,
            result=shown.text,
            type=name(found.type) if found.type is not None else None,
            variables_reference=found.reference,
            truncated=None if shown.is_whole else True,
            length=None if shown.is_whole else shown.length,
            at_frame_id=_lower_frame(session, wanted),
        )
        lines = [*_of_frame(answer.at_frame_id), *_data(_result_lines(answer)), *_cut(answer.length)]
        return Outcome(lines, answer)

    async def set_variable(self, caller: Caller, wanted: take.SetVariable) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        found = await self.service.set_variable(
            client,
            session.id,
            name=wanted.name,
            value=wanted.value,
            reference=wanted.variables_reference or None,
            frame=wanted.frame_id,
        )
        changed = Variable(name=wanted.name, value=found.result, type=found.type, reference=found.reference)
        shown = self.values.variable(changed, wanted.max_chars)
        answer = answers.VariableSet(session_id=session.id, **shown.model_dump(exclude_none=True))
        return Outcome([*variable_lines([shown], _VALUE_IN_TEXT), *_cut(answer.length)], answer)

    async def source(self, caller: Caller, wanted: take.GetSource) -> Outcome:
        named = files_of_stacks(self.service, client_of(caller))
        path, found = await self.places.read(wanted.file_path, caller.workspace, named)
        lines = require_text(found)
        require_line(wanted.line, lines)
        shown = [self.values.text(it, _LINE) for it in lines[wanted.line - 1 : wanted.line - 1 + wanted.count]]
        answer = answers.SourceText(file_path=shown_path(path), start=wanted.line, lines=shown, total_lines=len(lines))
        numbered = [f"{number:6}  {source_line(it)}" for number, it in enumerate(shown, wanted.line)]
        return Outcome(_data(numbered), answer)

    async def _page(
        self, client: Client, session: Session, wanted: take.Variables
    ) -> tuple[tuple[Variable, ...], int | None]:
        """One page, and how many there are where that can be known."""
        reference = wanted.variables_reference
        if wanted.filter:
            every = await self.service.page(client, session.id, reference, start=0, count=_FILTERED)
            matching, total = _matching(every.variables, wanted)
            return matching, total if every.total == len(every.variables) else None
        page = await self.service.page(client, session.id, reference, start=wanted.start, count=wanted.count)
        return page.variables, page.total


def _matching(found: tuple[Variable, ...], wanted: take.Variables) -> tuple[tuple[Variable, ...], int]:
    word = wanted.filter.casefold()
    matching = tuple(variable for variable in found if word in variable.name.casefold())
    return matching[wanted.start : wanted.start + wanted.count], len(matching)


def _in_text(shown: Sequence[answers.VariableAnswer]) -> int:
    share = fair_share([min(len(it.value), _VALUE_IN_TEXT) for it in shown], _TEXT_IN_ALL)
    return _VALUE_IN_TEXT if share is None else share


def _lower_frame(session: Session, wanted: take.Scopes | take.Evaluate) -> int | None:
    """The frame that was looked at unasked, where that is not the top of the stack."""
    stop = session.stop
    is_default = wanted.frame_id is None and (wanted.thread_id is None or (stop and wanted.thread_id == stop.thread_id))
    return stop.frame.id if is_default and stop and stop.at and stop.frame else None


def _of_frame(id: int | None) -> list[Phrase]:
    return [] if id is None else [say("frame: {id}", id=id)]


def _scope_line(scope: answers.ScopeAnswer) -> Phrase:
    line = f"  {scope.name} [{scope.variables_reference}]"
    return say("{scope} expensive", scope=line) if scope.expensive else say("{text}", text=line)


def _data(lines: list[str]) -> list[Phrase]:
    return [say("{text}", text=line) for line in lines]


def _rest(answer: answers.Variables, in_text: int) -> list[Phrase]:
    lines = []
    after = answer.start + len(answer.variables)
    if answer.total is None:
        lines.append(say("There may be more: start={start}.", start=after))
    elif answer.total > after:
        lines.append(say("{start} of {total}; more: start={start}.", start=after, total=answer.total))
    if answer.values_cut_to is not None:
        lines.append(
            say(
                "Values are cut to {length} characters, so that all of them fit; a smaller count shows more of each.",
                length=answer.values_cut_to,
            )
        )
    elif in_text < take.MOST_CHARACTERS and any((it.length or len(it.value)) > in_text for it in answer.variables):
        lines.append(say("Values are cut; max_chars shows more of them."))
    return lines


def _result_lines(answer: answers.Evaluation) -> list[str]:
    """Behind bars when it has several lines, so that none can pass for one of ours."""
    lines = answer.result.splitlines() or [""]
    opened = f"  [{answer.variables_reference}]" if answer.variables_reference else ""
    type_ = f"{answer.type}: " if answer.type else ""
    if len(lines) == 1:
        return [f"= {type_}{one_line(lines[0])}{opened}"]
    return [f"= {type_}{opened}".rstrip(), *(f"  | {one_line(line)}" for line in lines)]


def _cut(length: int | None) -> list[Phrase]:
    if length is None:
        return []
    return [
        say(
            "Cut: the debugger sent {length} characters; max_chars shows more, a smaller expression less.",
            length=length,
        )
    ]
