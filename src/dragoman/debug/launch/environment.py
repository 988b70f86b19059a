"""The environment variables that a configuration or a task adds, including those of an `envFile`.

A line of an envFile is `NAME=value`, with or without `export`. `#` starts a comment on its own line or after a space.
A value in single quotes is literal; in double quotes `\\

` is a line end. `${NAME}` outside single quotes is the value of an earlier line, else the client's, else empty.
`\\\\$` is a dollar sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.core.localization import localize
from dragoman.debug.launch.config_node import ConfigNode
from dragoman.debug.launch.errors import LaunchNote
from dragoman.debug.launch.workspace_files import UnreadableError, read_bounded

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*", re.ASCII | re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'(?:\s+#.*)?|\"((?:\\.|[^\"\\])*)\"(?:\s+#.*)?")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPE_OR_NAME = re.compile(r"\\(.)|\$\{([A-Za-z_]\w*)\}", re.ASCII)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


@dataclass(frozen=True, slots=True)
class EnvFile:
    values: Mapping[str, str] = field(repr=False)
    unread_lines: tuple[int, ...] = ()
    """Lines that are not `NAME=value`: only their numbers, because they may hold secrets."""


def parse_env_file(text: str, environment: Mapping[str, str]) -> EnvFile:
    values: dict[str, str] = {}
    unread: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is not None and "\0" not in line:
            values[match[1]] = _line_value(match[2], {**environment, **values} if "${" in line else {})
        elif line.strip() and not line.lstrip().startswith("#"):
            unread.append(number)
    return EnvFile(values, tuple(unread))


def _line_value(text: str, known: Mapping[str, str]) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        return _expand_line(_COMMENT.sub("", text), known, {"$": "$"})
    literal, double = quoted.groups()
    return str(literal) if literal is not None else _expand_line(double, known, _ESCAPES)


def _expand_line(text: str, known: Mapping[str, str], escapes: Mapping[str, str]) -> str:
    """One pass: a value that was put in is not looked into again."""

    def meaning(match: re.Match[str]) -> str:
        if match[2] is not None:
            return known.get(match[2], "")
        return escapes.get(match[1], match[0])

    return _ESCAPE_OR_NAME.sub(meaning, text)


Additions = dict[str, str | None]


@dataclass
class EnvFileVariables:
    """The variables, and notes for a person about how they were read."""

    values: Additions = field(default_factory=dict, repr=False)
    notes: list[LaunchNote] = field(default_factory=list)


def read_environment(node: ConfigNode | None) -> Additions:
    """`null` takes a variable away; a number is written out, as every debugger of VS Code does."""
    if node is None:
        return {}
    return {_name(node.child(key, key)): _text(node.child(key, value)) for key, value in node.object().items()}


def read_environment_list(node: ConfigNode | None) -> Additions:
    """`environment`, the way of the C and C++ debuggers: a list of objects with a name and a value."""
    if node is None:
        return {}
    return {
        _name(item.child("name", item.required_text("name"))): _text(item.child("value", item.object().get("value")))
        for item in node.items()
    }


def env_file_paths(node: ConfigNode | None, folder: Path) -> list[tuple[ConfigNode, Path]]:
    """One path or several, each with the place where it is written."""
    paths = [] if node is None else node.one_or_more()
    return [(path, folder / path.string()) for path in paths if path.string()]


def read_env_files(files: Iterable[tuple[ConfigNode, Path]], environment: Mapping[str, str]) -> EnvFileVariables:
    """Later files override earlier ones. A missing file is noted, not refused: templates name `.env` in workspaces that
    have none."""
    variables = EnvFileVariables()
    for node, path in files:
        _add_file(variables, node, path, environment)
    return variables


def environment_with(additions: Mapping[str, str | None], environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process: the client's, and on top of it what was configured."""
    merged = {**environment, **additions}
    return {name: value for name, value in merged.items() if value is not None}


def _add_file(found: EnvFileVariables, node: ConfigNode, path: Path, environment: Mapping[str, str]) -> None:
    try:
        text = read_bounded(path).decode("utf-8-sig")
    except FileNotFoundError:
        found.notes.append(LaunchNote(localize("This envFile does not exist and was ignored:"), str(path)))
        return
    except UnicodeDecodeError as error:
        raise node.fault(localize("{file} is not UTF-8", file=path), code="bad_env_file") from error
    except UnreadableError as error:
        problem = localize("{file}: {reason}", file=path, reason=error.reason)
        raise node.fault(problem, code="bad_env_file") from error
    parsed = parse_env_file(text, environment)
    found.values.update(parsed.values)
    if parsed.unread_lines:
        lines = ", ".join(map(str, parsed.unread_lines[:10]))
        found.notes.append(
            LaunchNote(localize("Lines {lines} of this envFile are not NAME=value:", lines=lines), str(path))
        )


def _name(node: ConfigNode) -> str:
    name = node.string()
    if not name or "=" in name:
        raise node.fault(localize("a variable name must not be empty or contain ="))
    return name


def _text(node: ConfigNode) -> str | None:
    if node.value is None or isinstance(node.value, str):
        return node.value
    if isinstance(node.value, bool | int | float):
        return json.dumps(node.value)
    raise node.wrong_type(localize("a string"))
