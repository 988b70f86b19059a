"""Edits of TOML, made in the text one section at a time, so that every other byte stays the same.

A section runs from its header to the next; ours are `[container.name]` and those below it. Comments and blank lines at
the end of a section belong to the next one. Inside our own section `tomlkit` keeps what the user wrote.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import Table

from dragoman.clients.config_file import UneditableConfigError, syntax_problem, unsupported_form

_STRING = r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
_TOKEN = re.compile(rf"{_STRING}|#[^\n]*|[\[\]{{}}\n]|[^\S\n]+|.", re.DOTALL)
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class TomlSection:
    path: tuple[str, ...]
    start: int
    end: int


def parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text) from error
    except RecursionError as error:
        raise syntax_problem(1, 1, "nested too deeply") from error


def _syntax_error(message: str, text: str) -> UneditableConfigError:
    place = _PLACE.search(message)
    at_end = (text.count("\n") + 1, len(text) - text.rfind("\n"))
    line, column = (int(place[1]), int(place[2])) if place and place[1] else at_end
    return syntax_problem(line, column, _PLACE.sub("", message))


def put(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    if name not in parse(text).get(container, {}):
        return _appended(text, container, name, entry)
    section = next((each for each in _sections(text) if each.path == (container, name)), None)
    if section is None:
        raise unsupported_form(f"{container}.{name}")
    text = _without(text, [each for each in _below(text, container, name) if each.path[2] not in entry])
    section = next(each for each in _sections(text) if each.path == (container, name))
    changed = _changed(text[section.start : section.end], container, name, entry)
    return text[: section.start] + changed + text[section.end :]


def drop(text: str, container: str, name: str) -> str:
    ours = [each for each in _sections(text) if each.path[:2] == (container, name)]
    if name in parse(text).get(container, {}) and not ours:
        raise unsupported_form(f"{container}.{name}")
    return _without(text, ours)


def new_config(container: str, name: str, entry: dict[str, Any]) -> str:
    document, outer, table = tomlkit.document(), tomlkit.table(is_super_table=True), tomlkit.table()
    table.update(entry)
    outer[name] = table
    document[container] = outer
    return tomlkit.dumps(document)


def _appended(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + new_config(container, name, entry).replace("\n", newline)


def _below(text: str, container: str, name: str) -> list[TomlSection]:
    return [each for each in _sections(text) if each.path[:2] == (container, name) and len(each.path) > 2]


def _changed(section: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """Set our keys and remove those that are not in the entry; comments and order in the section stay."""
    document = tomlkit.parse(section)
    table = document[container][name]
    assert isinstance(table, Table)
    for key in [key for key in table if key not in entry]:
        table.remove(key)
    for key, value in entry.items():
        if table.get(key) != value and not isinstance(value, dict):
            table[key] = value
    return _with_newlines_of(section, tomlkit.dumps(document))


def _with_newlines_of(old: str, new: str) -> str:
    return re.sub(r"(?<!\r)\n", "\r\n", new) if "\r\n" in old else new


def _without(text: str, sections: list[TomlSection]) -> str:
    for section in reversed(sections):
        before, after = text[: section.start], text[section.end :]
        text = (before if after.strip() else before.removesuffix(_blank_line(before))) + after
    return text


def _blank_line(text: str) -> str:
    return next((end[len(end) // 2 :] for end in ("\r\n\r\n", "\n\n") if text.endswith(end)), "")


def _sections(text: str) -> list[TomlSection]:
    sections: list[TomlSection] = []
    for start, header_end, content_end in _spans(text):
        line_end = text.find("\n", content_end)
        end = len(text) if line_end < 0 else line_end + 1
        sections.append(TomlSection(_path(text[start:header_end]), start, end))
    return sections


def _spans(text: str) -> list[tuple[int, int, int]]:
    """Start and end of every header, and the end of the last value below it. A header is a bracket at the start of a
    line, outside strings, comments and values.
    """
    spans: list[tuple[int, int, int]] = []
    depth, fresh, start = 0, True, -1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            fresh = fresh or depth == 0
        elif token.strip() and not token.startswith("#"):
            if token == "[" and fresh:
                start = match.start()
            fresh = False
            depth += (token in "[{") - (token in "]}")
            if depth == 0 and start >= 0:
                spans.append((start, match.end(), match.end()))
                start = -1
            elif spans and start < 0:
                spans[-1] = (*spans[-1][:2], match.end())
    return spans


def _path(header: str) -> tuple[str, ...]:
    """The names in a header, read by the TOML parser. Arrays of tables are never ours and get an empty path."""
    names: list[str] = []
    inside: Any = tomllib.loads(header)
    while isinstance(inside, dict) and inside:
        name, inside = next(iter(inside.items()))
        names.append(name)
    return () if isinstance(inside, list) else tuple(names)
