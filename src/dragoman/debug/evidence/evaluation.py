"""How each debugger evaluates several expressions in one request. Other debuggers are asked for one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dragoman.debug.evidence import javascript_evaluation, python_evaluation
from dragoman.debug.evidence.tracepoints import Cell, Tracepoint, WrittenRecord


@dataclass(frozen=True, slots=True)
class BatchEvaluation:
    """Several expressions evaluated in one request."""

    build_query: Callable[[Sequence[str]], str]
    parse_result: Callable[[str], list[Cell]]
    context: str = "watch"


@dataclass(frozen=True, slots=True)
class LocatedEvaluation:
    """One request that finds the tracepoint at which the thread is, and the values there."""

    build_query: Callable[[Sequence[tuple[str, int, Sequence[str]]]], str]
    parse_result: Callable[[str], tuple[int, int, list[Cell]] | None]


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Conditions that write rows to a file. That costs a program less than a stop."""

    condition: Callable[..., str]
    written: Callable[[str], WrittenRecord]


@dataclass(frozen=True, slots=True)
class EvidenceLanguage:
    """How the debugger of one language is asked for evidence."""

    combination: BatchEvaluation | None = None
    writing: RowCondition | None = None
    standing: LocatedEvaluation | None = None
    truth: str = "{claim}"
    """An expression that is shown as true or false for a claim."""

    def expressions_at(self, point: Tracepoint) -> tuple[str, ...]:
        claim = (self.truth.format(claim=point.claim),) if point.claim else ()
        return (*claim, *point.expressions)


_FALSE = re.compile(r"(?i)(?:\(\w+\) *)?(?:false|0|0x0+|-?0\.0+|nil|null|none|undefined|'\\(?:0|x00)')")


def is_true(cell: Cell) -> bool:
    """As debuggers show it, in the languages that say it by words and in those that say it by numbers."""
    return not cell.failed and not _FALSE.fullmatch(cell.text.strip())


_BY_ADAPTER: Mapping[str, EvidenceLanguage] = {
    "debugpy": EvidenceLanguage(
        BatchEvaluation(python_evaluation.build_query, python_evaluation.parse_result),
        RowCondition(python_evaluation.build_row_condition, python_evaluation.parse_row),
        LocatedEvaluation(python_evaluation.build_location_query, python_evaluation.parse_location_result),
        truth="bool({claim})",
    ),
    # No conditions: js-debug evaluates them again if an exception is thrown at their line, and resumes the program.
    "pwa-node": EvidenceLanguage(
        BatchEvaluation(javascript_evaluation.build_query, javascript_evaluation.parse_result), truth="!!({claim})"
    ),
}
_OTHER_LANGUAGE = EvidenceLanguage()


def language_of(adapter_id: str) -> EvidenceLanguage:
    return _BY_ADAPTER.get(adapter_id, _OTHER_LANGUAGE)
