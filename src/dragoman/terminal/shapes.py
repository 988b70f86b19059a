"""What secrets look like in a terminal's bytes, each found by a literal that must be in it.

A search for a literal runs at gigabytes a second, a pattern at tens of megabytes: patterns are tried only where their
literal stands. Every quantifier is bounded: bytes of a program must not be able to make the search slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dragoman.terminal.presence import contains

LONGEST_BYTES = 9_000
_SHORTEST_RUN = b"a" * 20
_TOKEN = re.compile(rb"[\w.-]")
_RUNS = bytes(ord("a") if _TOKEN.match(bytes([code])) else ord(" ") for code in range(256))
_NOT_VALUES = (b"$", b"<", b"*", b"%", b"{", b"(", b"none", b"null", b"true", b"false", b"\\")

Span = tuple[int, int]
Accepts = Callable[[bytes], bool]


class Shape(NamedTuple):
    literal: bytes
    """Of the folded text where `folds`, else of the text itself."""
    whole: re.Pattern[bytes]
    """From the literal on; group `secret` is what is hidden."""
    begun: re.Pattern[bytes]
    """The same, cut off by the end of what has come so far."""
    folds: bool = False
    before: re.Pattern[bytes] | None = None
    """What must stand right before the literal."""
    accepts: Accepts | None = None
    in_a_run: bool = True
    """Whether the whole is one word of at least 20 characters."""
    needs: bytes = b""
    """A character that the whole has, too; one alone is found far faster than a word."""
    likely: bool = True
    """Whether a long beginning is taken for a secret when nothing more comes."""


class Begun(NamedTuple):
    """A secret may have begun: where its telling part starts, and where what must not be seen does."""

    start: int
    secret: int
    likely: bool


def _shape(literal: str, head: str, body: str, least: int, most: int, end: str = "") -> Shape:
    whole = re.compile(f"(?P<secret>{head}{body}{{{least},{most}}}){end}".encode())
    begun = re.compile(f"{head}(?P<secret>{body}{{1,{most}}})\\Z".encode())
    return Shape(literal.encode(), whole, begun, before=_NO_WORD)


_NO_WORD = re.compile(rb"(?<![A-Za-z0-9_])\Z")
_KEY = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END)[\s\S]){0,8000}"
_TOKENS = (
    _shape("gh", "gh[pousr]_", "[A-Za-z0-9]", 30, 255),
    _shape("github_pat_", "github_pat_", r"\w", 30, 255),
    _shape("glpat-", "glpat-", r"[\w-]", 20, 255),
    _shape("xox", "xox[abeprs]-", r"[\w-]", 15, 255),
    _shape("sk-", "sk-(?:[a-z]{2,10}[0-9]{0,2}-){0,3}", r"[\w-]", 20, 255),
    _shape("sk_", "sk_(?:live|test)_", r"\w", 16, 255),
    _shape("rk_", "rk_(?:live|test)_", r"\w", 16, 255),
    _shape("AIza", "AIza", r"[\w-]", 35, 35),
    _shape("npm_", "npm_", "[A-Za-z0-9]", 36, 36, r"\b"),
    _shape("pypi-", "pypi-", r"[\w-]", 50, 255),
    _shape("AKIA", "AKIA", "[0-9A-Z]", 16, 16, r"\b"),
    _shape("ASIA", "ASIA", "[0-9A-Z]", 16, 16, r"\b"),
    Shape(
        b"eyJ",
        re.compile(rb"(?P<secret>eyJ[\w-]{8,2000}\.[\w-]{8,4000}\.[\w-]{8,2000})"),
        re.compile(rb"eyJ(?P<secret>[\w-]{1,2000}(?:\.[\w-]{0,4000}(?:\.[\w-]{0,2000})?)?)\Z"),
        before=_NO_WORD,
    ),
    Shape(
        b"-----BEGIN",
        re.compile(f"(?P<secret>{_KEY}(?:-----END [A-Z ]{{0,40}}-----)?)".encode()),
        re.compile(f"(?P<secret>{_KEY}(?:-----END[A-Z -]{{0,44}})?)\\Z".encode()),
        in_a_run=False,
    ),
)


def _value(value: bytes) -> bool:
    return not value.lower().startswith(_NOT_VALUES)


def _telling_value(value: bytes) -> bool:
    """After a colon or a space mostly words stand: a secret has a digit among its letters."""
    return len(value) >= 8 and _value(value) and bool(re.search(rb"\d", value)) and bool(re.search(rb"[A-Za-z]", value))


def _credential(value: bytes) -> bool:
    return len(value) >= 20 or bool(re.search(rb"[\d=]", value))


_SPACES = r"[ \t]{0,3}"
_QUOTE = rf"['\"]?\]?{_SPACES}[!:=]{{1,3}}{_SPACES}(?P<quote>['\"])"
_QUOTED = r"(?:(?!(?P=quote))[^\r\n])"
_BARE = r"[^\s'\"]"
_FLAG = re.compile(rb"(?:^|\s)--?[\w-]{0,30}\Z")


def _named(literal: str, name: str, before: re.Pattern[bytes] | None) -> Iterator[Shape]:
    """A name and its value: quoted, assigned bare, told after a colon, or given to an option."""
    ways = (
        (_QUOTE, _QUOTED, 4, "(?P=quote)", before, _value),
        (r"['\"]?\]?=", _BARE, 4, "", before, _value),
        (rf"['\"]?:{_SPACES}", _BARE, 8, "", before, _telling_value),
        (r"[ ]{1,3}", _BARE, 4, "", _FLAG, _value),
    )
    for between, body, least, end, earlier, accepts in ways:
        head = f"(?i:{name}){between}"
        whole = re.compile(f"{head}(?P<secret>{body}{{{least},1000}}){end}".encode())
        begun = re.compile(f"{head}(?P<secret>{body}{{1,1000}})\\Z".encode())
        yield Shape(literal.encode(), whole, begun, True, earlier, accepts, in_a_run=False)


_KEYS = re.compile(rb"(?i:api|private|access|secret|encryption|signing|account|auth|client)[_-]?\Z")
_TOKENS_OF = re.compile(rb"(?i:access|auth|refresh|session|id|bearer|api)[_-]?\Z|_\Z|(?<![A-Za-z0-9-])\Z")
_NAMES = (
    *_named("pass", "pass(?:word|wd|phrase)", None),
    *_named("secret", "secret(?:[_-]?access)?(?:[_-]?key)?", None),
    *_named("key", "key", _KEYS),
    *_named("token", "token", _TOKENS_OF),
    *_named("credential", "credentials?", None),
    *_named("authorization", "authorization", None),
    Shape(
        b"bearer ",
        re.compile(rb"(?i:bearer) {1,3}(?P<secret>[^\s'\"]{8,2000})"),
        re.compile(rb"(?i:bearer) {1,3}(?P<secret>[^\s'\"]{1,2000})\Z"),
        folds=True, accepts=_credential, in_a_run=False,
    ),
    Shape(
        b"authorization",
        re.compile(rb"(?i:authorization['\"]?[:=] {0,3}['\"]?basic) {1,3}(?P<secret>[A-Za-z0-9+/]{4,1000}={0,2})"),
        re.compile(rb"(?i:authorization['\"]?[:=] {0,3}['\"]?basic) {1,3}(?P<secret>[A-Za-z0-9+/]{1,1000}={0,2})\Z"),
        folds=True, in_a_run=False,
    ),
    Shape(
        b"://",
        re.compile(rb"://[^\s/:@'\"]{0,100}:(?P<secret>[^\s/@'\"]{1,1000})@"),
        re.compile(rb"://[^\s/:@'\"]{0,100}:(?P<secret>[^\s/@'\"]{1,1000})\Z"),
        folds=True, accepts=_value, in_a_run=False, needs=b"@", likely=False,
    ),
)  # fmt: skip


class Shapes:
    """The shapes known everywhere, and the names that a user added."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        own = [shape for name in names for shape in _named(name.casefold(), re.escape(name), None)]
        every = (*_TOKENS, *_NAMES, *own)
        self._runs = _by_literal(shape for shape in every if shape.in_a_run)
        self._exact = _by_literal(shape for shape in every if not shape.in_a_run and not shape.folds)
        self._folded = _by_literal(shape for shape in every if shape.folds)

    def secrets(self, view: bytes) -> list[Span]:
        """Where secrets stand, in order and apart."""
        return apart([shape_found.span("secret") for _, shape_found in self._found(view, whole=True)])

    def begun(self, view: bytes) -> Begun | None:
        """The earliest secret that the end of the view may have cut off."""
        found = [
            (match.start(), match.start("secret"), _likely(shape, match))
            for shape, match in self._found(view, whole=False)
        ]
        if not found:
            return None
        likely = [secret for _, secret, is_likely in found if is_likely]
        return Begun(
            min(start for start, _, _ in found), min(likely or [secret for _, secret, _ in found]), bool(likely)
        )

    def _found(self, view: bytes, *, whole: bool) -> Iterator[tuple[Shape, re.Match[bytes]]]:
        yield from _search(self._exact, view, view, whole)
        yield from _search(self._folded, view, view.lower(), whole)
        if not whole or contains(view.translate(_RUNS), _SHORTEST_RUN):
            yield from _search(self._runs, view, view, whole)


def _by_literal(shapes: Iterator[Shape]) -> dict[bytes, list[Shape]]:
    found: dict[bytes, list[Shape]] = {}
    for shape in shapes:
        found.setdefault(shape.literal, []).append(shape)
    return found


def _search(
    table: dict[bytes, list[Shape]], view: bytes, searched: bytes, whole: bool
) -> Iterator[tuple[Shape, re.Match[bytes]]]:
    for literal, shapes in table.items():
        if whole and shapes[0].needs and shapes[0].needs not in view:
            continue
        at = searched.find(literal) if contains(searched, literal) else -1
        while at >= 0:
            after = at + len(literal)
            for shape in shapes:
                match = (shape.whole if whole else shape.begun).match(view, at)
                if match and _fits(shape, view, match, whole):
                    after = max(after, match.end())
                    yield shape, match
            at = searched.find(literal, after)


def _fits(shape: Shape, view: bytes, match: re.Match[bytes], whole: bool) -> bool:
    if shape.before and not shape.before.search(view[max(0, match.start() - 32) : match.start()]):
        return False
    return not whole or shape.accepts is None or shape.accepts(match["secret"])


def _likely(shape: Shape, match: re.Match[bytes]) -> bool:
    return shape.likely and (shape.accepts is None or shape.accepts(match["secret"]))


def apart(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
