"""Find secrets in bytes: check for hints first, and run a pattern only where its literal occurs.

Rust's regex engine, which pydantic brings along, searches for dozens of literals at once with vector instructions. It
answers yes or no; Python's engine, which is far slower, then looks only where it has to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from pydantic_core import SchemaValidator, core_schema

from dragoman.core.redaction.patterns import (
    ARGUMENTS_BYTES,
    ARGUMENTS_END,
    PATTERN_GROUPS,
    CharacterRun,
    SecretName,
    SecretPattern,
    named_patterns,
)
from dragoman.core.redaction.service_tokens import SERVICE_TOKENS

# The engine has vector instructions for up to 64 literals.
_PATTERNS = 60
LONGEST_BYTES = 9_000
BEFORE_BYTES = 160
_SHORTEST_RUN = b"a" * 20
_FREE = "(?<![A-Za-z0-9_])"
# Separate, because a search for many literals is only as fast as the shortest one allows.
_LONG_HEAD = 4
# A few tokens continue with characters that words do not have.
_PAST_WORD_BYTES = 256

Present = Callable[[str], bool]
_ASCII = bytes(code if code < 128 else 127 for code in range(256))


def pattern_check(patterns: Sequence[str]) -> Present:
    """A fast check for any of these patterns, in Rust's syntax. Each must begin with a literal, or the search
    is slow.
    """
    searches = [_search(patterns[at : at + _PATTERNS]) for at in range(0, len(patterns), _PATTERNS)]
    return searches[0] if len(searches) == 1 else lambda text: any(search(text) for search in searches)


def _search(patterns: Sequence[str]) -> Present:
    return SchemaValidator(core_schema.str_schema(pattern="|".join(patterns))).isinstance_python


def literal_pattern(literal: bytes) -> str:
    """A pattern for a literal, in the syntax of `pattern_check`."""
    return "".join(f"\\x{{{code:02x}}}" for code in literal.translate(_ASCII))


def as_ascii(data: bytes) -> str:
    """One character per byte. The engine takes only ASCII without a copy, and no pattern needs anything else."""
    return (data if data.isascii() else data.translate(_ASCII)).decode("ascii")


_MARK = re.compile(rb"<redacted \d{1,9} chars>")
_RUN_CHARACTER = re.compile(rb"[\w.-]")
# A few tokens are base 64.
_CUT_CHARACTER = re.compile(rb"[\w.+/=-]")
_CUT_RUNS = bytes(ord("a") if _CUT_CHARACTER.match(bytes([code])) else ord(" ") for code in range(256))
_RUNS = bytes(ord("a") if _RUN_CHARACTER.match(bytes([code])) else ord(" ") for code in range(256))
_HINTS = [hint for token in SERVICE_TOKENS for hint in token.hints]
_HEADS = [literal.encode() for literal, _ in _HINTS]
_LONG = [it for it in _HINTS if len(it[0]) >= _LONG_HEAD]
_SHORT = [it for it in _HINTS if len(it[0]) < _LONG_HEAD]
_has_long_token, _has_short_token = (pattern_check([f"(?-u:{hint})" for _, hint in hints]) for hints in (_LONG, _SHORT))
_has_long_head, _has_short_head = (
    pattern_check([literal_pattern(literal.encode()) for literal, _ in hints]) for hints in (_LONG, _SHORT)
)
_WHOLE = re.compile(f"{_FREE}(?:{'|'.join(token.whole for token in SERVICE_TOKENS)})".encode())
# A JWT has at least two dots; without them the search for its long parts is skipped.
_WITHOUT_DOTS = re.compile(f"{_FREE}(?:{'|'.join(it.whole for it in SERVICE_TOKENS if it.literals != 'eyJ')})".encode())
_BEGUN = re.compile(f"{_FREE}(?:{'|'.join(token.partial for token in SERVICE_TOKENS)})\\Z".encode())
_PLAIN_HEADS = tuple(head for head in _HEADS if head.isalnum())


Span = tuple[int, int]
Gate = re.Pattern[bytes] | None
Following = dict[bytes, list[tuple[re.Pattern[bytes] | None, list[SecretPattern]]]]
"""By the character after the name: the pattern that must match before it, and the secret patterns that require it."""


class PartialSecret(NamedTuple):
    """A secret that may have started: the position of the text that indicates it, and of the part to hide."""

    start: int
    secret: int
    likely: bool


class SecretMatch(NamedTuple):
    start: int
    secret: Span
    end: int


class _PatternGroup:
    """Patterns of one kind, with a check whether a text may match any of them."""

    def __init__(self, forms: Iterable[SecretPattern]) -> None:
        hints: dict[bytes, set[str]] = {}
        for form in forms:
            hints.setdefault(form.literal, set()).add(_hint(form))
        self._hints = {literal: pattern_check(sorted(its)) for literal, its in hints.items()}
        self._has_hint = pattern_check(sorted({hint for its in hints.values() for hint in its}))

    def hinted(self, folded: str) -> list[bytes]:
        if not self._has_hint(folded):
            return []
        return [literal for literal, stands in self._hints.items() if stands(folded)]


class SecretScanner:
    """Finds secrets by the built-in patterns and by the names that a user added."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        own = [
            form._replace(hint=literal_pattern(form.literal))
            for name in names
            for form in named_patterns(SecretName(name.casefold(), re.escape(name)))
        ]
        self._forms: dict[bytes, dict[Gate, list[SecretPattern]]] = {}
        pattern_groups = (*PATTERN_GROUPS, own) if own else PATTERN_GROUPS
        for form in chain.from_iterable(pattern_groups):
            self._forms.setdefault(form.literal, {}).setdefault(form.gate, []).append(form)
        self._following = {
            literal: [(gate, _following(group)) for gate, group in groups.items()]
            for literal, groups in self._forms.items()
        }
        self._gates = {literal: _any_of(list(forms)) for literal, forms in self._forms.items()}
        self._groups = [_PatternGroup(forms) for forms in pattern_groups]
        self._has_literal = pattern_check([literal_pattern(literal) for literal in self._forms])

    def secrets(self, view: bytes) -> list[Span]:
        """The positions of secrets, in order and without overlap, except text that was redacted before."""
        text = as_ascii(view)
        found = self._named(view, text.lower())
        if _has_long_token(text) or _has_short_token(text):
            found += _tokens(view)
        return _unmarked(view, disjoint(found)) if found else found

    def _named(self, view: bytes, folded: str) -> list[Span]:
        literals = dict.fromkeys(literal for group in self._groups for literal in group.hinted(folded))
        return [found.secret for _, found in self._found(list(literals), view, whole=True)]

    def partial(self, view: bytes) -> PartialSecret | None:
        """The earliest secret that may be cut off at the end of the view."""
        found = [
            (one.start, one.secret[0], _likely(form, view[slice(*one.secret)]))
            for form, one in self._found(self._literals_in(view), view, whole=False)
        ]
        if token := _begun_token(view):
            found.append((token.start(), token.start(token.lastindex or 0), True))
        if not found:
            return None
        likely = [secret for _, secret, is_likely in found if is_likely]
        return PartialSecret(
            min(start for start, _, _ in found), min(likely or [secret for _, secret, _ in found]), bool(likely)
        )

    def _literals_in(self, view: bytes) -> list[bytes]:
        """The literals in the view. Hints are not used, because cut-off text may not contain them yet."""
        folded = view.lower()
        return [it for it in self._forms if it in folded] if self._has_literal(as_ascii(folded)) else []

    def _found(self, literals: list[bytes], view: bytes, *, whole: bool) -> Iterator[tuple[SecretPattern, SecretMatch]]:
        if literals:
            search = _ViewSearch(view, whole=whole)
            for literal in literals:
                yield from search.found(literal, self._following[literal], self._gates[literal])


class _ViewSearch:
    """A search through one view that reads every part a bounded number of times."""

    def __init__(self, view: bytes, *, whole: bool) -> None:
        self._view = view
        self._whole = whole
        self._folded = view.lower()
        self._backwards = self._folded[::-1]
        self._runs: dict[int, bytes] = {}
        self._next: dict[re.Pattern[bytes], re.Match[bytes] | None] = {}

    def found(
        self, literal: bytes, following: list[tuple[Gate, Following]], gate: Gate
    ) -> Iterator[tuple[SecretPattern, SecretMatch]]:
        at = self._folded.find(literal)
        while at >= 0:
            after = at + len(literal)
            if gate is None or gate.match(self._view, at):
                for form in self._possible(following, at):
                    for found in self._fitting(form, at):
                        after = max(after, found.end)
                        yield form, found
            at = self._folded.find(literal, after)

    def _possible(self, following: list[tuple[Gate, Following]], at: int) -> list[SecretPattern]:
        """The patterns for this position: their gate matches, and so do the characters after and before it."""
        possible: list[SecretPattern] = []
        behind = len(self._view) - at
        for gate, groups in following:
            opened = gate.match(self._view, at) if gate else None
            if gate and not opened:
                continue
            for before, forms in groups.get(opened[opened.lastindex] if opened and opened.lastindex else b"", ()):
                if before is None or before.match(self._backwards, behind):
                    possible += forms
        return possible

    def _fitting(self, form: SecretPattern, at: int) -> Iterator[SecretMatch]:
        pattern = form.whole if self._whole else form.partial
        matches = self._options(form.command, pattern, at) if form.command else (pattern.match(self._view, at),)
        for match in matches:
            secret = match and (self._run(form.run, match.end()) if form.run else match.span("secret"))
            if match and secret and self._accepted(form, secret):
                yield SecretMatch(at, secret, max(match.end(), secret[1]))

    def _accepted(self, form: SecretPattern, secret: Span) -> bool:
        return not self._whole or form.accepts is None or form.accepts(self._view[secret[0] : secret[1]])

    def _run(self, run: CharacterRun, start: int) -> Span | None:
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
        """The option right after the command, and the next one, which is searched once for all commands before it."""
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


def _following(forms: list[SecretPattern]) -> Following:
    following: Following = {}
    for key in {bytes([code]) for form in forms for code in form.starts} or {b""}:
        groups: dict[re.Pattern[bytes] | None, list[SecretPattern]] = {}
        for form in forms:
            if not form.starts or key in form.starts:
                groups.setdefault(form.before, []).append(form)
        following[key] = list(groups.items())
    return following


def _hint(form: SecretPattern) -> str:
    return form.hint or (f"(?-u:{form.gate.pattern.decode()})" if form.gate else literal_pattern(form.literal))


def _any_of(gates: list[Gate]) -> Gate:
    """One pattern for the gates of all patterns with this literal; None if one has no gate, or they share one."""
    patterns = [gate.pattern for gate in gates if gate]
    return re.compile(b"|".join(patterns), re.IGNORECASE) if len(patterns) == len(gates) > 1 else None


def _likely(form: SecretPattern, secret: bytes) -> bool:
    return form.likely and (form.accepts is None or form.accepts(secret))


def _tokens(view: bytes) -> list[Span]:
    """Tokens of services. Only long words can be tokens; most texts have few of them."""
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
    word = as_ascii(view[start:])
    return _BEGUN.search(view, start) if word and (_has_long_head(word) or _has_short_head(word)) else None


def _may_be_token(word: bytes) -> bool:
    """Whether the word can be a token: words of letters and digits only, such as hashes, must start with a known
    prefix.
    """
    return not word.isalnum() or word.startswith(_PLAIN_HEADS)


def disjoint(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _unmarked(view: bytes, spans: list[Span]) -> list[Span]:
    """Leave out earlier redaction marks: a mark is not a secret, nor part of one."""
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
