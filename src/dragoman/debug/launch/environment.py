"""The variables that a configuration or a task adds to the client's environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.debug.launch.envfile import parse_env_file
from dragoman.debug.launch.files import UnreadableError, read_bounded
from dragoman.debug.launch.nodes import Node
from dragoman.debug.launch.notes import Note
from dragoman.phrases import say

Additions = dict[str, str | None]


@dataclass
class Variables:
    """What was found, and what a person should know about how it was read."""

    values: Additions = field(default_factory=dict, repr=False)
    notes: list[Note] = field(default_factory=list)


def read_environment(node: Node | None) -> Additions:
    """`null` takes a variable away; a number is written out, as every debugger of VS Code does."""
    if node is None:
        return {}
    return {_name(node.child(key, key)): _text(node.child(key, value)) for key, value in node.object().items()}


def read_environment_list(node: Node | None) -> Additions:
    """`environment`, the way of the C and C++ debuggers: a list of objects with a name and a value."""
    if node is None:
        return {}
    return {
        _name(item.child("name", item.required_text("name"))): _text(item.child("value", item.object().get("value")))
        for item in node.items()
    }


def env_file_paths(node: Node | None, folder: Path) -> list[tuple[Node, Path]]:
    """One path or several, each with the place where it is written."""
    paths = [] if node is None else node.one_or_more()
    return [(path, folder / path.string()) for path in paths if path.string()]


def read_env_files(files: Iterable[tuple[Node, Path]], environment: Mapping[str, str]) -> Variables:
    """The later over the earlier. A missing one is told and not refused: templates name `.env` in workspaces that
    have none."""
    found = Variables()
    for node, path in files:
        _add_file(found, node, path, environment)
    return found


def environment_with(additions: Mapping[str, str | None], environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process: the client's, and on top of it what was configured."""
    merged = {**environment, **additions}
    return {name: value for name, value in merged.items() if value is not None}


def _add_file(found: Variables, node: Node, path: Path, environment: Mapping[str, str]) -> None:
    try:
        text = read_bounded(path).decode("utf-8-sig")
    except FileNotFoundError:
        found.notes.append(Note(say("This envFile does not exist and was left out:"), str(path)))
        return
    except UnicodeDecodeError as error:
        raise node.fault(say("{file} is not UTF-8", file=path), code="bad_env_file") from error
    except UnreadableError as error:
        problem = say("{file}: {reason}", file=path, reason=error.reason)
        raise node.fault(problem, code="bad_env_file") from error
    parsed = parse_env_file(text, environment)
    found.values.update(parsed.values)
    if parsed.unread_lines:
        lines = ", ".join(map(str, parsed.unread_lines[:10]))
        found.notes.append(Note(say("Lines {lines} of this envFile are not NAME=value:", lines=lines), str(path)))


def _name(node: Node) -> str:
    name = node.string()
    if not name or "=" in name:
        raise node.fault(say("a variable's name must not be empty and must not hold ="))
    return name


def _text(node: Node) -> str | None:
    if node.value is None or isinstance(node.value, str):
        return node.value
    if isinstance(node.value, bool | int | float):
        return json.dumps(node.value)
    raise node.wrong(say("a string"))
