"""Edits of JSON with comments, made in the text, so that every other byte stays the same."""

from __future__ import annotations

import json
from typing import Any

from dragoman.clients.config_file import syntax_problem, wrong_type
from dragoman.core import jsonc
from dragoman.core.jsonc import SPACE, JsoncDocument, JsoncMember, skip_space

_DEFAULT_UNIT = "  "

Edit = tuple[int, int, str]


def parse(text: str) -> dict[str, Any]:
    return _parsed(jsonc.parse(text))


def put(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    document = jsonc.parse(text)
    root = _parsed(document)
    if document.is_blank:
        return _fresh(document, {container: {name: entry}})
    if container not in root:
        return _inserted(document, document.opening, container, {name: entry})
    inside = _last(document.members(document.opening), container).value_start
    if name not in root[container]:
        return _inserted(document, inside, name, entry)
    return _replaced(document, _last(document.members(inside), name), entry)


def drop(text: str, container: str, name: str) -> str:
    """Remove every member with this key: removing only the last would make an earlier one effective."""
    while name in parse(text).get(container, {}):
        document = jsonc.parse(text)
        inside = _last(document.members(document.opening), container).value_start
        text = _removed(document, document.members(inside), name)
    return text


def new_config(container: str, name: str, entry: dict[str, Any]) -> str:
    return _written({container: {name: entry}}, _DEFAULT_UNIT, "", "\n") + "\n"


def _parsed(document: JsoncDocument) -> dict[str, Any]:
    if document.is_blank:
        return {}
    try:
        value = document.value()
    except jsonc.JsoncError as error:
        raise syntax_problem(error.line, error.column, error.problem) from error
    if not isinstance(value, dict):
        raise wrong_type("JSON")
    return value


def _last(members: list[JsoncMember], key: str) -> JsoncMember:
    """The last member with this key, which is the one that clients use."""
    return next(member for member in reversed(members) if member.key == key)


def _fresh(document: JsoncDocument, value: dict[str, Any]) -> str:
    kept = document.text
    if kept and not kept.endswith(("\n", "\r")):
        kept += document.newline
    return kept + _written(value, _DEFAULT_UNIT, "", document.newline) + document.newline


def _inserted(document: JsoncDocument, opening: int, key: str, value: object) -> str:
    """Insert after the last member. Its trailing comments stay with it: the comma goes before them, the new member
    after.
    """
    members = document.members(opening)
    end = members[-1].end if members else opening + 1
    closing = skip_space(document.strict, end)
    behind = len(document.text[:closing].rstrip(SPACE))
    trailing = "," in document.plain[end:closing]
    lead, shown, close = _layout(document, opening, closing, members, value)
    comma = "," if members and not trailing else ""
    member = f"{lead}{json.dumps(key, ensure_ascii=False)}: {shown}{',' if trailing else ''}{close}"
    return _applied(document.text, [(end, end, comma), (behind, behind, member)])


def _layout(
    document: JsoncDocument, opening: int, closing: int, members: list[JsoncMember], value: object
) -> tuple[str, str, str]:
    """The space before a new member, its value in the style of its surroundings, and the space before the brace."""
    text = document.text
    if members and not _has_newline(text[opening:closing]):
        return " ", json.dumps(value, ensure_ascii=False), ""
    outer, newline, unit = _indent(text, opening), document.newline, _unit(document)
    own_line = bool(members) and _starts_line(text, members[-1].start)
    indent = _indent(text, members[-1].start) if own_line else outer + unit
    last_line = text[len(text[:closing].rstrip(SPACE)) : closing]
    close = "" if _has_newline(last_line) else newline + outer
    return newline + indent, _written(value, unit, indent, newline), close


def _replaced(document: JsoncDocument, member: JsoncMember, entry: dict[str, Any]) -> str:
    if _has_newline(document.text[member.value_start : member.end]):
        indent = _indent(document.text, member.start)
        shown = _written(entry, _unit(document), indent, document.newline)
    else:
        shown = json.dumps(entry, ensure_ascii=False)
    return _applied(document.text, [(member.value_start, member.end, shown)])


def _removed(document: JsoncDocument, members: list[JsoncMember], name: str) -> str:
    member = _last(members, name)
    index = members.index(member)
    own = _comma_after(document, member.end)
    comma = own if own is not None or index == 0 else _comma_after(document, members[index - 1].end)
    edits: list[Edit] = [] if comma is None else [(comma, comma + 1, "")]
    start = _start_with_gap(document, member, own)
    return _applied(document.text, sorted([*edits, (start, member.end, "")]))


def _comma_after(document: JsoncDocument, position: int) -> int | None:
    after = skip_space(document.plain, position)
    return after if document.plain[after] == "," else None


def _start_with_gap(document: JsoncDocument, member: JsoncMember, comma: int | None) -> int:
    """Where to start the removal: the white space before a member goes too, unless its newline ends a comment."""
    text = document.text
    before = len(text[: member.start].rstrip(SPACE))
    after = comma + 1 if comma is not None and not text[member.end : comma].strip() else member.end
    alone = text[after:].lstrip(" \t").startswith(("\n", "\r"))
    return before if alone or not _has_newline(text[before : member.start]) else member.start


def _applied(text: str, edits: list[Edit]) -> str:
    parts, position = [], 0
    for start, end, new in edits:
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


def _written(value: object, unit: str, indent: str, newline: str) -> str:
    """Format a value as people write these files: one member per line, lists on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    deeper = indent + unit
    lines = [
        f"{deeper}{json.dumps(key, ensure_ascii=False)}: {_written(part, unit, deeper, newline)}"
        for key, part in value.items()
    ]
    return newline.join(["{", f",{newline}".join(lines), indent + "}"])


def _unit(document: JsoncDocument) -> str:
    """The indentation of one level, taken from the first member of the document."""
    members = document.members(document.opening)
    if not members or not _starts_line(document.text, members[0].start):
        return _DEFAULT_UNIT
    return _indent(document.text, members[0].start).removeprefix(_indent(document.text, document.opening))


def _line(text: str, position: int) -> str:
    """The part of the line before a position."""
    return text[max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1 : position]


def _indent(text: str, position: int) -> str:
    line = _line(text, position)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _starts_line(text: str, position: int) -> bool:
    return not _line(text, position).strip(" \t")


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text
