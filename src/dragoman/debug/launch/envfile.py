"""Files of environment variables (`envFile`), a line a variable.

`NAME=value`, with or without `export`; `#` begins a comment on its own line or after a space; a value in single quotes
is literal, in double quotes `\\n` is a line end; `${NAME}` outside single quotes is an earlier line's value, else the
client's, else nothing; `\\$` is a dollar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*", re.ASCII | re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'(?:\s+#.*)?|\"((?:\\.|[^\"\\])*)\"(?:\s+#.*)?")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPE_OR_NAME = re.compile(r"\\(.)|\$\{([A-Za-z_]\w*)\}", re.ASCII)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


@dataclass(frozen=True, slots=True)
class EnvFile:
    values: Mapping[str, str] = field(repr=False)
    unread_lines: tuple[int, ...] = ()
    """Lines that are not `NAME=value`: by number alone, since they may hold secrets."""


def parse_env_file(text: str, environment: Mapping[str, str]) -> EnvFile:
    values: dict[str, str] = {}
    unread: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is not None and "\0" not in line:
            values[match[1]] = _value(match[2], {**environment, **values} if "${" in line else {})
        elif line.strip() and not line.lstrip().startswith("#"):
            unread.append(number)
    return EnvFile(values, tuple(unread))


def _value(text: str, known: Mapping[str, str]) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        return _expanded(_COMMENT.sub("", text), known, {"$": "$"})
    literal, double = quoted.groups()
    return str(literal) if literal is not None else _expanded(double, known, _ESCAPES)


def _expanded(text: str, known: Mapping[str, str], escapes: Mapping[str, str]) -> str:
    """One pass: a value that was put in is not looked into again."""

    def meaning(match: re.Match[str]) -> str:
        if match[2] is not None:
            return known.get(match[2], "")
        return escapes.get(match[1], match[0])

    return _ESCAPE_OR_NAME.sub(meaning, text)
