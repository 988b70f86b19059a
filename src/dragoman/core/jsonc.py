"""JSON with comments and trailing commas, parsed without losing the position of anything.

Comments and trailing commas become spaces of the same length. What is left is strict JSON in which every position is
a position of the original, so the standard decoder can parse it and report line and column. Standard library alone:
the command line edits such files, the daemon reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

# An unclosed string or comment runs to the end: searching its end from every later position would take quadratic time,
# and these files come from strangers.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?|//[^\r\n]*|/\*.*?\*/|/\*.*|\s+|[^\s"/,\]}]+|.', re.DOTALL)
_COMMENT = re.compile(r"//.*|/\*.*\*/", re.DOTALL)
_BLANK = re.compile(r"[^\r\n]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_VALUE = ("", "{", "[", ",", ":")
SPACE = " \t\r\n"

PathStep = str | int


class JsoncError(ValueError):
    """The text is not JSON with comments; lines and columns count from one."""

    def __init__(self, line: int, column: int, problem: str) -> None:
        super().__init__(line, column, problem)
        self.line = line
        self.column = column
        self.problem = problem


@dataclass(frozen=True, slots=True)
class JsoncMember:
    key: str
    start: int
    value_start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsoncDocument:
    text: str
    plain: str
    """The text without comments."""
    strict: str
    """`plain` without trailing commas."""

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def is_blank(self) -> bool:
        return not self.plain.strip()

    @property
    def opening(self) -> int:
        return skip_space(self.strict, 0)

    def value(self) -> Any:
        """The whole value. A document with only comments has none: check `is_blank` first if that is allowed."""
        try:
            return json.loads(self.strict, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise JsoncError(*line_and_column(self.text, error.pos), error.msg) from error
        except ValueError as error:
            raise JsoncError(1, 1, str(error)) from error
        except RecursionError as error:
            raise JsoncError(1, 1, "nested too deeply") from error

    def members(self, opening: int) -> list[JsoncMember]:
        """The members of the object that starts there, in order, duplicates included."""
        strict, members = self.strict, []
        for start in self._starts(opening, "}"):
            key, after_key = _DECODER.raw_decode(strict, start)
            value_start = skip_space(strict, skip_space(strict, after_key) + 1)
            members.append(JsoncMember(key, start, value_start, _end(strict, value_start)))
        return members

    def place(self, path: Sequence[PathStep]) -> tuple[int, int]:
        """Line and column of the value at a path, or of the nearest existing parent."""
        position = self.opening
        for step in path:
            found = self._inside(position, step)
            if found is None:
                break
            position = found
        return line_and_column(self.text, position)

    def _inside(self, opening: int, step: PathStep) -> int | None:
        bracket = self.strict[opening : opening + 1]
        if isinstance(step, str):
            members = self.members(opening) if bracket == "{" else []
            return next((member.value_start for member in reversed(members) if member.key == step), None)
        starts = self._starts(opening, "]") if bracket == "[" else iter(())
        return next((start for index, start in enumerate(starts) if index == step), None)

    def _starts(self, opening: int, closing: str) -> Iterator[int]:
        """Where each element of a list or each key of an object begins."""
        strict = self.strict
        position = skip_space(strict, opening + 1)
        while strict[position] != closing:
            yield position
            if closing == "}":
                _, position = _DECODER.raw_decode(strict, position)
                position = skip_space(strict, skip_space(strict, position) + 1)
            position = skip_space(strict, _end(strict, position))
            position = skip_space(strict, position + 1) if strict[position] == "," else position


def parse(text: str) -> JsoncDocument:
    plain: list[str] = []
    strict: list[str] = []
    before, comma = ("", ""), 0
    for match in _TOKEN.finditer(text):
        token = _BLANK.sub(" ", match[0]) if _COMMENT.fullmatch(match[0]) else match[0]
        if token in ("}", "]") and before[1] == "," and before[0][-1:] not in _NO_VALUE:
            strict[comma] = " "
        if token.strip():
            before, comma = (before[1], token), len(strict)
        plain.append(token)
        strict.append(token)
    return JsoncDocument(text, "".join(plain), "".join(strict))


def skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in SPACE:
        position += 1
    return position


def line_and_column(text: str, position: int) -> tuple[int, int]:
    ends = [match.end() for match in _LINE_END.finditer(text, 0, position)]
    return len(ends) + 1, position - (ends[-1] if ends else 0) + 1


def _end(strict: str, start: int) -> int:
    return _DECODER.raw_decode(strict, start)[1]


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


_DECODER = json.JSONDecoder()
