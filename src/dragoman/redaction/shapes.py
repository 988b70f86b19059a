"""The search for secrets in bytes: hints first, patterns only where their literal stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dragoman.redaction.forms import FORMS, TOKENS, Form, Name, named
from dragoman.redaction.presence import literal_pattern, presence, readable

LONGEST_BYTES = 9_000
BEFORE_BYTES = 160
_MARK = re.compile(rb"<redacted \d{1,9} chars>")
_SHORTEST_RUN = b"a" * 20
_RUN_CHARACTER = re.compile(rb"[\w.-]")
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
_BEGUN = re.compile(f"{_FREE}(?:{'|'.join(token.begun for token in TOKENS)})\\Z".encode())
_PLAIN_HEADS = tuple(head for head in _HEADS if head.isalnum())
# A few tokens go on with characters that no word has.
_PAST_WORD_BYTES = 256

Span = tuple[int, int]
Gate = re.Pattern[bytes] | None


class Begun(NamedTuple):
    """A secret may have begun: where its telling part starts, and where what must not be seen does."""

    start: int
    secret: int
    likely: bool


class Shapes:
    """The forms known everywhere, and the names that a user added."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        own = [
            form._replace(hint=literal_pattern(form.literal))
            for name in names
            for form in named(Name(name.casefold(), re.escape(name)))
        ]
        self._forms: dict[bytes, dict[Gate, list[Form]]] = {}
        hints: dict[bytes, set[str]] = {}
        for form in (*FORMS, *own):
            self._forms.setdefault(form.literal, {}).setdefault(form.gate, []).append(form)
            hints.setdefault(form.literal, set()).add(_hint(form))
        self._gates = {literal: _any_of(list(forms)) for literal, forms in self._forms.items()}
        self._hints = {literal: presence(sorted(its)) for literal, its in hints.items()}
        self._has_hint = presence(sorted({hint for its in hints.values() for hint in its}))
        self._has_literal = presence([literal_pattern(literal) for literal in hints])

    def secrets(self, view: bytes) -> list[Span]:
        """Where secrets stand, in order and apart, without what was replaced before."""
        text = readable(view)
        found = self._named(view, text.lower())
        if _has_long_token(text) or _has_short_token(text):
            found += _tokens(view)
        return _unmarked(view, apart(found)) if found else found

    def _named(self, view: bytes, folded: str) -> list[Span]:
        if not self._has_hint(folded):
            return []
        literals = [literal for literal, stands in self._hints.items() if stands(folded)]
        return [match.span("secret") for _, match in self._found(literals, view, whole=True)]

    def begun(self, view: bytes) -> Begun | None:
        """The earliest secret that the end of the view may have cut off."""
        found = [
            (match.start(), match.start("secret"), _likely(form, match))
            for form, match in self._found(self._standing(view), view, whole=False)
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

    def _found(self, literals: list[bytes], view: bytes, *, whole: bool) -> Iterator[tuple[Form, re.Match[bytes]]]:
        folded = view.lower() if literals else b""
        for literal in literals:
            yield from _matches(literal, self._forms[literal], self._gates[literal], view, folded, whole)


def _hint(form: Form) -> str:
    return form.hint or (f"(?-u:{form.gate.pattern.decode()})" if form.gate else literal_pattern(form.literal))


def _any_of(gates: list[Gate]) -> Gate:
    """One pattern for the gates of all forms of a literal; none where a form has none."""
    patterns = [gate.pattern for gate in gates if gate]
    return re.compile(b"|".join(patterns), re.IGNORECASE) if len(patterns) == len(gates) else None


def _matches(
    literal: bytes, forms: dict[Gate, list[Form]], gate: Gate, view: bytes, folded: bytes, whole: bool
) -> Iterator[tuple[Form, re.Match[bytes]]]:
    at = folded.find(literal)
    while at >= 0:
        after = at + len(literal)
        if gate is None or gate.match(view, at):
            for form, match in _matching(forms, view, at, whole):
                after = max(after, match.end())
                yield form, match
        at = folded.find(literal, after)


def _matching(
    forms: dict[Gate, list[Form]], view: bytes, at: int, whole: bool
) -> Iterator[tuple[Form, re.Match[bytes]]]:
    for form in [form for gate, group in forms.items() if gate is None or gate.match(view, at) for form in group]:
        match = (form.whole if whole else form.begun).match(view, at)
        if match and _fits(form, view, match, whole):
            yield form, match


def _fits(form: Form, view: bytes, match: re.Match[bytes], whole: bool) -> bool:
    if form.before and not form.before.search(view[max(0, match.start() - BEFORE_BYTES) : match.start()]):
        return False
    return not whole or form.accepts is None or form.accepts(match["secret"])


def _likely(form: Form, match: re.Match[bytes]) -> bool:
    return form.likely and (form.accepts is None or form.accepts(match["secret"]))


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
        for match in _WHOLE.finditer(view, start, end + _PAST_WORD_BYTES)
    ]


def _begun_token(view: bytes) -> re.Match[bytes] | None:
    start = view.translate(_RUNS).rfind(b" ") + 1
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
    return [piece for span in spans for piece in _outside(span, marks)]


def _outside(span: Span, marks: list[Span]) -> Iterator[Span]:
    start, end = span
    for low, high in marks:
        if low < end and high > start:
            if start < low:
                yield start, low
            start = max(start, high)
    if start < end:
        yield start, end
