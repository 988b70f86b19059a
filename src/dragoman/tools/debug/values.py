"""Values of a program as answers carry them: without secrets, visible, and cut where they are long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dragoman.debug.model import Variable
from dragoman.phrases import Phrase, joined, say
from dragoman.redaction import Redactor
from dragoman.tools.debug.answers import VariableAnswer
from dragoman.tools.showing import Cut, escaped, one_line, through

NAME_CHARACTERS = 200
TEXT_CHARACTERS = 120
_EXPRESSION = 1000
# A secret may begin before the cut and end after it.
_LOOK_AHEAD = 4000


def timestamp(at_ns: int) -> str:
    """Whole milliseconds, rounded down: a stamp never lies in the future."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03}Z"


def name(text: str) -> str:
    return one_line(text, NAME_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Values:
    redactor: Redactor

    def value(self, name: str, text: str, most: int) -> Cut:
        near = most + _LOOK_AHEAD
        shown = escaped(self.redactor.value(name, text[:near]))
        return Cut(shown[:most], len(shown) + max(0, len(text) - near))

    def text(self, text: str, most: int) -> str:
        """The beginning of a text."""
        shown = escaped(self.redactor.text(text[: most + _LOOK_AHEAD]))
        return shown if len(shown) <= most else f"{shown[:most]}…"

    def whole(self, text: str) -> str:
        return escaped(self.redactor.text(text))

    def tail(self, text: str, most: int) -> str:
        """The end of a text, which is what matters of an output."""
        shown = escaped(self.redactor.text(text[-most - _LOOK_AHEAD :]))
        return shown if len(shown) <= most else f"…{shown[-most:]}"

    def written(self, value: Any) -> Any:
        """What a file of the workspace holds, as written but for secrets and what cannot be seen."""
        return through(value, lambda name, text: escaped(self.redactor.setting(name, text)))

    def variable(self, variable: Variable, most: int) -> VariableAnswer:
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


def within(variables: Sequence[VariableAnswer], characters: int) -> tuple[list[VariableAnswer], int | None]:
    """Values that share this room, short ones whole, and what the long ones were cut to for it."""
    share = fair_share([len(it.value) for it in variables], characters)
    return [it if share is None else _cut_to(share, it) for it in variables], share


def fair_share(lengths: Iterable[int], room: int) -> int | None:
    """The most that each may have for all to fit; None where they do as they are."""
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


def variable_lines(variables: Iterable[VariableAnswer], most: int = TEXT_CHARACTERS) -> list[Phrase]:
    """`name = value`, each in one line. Groups that an adapter makes up have no value and are left out."""
    return [
        joined("", (f"  {variable.name} = ", _shown(variable, most), _opened_with(variable)))
        for variable in variables
        if variable.value or variable.type
    ]


def _shown(variable: VariableAnswer, most: int) -> str | Phrase:
    whole = variable.length or len(variable.value)
    shown = one_line(variable.value[:most])
    return shown if whole <= most else say("{text}… ({count} chars)", text=shown, count=whole)


def _opened_with(variable: VariableAnswer) -> str:
    return f"  [{variable.variables_reference}]" if variable.variables_reference else ""
