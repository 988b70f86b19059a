"""Values of a program as results carry them: without secrets, with invisible characters escaped, and cut if long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dragoman.core.localization import LocalizedText, join_texts, localize
from dragoman.core.redaction import Redactor
from dragoman.debug.model import VariableInfo
from dragoman.tools.agent_text import TruncatedText, escaped, map_strings, one_line
from dragoman.tools.debug.results import VariableAnswer

NAME_CHARACTERS = 200
TEXT_CHARACTERS = 120
_EXPRESSION = 1000
# A secret may begin before the cut and end after it.
_LOOK_AHEAD = 4000


def timestamp(at_ns: int) -> str:
    """Whole milliseconds, rounded down, so that a timestamp is never in the future."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03}Z"


def name(text: str) -> str:
    return one_line(text, NAME_CHARACTERS)


@dataclass(frozen=True, slots=True)
class ValueFormatter:
    """Redacts, escapes and shortens the values and texts of a program."""

    redactor: Redactor

    def value(self, name: str, text: str, most: int) -> TruncatedText:
        near = most + _LOOK_AHEAD
        shown = escaped(self.redactor.value(name, text[:near]))
        return TruncatedText(shown[:most], len(shown) + max(0, len(text) - near))

    def text(self, text: str, most: int) -> str:
        """The beginning of a text."""
        shown = escaped(self.redactor.text(text[: most + _LOOK_AHEAD]))
        return shown if len(shown) <= most else f"{shown[:most]}…"

    def whole(self, text: str) -> str:
        return escaped(self.redactor.text(text))

    def tail(self, text: str, most: int) -> str:
        """The end of a text, which is the important part of an output."""
        shown = escaped(self.redactor.text(text[-most - _LOOK_AHEAD :]))
        return shown if len(shown) <= most else f"…{shown[-most:]}"

    def written(self, value: Any) -> Any:
        """Text of a workspace file, unchanged except for secrets and invisible characters."""
        return map_strings(value, lambda name, text: escaped(self.redactor.setting(name, text)))

    def variable(self, variable: VariableInfo, most: int) -> VariableAnswer:
        shown = self.value(variable.name, variable.value, most)
        return VariableAnswer(
            name=name(variable.name),
            value=shown.text,
            type=name(variable.type) if variable.type is not None else None,
            variables_reference=variable.reference,
            evaluate_name=_expression(variable.evaluate_name),
            memory_reference=_expression(variable.memory_reference),
            truncated=None if shown.is_whole else True,
            length=None if shown.is_whole else shown.length,
        )


def share_characters(variables: Sequence[VariableAnswer], characters: int) -> tuple[list[VariableAnswer], int | None]:
    """Cut long values so that all fit into the limit; short ones stay whole. Also returns the length of the cut
    ones.
    """
    share = fair_share([len(it.value) for it in variables], characters)
    return [it if share is None else _cut_to(share, it) for it in variables], share


def fair_share(lengths: Iterable[int], room: int) -> int | None:
    """The length limit per value that makes all fit; None if they fit without one."""
    left = sorted(lengths, reverse=True)
    while left:
        if left[-1] * len(left) > room:
            return room // len(left)
        room -= left.pop()
    return None


def _cut_to(most: int, variable: VariableAnswer) -> VariableAnswer:
    if len(variable.value) <= most:
        return variable
    length = variable.length or len(variable.value)
    return variable.model_copy(update={"value": variable.value[:most], "truncated": True, "length": length})


def _expression(text: str | None) -> str | None:
    return None if text is None else one_line(text, _EXPRESSION)


def variable_lines(variables: Iterable[VariableAnswer], most: int = TEXT_CHARACTERS) -> list[LocalizedText]:
    """`name = value`, one line each. Groups of an adapter have no value and are left out."""
    return [
        join_texts("", (f"  {variable.name} = ", _shown(variable, most), reference_text(variable)))
        for variable in variables
        if variable.value or variable.type
    ]


def _shown(variable: VariableAnswer, most: int) -> str | LocalizedText:
    whole = variable.length or len(variable.value)
    shown = one_line(variable.value[:most])
    return shown if whole <= most else localize("{text}… ({count} chars)", text=shown, count=whole)


def reference_text(variable: VariableAnswer) -> str:
    return f"  [{variable.variables_reference}]" if variable.variables_reference else ""
