"""The functions in a source file, as its text shows them: name, parameters, and from which line to which."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dragoman.debug.evidence.stepping.source_languages import SourceLanguage, language_of_file

ANONYMOUS = "<anonymous>"
_MOST_FUNCTIONS = 5000
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_STORAGE = re.compile(r"\b(?:static|inline|extern|virtual|constexpr|explicit|register)\b")


@dataclass(frozen=True, slots=True)
class SourceFunction:
    path: str
    name: str
    header: int
    """The line with its name."""
    first: int
    """The first line of its body."""
    last: int
    owner: str = ""
    parameters: tuple[str, ...] = ()
    type: str = ""
    """What it returns, where that stands before its name."""
    is_async: bool = False

    @property
    def qualified(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name

    def is_named(self, name: str) -> bool:
        """By its last name, or with as much of what it belongs to as is said."""
        wanted = re.split(r"::|[.:#]", name)
        if wanted[-1] != self.name:
            return False
        return len(wanted) == 1 or not self.owner or wanted[-2] == re.split(r"::|[.:]", self.owner)[-1]

    def has(self, line: int) -> bool:
        return self.header <= line <= self.last


def _blank(found: re.Match[str]) -> str:
    """Spaces of the same length. What a template computes is code."""
    text = found[0]
    parts = re.split(r"(\$\{[^{}]*\})", text) if text.startswith("`") else [text]
    spaced = [f"  {it[2:-1]} " if it.startswith("${") else re.sub(r"[^\n]", " ", it) for it in parts]
    return "".join(spaced)


class SourceText:
    """One file: its lines, and the same without strings and comments."""

    def __init__(self, path: str, text: str, language: SourceLanguage) -> None:
        self.path = path
        self.language = language
        self.lines = text.split("\n")
        self.masked = language.masked.sub(_blank, text)
        self.plain = self.masked.split("\n")
        self._starts = [0]
        for line in self.plain:
            self._starts.append(self._starts[-1] + len(line) + 1)

    @cached_property
    def functions(self) -> list[SourceFunction]:
        """In the order in which they end or begin; an inner one is in the list beside the outer."""
        found = self._in_braces() if self.language.has_braces else self._to_their_end()
        return [it for it, _ in zip(found, range(_MOST_FUNCTIONS), strict=False)]

    def innermost(self, line: int) -> SourceFunction | None:
        around = [it for it in self.functions if it.has(line)]
        return max(around, key=lambda it: (it.header, -it.last), default=None)

    def line(self, number: int) -> str:
        return self.plain[number - 1] if 0 < number <= len(self.plain) else ""

    def body(self, function: SourceFunction) -> str:
        return "\n".join(self.plain[function.first - 1 : function.last])

    def _line_at(self, position: int) -> int:
        return bisect_right(self._starts, position)

    def _in_braces(self) -> Iterator[SourceFunction]:
        open_blocks: list[tuple[SourceFunction | None, str, int, int]] = []
        owners: list[str] = []
        since, depth = 0, 0
        for token in re.finditer(r"[{}();]", self.masked):
            kind, at = token[0], token.start()
            if kind in "()":
                depth = max(0, depth + (1 if kind == "(" else -1))
            elif kind == ";":
                since = since if depth else at + 1
            elif kind == "{":
                header = self.masked[since:at]
                function = self._declared(header, since, at, owners)
                owner = self._owner(header) if function is None else ""
                owners += [owner] if owner else []
                open_blocks.append((function, owner, depth, since))
                since, depth = at + 1, 0
            elif open_blocks:
                function, owner, depth, begun = open_blocks.pop()
                if owner:
                    owners.pop()
                if function is not None:
                    yield replace(function, last=self._line_at(at))
                since = begun if depth else at + 1  # a literal among arguments does not end a statement

    def _owner(self, header: str) -> str:
        found = self.language.owner.search(header) if self.language.owner else None
        return found["name"] if found else ""

    def _declared(self, header: str, since: int, at: int, owners: list[str]) -> SourceFunction | None:
        for pattern in self.language.headers:
            found = pattern.search(header)
            if found is None:
                continue
            groups = found.groupdict()
            name = groups.get("name") or groups.get("assigned") or ""
            if name in self.language.statements:
                continue
            where = since + max(
                found.start(it) for it in ("name", "assigned", "parameters") if groups.get(it) is not None
            )
            owner = re.sub(r"(?:::|[.:])$", "", groups.get("owner") or "") or (owners[-1] if owners and name else "")
            return SourceFunction(
                self.path,
                name or ANONYMOUS,
                self._line_at(where),
                self._first_line(at + 1),
                self._line_at(at),
                owner,
                (*filter(None, [groups.get("receiver")]), *self._parameters(groups.get("parameters") or "")),
                _STORAGE.sub("", groups.get("type") or "").strip(),
                bool(re.search(r"\basync\b", header[: found.end()].rpartition(";")[2])),
            )
        return None

    def _first_line(self, position: int) -> int:
        """Of what stands behind the brace: the next line with code."""
        text = re.compile(r"\S").search(self.masked, position)
        return self._line_at(text.start() if text else position)

    def _parameters(self, text: str) -> tuple[str, ...]:
        found: list[str] = []
        for part in re.split(r",(?![^<({\[]*[>)}\]])", text):
            words = _WORD.findall(re.sub(r"=(?!>).*|(?<!:):(?!:).*", "", part) if "{" not in part else part)
            words = [it for it in words if it not in {"const", "mut", "struct", "void"}]
            if "{" in part:
                found += words
            elif words:
                found.append(words[0] if self.language.parameter == "first" else words[-1])
        return tuple(found)

    def _to_their_end(self) -> Iterator[SourceFunction]:
        owner = ""
        for at, line in enumerate(self.plain):
            owned = self.language.owner.match(line) if self.language.owner else None
            owner = owned["name"] if owned else owner
            for pattern in self.language.headers:
                if found := pattern.search(line):
                    yield self._ending(at, line, found, owner)
                    break

    def _ending(self, at: int, line: str, found: re.Match[str], owner: str) -> SourceFunction:
        groups = found.groupdict()
        indent = len(line) - len(line.lstrip())
        is_short = bool(re.search(r"\bend\b", line[found.end() :]))
        closing = re.compile(rf"\s{{{indent}}}end\b")
        after = range(at + 1, len(self.plain))
        last = at if is_short else next((it for it in after if closing.match(self.plain[it])), at)
        first = at if is_short else next((it for it in range(at + 1, last + 1) if self.plain[it].strip()), at)
        named = groups.get("owner") or ""
        parameters = self._parameters(groups.get("parameters") or groups.get("bare") or "")
        if named.endswith(":"):
            parameters = ("self", *parameters)
        whole = named.rstrip(".:") or owner
        return SourceFunction(
            self.path, groups.get("name") or ANONYMOUS, at + 1, first + 1, last + 1, whole, parameters
        )


def read_source(path: str, text: str) -> SourceText | None:
    language = language_of_file(path)
    return SourceText(path, text, language) if language else None
