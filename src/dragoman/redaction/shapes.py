"""The search for secrets in bytes: hints first, patterns only where their literal stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from dragoman.redaction.forms import ARGUMENTS_BYTES, ARGUMENTS_END, FAMILIES, Form, Name, Run, named
from dragoman.redaction.presence import literal_pattern, presence, readable
from dragoman.redaction.tokens import TOKENS

LONGEST_BYTES = 9_000
BEFORE_BYTES = 160
_MARK = re.compile(rb"<redacted \d{1,9} chars>")
_SHORTEST_RUN = b"a" * 20
_RUN_CHARACTER = re.compile(rb"[\w.-]")
# A few tokens are written in base 64.
_CUT_CHARACTER = re.compile(rb"[\w.+/=-]")
_CUT_RUNS = bytes(ord("a") if _CUT_CHARACTER.match(bytes([code])) else ord(" ") for code in range(256))
_RUNS = bytes(ord("a") if _RUN_CHARACTER.match(bytes([code])) else ord(" ") for code in range(256))

_FREE = "(?<![A-Za-z0-9_])"
_HINTS = [hint for token in TOKENS for hint in token.hints]
_HEADS = [literal.encode() for literal, _ in _HINTS]
# Apart, since a search for many literals is as fast as the shortest of them lets it be.
_LONG_HEAD = 4
_LONG = [it for it in _HINTS if len(it[0]) >= _LONG_HEAD]
_SHORT = [it for it in _HINTS if len(it[0]) < _LONG_HEAD]
_has_long_token, _has_short_token = (presence([f"(?-u:{hint})" for _, hint in hints]) for hints in (_LONG, _SHORT))
_has_long_head, _has_short_head = (
    presence([literal_pattern(literal.encode()) for literal, _ in hints]) for hints in (_LONG, _SHORT)
)
_WHOLE = re.compile(f"{_FREE}(?:{'|'.join(token.whole for token in TOKENS)})".encode())
# A web token has two dots at least; the search for its long parts is left out where they cannot be.
_WITHOUT_DOTS = re.compile(f"{_FREE}(?:{'|'.join(it.whole for it in TOKENS if it.literals != 'eyJ')})".encode())
_BEGUN = re.compile(f"{_FREE}(?:{'|'.join(token.begun for token in TOKENS)})\\Z".encode())
_PLAIN_HEADS = tuple(head for head in _HEADS if head.isalnum())
# A few tokens go on with characters that no word has.
_PAST_WORD_BYTES = 256

Span = tuple[int, int]
Gate = re.Pattern[bytes] | None
Following = dict[bytes, list[tuple[re.Pattern[bytes] | None, list[Form]]]]
"""By what the gate found after the name: what must stand before it, and the forms that ask for that."""


class Begun(NamedTuple):
    """A secret may have begun: where its telling part starts, and where what must not be seen does."""

    start: int
    secret: int
    likely: bool


class Found(NamedTuple):
    start: int
    secret: Span
    end: int


class _Family:
    """Forms of one kind, and whether a text hints at one of them."""

    def __init__(self, forms: Iterable[Form]) -> None:
        hints: dict[bytes, set[str]] = {}
        for form in forms:
            hints.setdefault(form.literal, set()).add(_hint(form))
        self._hints = {literal: presence(sorted(its)) for literal, its in hints.items()}
        self._has_hint = presence(sorted({hint for its in hints.values() for hint in its}))

    def hinted(self, folded: str) -> list[bytes]:
        if not self._has_hint(folded):
            return []
        return [literal for literal, stands in self._hints.items() if stands(folded)]


class Shapes:
    """The forms known everywhere, and the names that a user added."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        own = [
            form._replace(hint=literal_pattern(form.literal))
            for name in names
            for form in named(Name(name.casefold(), re.escape(name)))
        ]
        self._forms: dict[bytes, dict[Gate, list[Form]]] = {}
        families = (*FAMILIES, own) if own else FAMILIES
        for form in chain.from_iterable(families):
            self._forms.setdefault(form.literal, {}).setdefault(form.gate, []).append(form)
        self._following = {
            literal: [(gate, _following(group)) for gate, group in groups.items()]
            for literal, groups in self._forms.items()
        }
        self._gates = {literal: _any_of(list(forms)) for literal, forms in self._forms.items()}
        self._families = [_Family(forms) for forms in families]
        self._has_literal = presence([literal_pattern(literal) for literal in self._forms])

    def secrets(self, view: bytes) -> list[Span]:
        """Where secrets stand, in order and apart, without what was replaced before."""
        text = readable(view)
        found = self._named(view, text.lower())
        if _has_long_token(text) or _has_short_token(text):
            found += _tokens(view)
        return _unmarked(view, apart(found)) if found else found

    def _named(self, view: bytes, folded: str) -> list[Span]:
        literals = dict.fromkeys(literal for family in self._families for literal in family.hinted(folded))
        return [found.secret for _, found in self._found(list(literals), view, whole=True)]

    def begun(self, view: bytes) -> Begun | None:
        """The earliest secret that the end of the view may have cut off."""
        found = [
            (one.start, one.secret[0], _likely(form, view[slice(*one.secret)]))
            for form, one in self._found(self._standing(view), view, whole=False)
        ]
        if token := _begun_token(view):
            found.append((token.start(), token.start(token.lastindex or 0), True))
        if not found:
            return None
        likely = [secret for _, secret, is_likely in found if is_likely]
        return Begun(
            min(start for start, _, _ in found), min(likely or [secret for _, secret, _ in found]), bool(likely)
        )

    def _standing(self, view: bytes) -> list[bytes]:
        """The literals that the view has: what is cut off may not have come to what the hints ask for."""
        folded = view.lower()
        return [it for it in self._forms if it in folded] if self._has_literal(readable(folded)) else []

    def _found(self, literals: list[bytes], view: bytes, *, whole: bool) -> Iterator[tuple[Form, Found]]:
        if literals:
            search = _Search(view, whole=whole)
            for literal in literals:
                yield from search.found(literal, self._following[literal], self._gates[literal])


class _Search:
    """Through one view, whose every part is looked at a bounded number of times."""

    def __init__(self, view: bytes, *, whole: bool) -> None:
        self._view = view
        self._whole = whole
        self._folded = view.lower()
        self._backwards = self._folded[::-1]
        self._runs: dict[int, bytes] = {}
        self._next: dict[re.Pattern[bytes], re.Match[bytes] | None] = {}

    def found(
        self, literal: bytes, following: list[tuple[Gate, Following]], gate: Gate
    ) -> Iterator[tuple[Form, Found]]:
        at = self._folded.find(literal)
        while at >= 0:
            after = at + len(literal)
            if gate is None or gate.match(self._view, at):
                for form in self._possible(following, at):
                    for found in self._fitting(form, at):
                        after = max(after, found.end)
                        yield form, found
            at = self._folded.find(literal, after)

    def _possible(self, following: list[tuple[Gate, Following]], at: int) -> list[Form]:
        """The forms whose gate is open, of them those that go on with what stands there, and what stands before."""
        possible: list[Form] = []
        behind = len(self._view) - at
        for gate, groups in following:
            opened = gate.match(self._view, at) if gate else None
            if gate and not opened:
                continue
            for before, forms in groups.get(opened[opened.lastindex] if opened and opened.lastindex else b"", ()):
                if before is None or before.match(self._backwards, behind):
                    possible += forms
        return possible

    def _fitting(self, form: Form, at: int) -> Iterator[Found]:
        pattern = form.whole if self._whole else form.begun
        matches = self._options(form.command, pattern, at) if form.command else (pattern.match(self._view, at),)
        for match in matches:
            secret = match and (self._run(form.run, match.end()) if form.run else match.span("secret"))
            if match and secret and self._accepted(form, secret):
                yield Found(at, secret, max(match.end(), secret[1]))

    def _accepted(self, form: Form, secret: Span) -> bool:
        return not self._whole or form.accepts is None or form.accepts(self._view[secret[0] : secret[1]])

    def _run(self, run: Run, start: int) -> Span | None:
        others = self._runs.get(id(run.others))
        if others is None:
            others = self._runs[id(run.others)] = self._view.translate(run.others)
        most = start + run.most
        end = others.find(b" ", start, most)
        end = min(most, len(others)) if end < 0 else end
        is_one = end - start >= run.least if self._whole else start < end == len(others)
        return (start, end) if is_one else None

    def _options(
        self, command: re.Pattern[bytes], pattern: re.Pattern[bytes], at: int
    ) -> Iterator[re.Match[bytes] | None]:
        """Right after the command, and the next one: that is looked for once for all commands that stand before it."""
        name = command.match(self._view, at)
        if not name:
            return
        end = name.end()
        yield pattern.match(self._view, end)
        option = self._next.get(pattern)
        if pattern not in self._next or (option and option.start() <= end):
            option = self._next[pattern] = pattern.search(self._view, end + 1)
        if option and option.start() - end <= ARGUMENTS_BYTES:
            yield None if ARGUMENTS_END.search(self._view, end, option.start()) else option


def _following(forms: list[Form]) -> Following:
    following: Following = {}
    for key in {bytes([code]) for form in forms for code in form.starts} or {b""}:
        groups: dict[re.Pattern[bytes] | None, list[Form]] = {}
        for form in forms:
            if not form.starts or key in form.starts:
                groups.setdefault(form.before, []).append(form)
        following[key] = list(groups.items())
    return following


def _hint(form: Form) -> str:
    return form.hint or (f"(?-u:{form.gate.pattern.decode()})" if form.gate else literal_pattern(form.literal))


def _any_of(gates: list[Gate]) -> Gate:
    """One pattern for the gates of all forms of a literal; none where a form has none, or all have the same."""
    patterns = [gate.pattern for gate in gates if gate]
    return re.compile(b"|".join(patterns), re.IGNORECASE) if len(patterns) == len(gates) > 1 else None


def _likely(form: Form, secret: bytes) -> bool:
    return form.likely and (form.accepts is None or form.accepts(secret))


def _tokens(view: bytes) -> list[Span]:
    """Long words alone can be tokens; most texts have few of them, and fewer that begin like one."""
    runs = view.translate(_RUNS)
    words: list[Span] = []
    at = runs.find(_SHORTEST_RUN)
    while at >= 0:
        end = runs.find(b" ", at)
        words.append((at, end if end >= 0 else len(view)))
        at = runs.find(_SHORTEST_RUN, end) if end >= 0 else -1
    joined = b" ".join([word for start, end in words if _may_be_token(word := view[start:end])])
    heads = [head for head in _HEADS if head in joined]
    return [
        match.span()
        for start, end in words
        if any(view.find(head, start, end) >= 0 for head in heads)
        for pattern in [_WHOLE if view.count(b".", start, end) > 1 else _WITHOUT_DOTS]
        for match in pattern.finditer(view, start, end + _PAST_WORD_BYTES)
    ]


def _begun_token(view: bytes) -> re.Match[bytes] | None:
    start = view.translate(_CUT_RUNS).rfind(b" ") + 1
    word = readable(view[start:])
    return _BEGUN.search(view, start) if word and (_has_long_head(word) or _has_short_head(word)) else None


def _may_be_token(word: bytes) -> bool:
    """A hash is no token: those that have letters and digits alone begin in a few ways."""
    return not word.isalnum() or word.startswith(_PLAIN_HEADS)


def apart(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _unmarked(view: bytes, spans: list[Span]) -> list[Span]:
    """What was replaced once stays as it is: a mark is no secret, and no part of one."""
    if b"<redacted " not in view:
        return spans
    marks = [mark.span() for mark in _MARK.finditer(view)]
    ends = [high for _, high in marks]
    return [piece for span in spans for piece in _outside(span, marks, bisect_right(ends, span[0]))]


def _outside(span: Span, marks: list[Span], first: int) -> Iterator[Span]:
    start, end = span
    for at in range(first, len(marks)):
        low, high = marks[at]
        if low >= end:
            break
        if start < low:
            yield start, low
        start = high
    if start < end:
        yield start, end
