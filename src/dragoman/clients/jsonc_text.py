"""Edits of JSON with comments, made in the text, so that everything else in it stays byte for byte.

Comments and trailing commas are blanked to spaces of the same length; what is left is strict JSON in which every
position is a position of the original. The standard decoder then does the parsing and names line and column.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from dragoman.clients.refusals import not_understood, wrong_type

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/|\s+|[^\s"/,\]}]+|.', re.DOTALL)
_BLANK = re.compile(r"[^\r\n]")
_SPACE = " \t\r\n"
_NO_VALUE = ("", "{", "[", ",", ":")
_DEFAULT_UNIT = "  "

Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Member:
    key: str
    start: int
    value_start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
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
        return _skip(self.strict, 0)


def parse(text: str) -> dict[str, Any]:
    return _parsed(_document(text))


def put(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    document = _document(text)
    root = _parsed(document)
    if document.is_blank:
        return _fresh(document, {container: {name: entry}})
    if container not in root:
        return _inserted(document, document.opening, container, {name: entry})
    inside = _last(_members(document, document.opening), container).value_start
    if name not in root[container]:
        return _inserted(document, inside, name, entry)
    return _replaced(document, _last(_members(document, inside), name), entry)


def drop(text: str, container: str, name: str) -> str:
    """Take the member out, as often as it stands there: the last of two would otherwise uncover the first."""
    while name in parse(text).get(container, {}):
        document = _document(text)
        inside = _last(_members(document, document.opening), container).value_start
        text = _removed(document, _members(document, inside), name)
    return text


def written(container: str, name: str, entry: dict[str, Any]) -> str:
    return _written({container: {name: entry}}, _DEFAULT_UNIT, "", "\n") + "\n"


def _document(text: str) -> Document:
    plain: list[str] = []
    strict: list[str] = []
    before, comma = ("", ""), 0
    for match in _TOKEN.finditer(text):
        token = _BLANK.sub(" ", match[0]) if match[0].startswith(("//", "/*")) else match[0]
        if token in ("}", "]") and before[1] == "," and before[0][-1:] not in _NO_VALUE:
            strict[comma] = " "
        if token.strip():
            before, comma = (before[1], token), len(strict)
        plain.append(token)
        strict.append(token)
    return Document(text, "".join(plain), "".join(strict))


def _parsed(document: Document) -> dict[str, Any]:
    if document.is_blank:
        return {}
    try:
        value = json.loads(document.strict)
    except json.JSONDecodeError as error:
        raise not_understood(error.lineno, error.colno, error.msg) from error
    except RecursionError as error:
        raise not_understood(1, 1, "nested too deeply") from error
    if not isinstance(value, dict):
        raise wrong_type("JSON")
    return value


def _members(document: Document, opening: int) -> list[Member]:
    strict, members, decoder = document.strict, [], json.JSONDecoder()
    position = _skip(strict, opening + 1)
    while strict[position] != "}":
        key, after_key = decoder.raw_decode(strict, position)
        value_start = _skip(strict, _skip(strict, after_key) + 1)
        _, end = decoder.raw_decode(strict, value_start)
        members.append(Member(key, position, value_start, end))
        position = _skip(strict, end)
        position = _skip(strict, position + 1) if strict[position] == "," else position
    return members


def _last(members: list[Member], key: str) -> Member:
    """Of two members with one key every client takes the last."""
    return next(member for member in reversed(members) if member.key == key)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _fresh(document: Document, value: dict[str, Any]) -> str:
    kept = document.text
    if kept and not kept.endswith(("\n", "\r")):
        kept += document.newline
    return kept + _written(value, _DEFAULT_UNIT, "", document.newline) + document.newline


def _inserted(document: Document, opening: int, key: str, value: object) -> str:
    """Comments behind the last member stay with it: the comma goes before them, the new member after them."""
    members = _members(document, opening)
    end = members[-1].end if members else opening + 1
    closing = _skip(document.strict, end)
    behind = len(document.text[:closing].rstrip(_SPACE))
    trailing = "," in document.plain[end:closing]
    lead, shown, close = _laid_out(document, opening, closing, members, value)
    comma = "," if members and not trailing else ""
    member = f"{lead}{json.dumps(key, ensure_ascii=False)}: {shown}{',' if trailing else ''}{close}"
    return _applied(document.text, [(end, end, comma), (behind, behind, member)])


def _laid_out(
    document: Document, opening: int, closing: int, members: list[Member], value: object
) -> tuple[str, str, str]:
    """The space before a new member, its value in the style of its surroundings, the space before the brace."""
    text = document.text
    if members and not _has_newline(text[opening:closing]):
        return " ", json.dumps(value, ensure_ascii=False), ""
    outer, newline, unit = _indent(text, opening), document.newline, _unit(document)
    own_line = bool(members) and _starts_line(text, members[-1].start)
    indent = _indent(text, members[-1].start) if own_line else outer + unit
    last_line = text[len(text[:closing].rstrip(_SPACE)) : closing]
    close = "" if _has_newline(last_line) else newline + outer
    return newline + indent, _written(value, unit, indent, newline), close


def _replaced(document: Document, member: Member, entry: dict[str, Any]) -> str:
    if _has_newline(document.text[member.value_start : member.end]):
        indent = _indent(document.text, member.start)
        shown = _written(entry, _unit(document), indent, document.newline)
    else:
        shown = json.dumps(entry, ensure_ascii=False)
    return _applied(document.text, [(member.value_start, member.end, shown)])


def _removed(document: Document, members: list[Member], name: str) -> str:
    member = _last(members, name)
    index = members.index(member)
    own = _comma_after(document, member.end)
    comma = own if own is not None or index == 0 else _comma_after(document, members[index - 1].end)
    edits: list[Edit] = [] if comma is None else [(comma, comma + 1, "")]
    start = _start_with_gap(document, member, own)
    return _applied(document.text, sorted([*edits, (start, member.end, "")]))


def _comma_after(document: Document, position: int) -> int | None:
    after = _skip(document.plain, position)
    return after if document.plain[after] == "," else None


def _start_with_gap(document: Document, member: Member, comma: int | None) -> int:
    """The white space before a member goes with it, unless its newline ends a comment or divides what remains."""
    text = document.text
    before = len(text[: member.start].rstrip(_SPACE))
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
    """Objects a member a line, lists on one: how people write these files."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    deeper = indent + unit
    lines = [
        f"{deeper}{json.dumps(key, ensure_ascii=False)}: {_written(part, unit, deeper, newline)}"
        for key, part in value.items()
    ]
    return newline.join(["{", f",{newline}".join(lines), indent + "}"])


def _unit(document: Document) -> str:
    """The step of indentation, as the first member of the document shows it."""
    members = _members(document, document.opening)
    if not members or not _starts_line(document.text, members[0].start):
        return _DEFAULT_UNIT
    return _indent(document.text, members[0].start).removeprefix(_indent(document.text, document.opening))


def _line(text: str, position: int) -> str:
    """The part of a line that stands before a position."""
    return text[max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1 : position]


def _indent(text: str, position: int) -> str:
    line = _line(text, position)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _starts_line(text: str, position: int) -> bool:
    return not _line(text, position).strip(" \t")


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text
