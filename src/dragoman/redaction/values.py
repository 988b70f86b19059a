"""Whether what stands where a secret would stand is one, or a variable, a type, a path, a word of a sentence."""

from __future__ import annotations

import re

_WORDS = frozenset(
    b"none null nil true false undefined required optional string str bytes empty unset hidden default enabled "
    b"disabled".split()
)
_STANDS_FOR = re.compile(
    rb"(?:(?i:bearer|basic|token) {1,3})?"
    rb"(?:\$[A-Za-z_{(]|<redacted|<[^<>]{0,60}>$|\*+$|%[sdrx(]|%\w{1,60}%$|\{[^{}]{0,60}\}|\\+[nrt]?$)"
)
_CODE = re.compile(rb"\(|[A-Za-z_][\w.]{0,200}[(\[]|(?:[A-Za-z_]\w{0,60}\.){1,10}[A-Za-z_]\w{0,60}[,;:)\]}]{0,5}$")
_TELLING = re.compile(
    rb"(?:\w{0,40}_)?(?:pass(?:word|wd)?|secret|token|key|credentials?|auth|pwd)s?[,;:)\]}]{1,5}$", re.IGNORECASE
)
_PATH = re.compile(rb"[~.]{0,2}/[a-z0-9_.@/ -]*$|[~.]{0,2}/[\w.@/-]*\.[a-z]{2,5}$|[A-Za-z]:\\")
_OPTION = re.compile(rb"--?[a-z]")
_DIGIT, _LETTER = re.compile(rb"\d"), re.compile(rb"[A-Za-z]")
_KINDS = (re.compile(rb"[a-z]"), re.compile(rb"[A-Z]"), _DIGIT)
_SYMBOL = re.compile(rb"[^\w.,;:()\[\]{}<>'\"]")


def is_value(value: bytes) -> bool:
    """Not a placeholder or an expansion, and not a word that says that there is none."""
    return value.rstrip(b",;:)]}").lower() not in _WORDS and not _STANDS_FOR.match(value)


def is_assigned(value: bytes) -> bool:
    """`password=…` stands in calls of a program as well: another variable is no secret."""
    return is_value(value) and not _CODE.match(value) and not _TELLING.match(value)


def is_telling(value: bytes) -> bool:
    """After a colon mostly words stand: a secret has a digit among its letters."""
    return is_assigned(value) and bool(_DIGIT.search(value)) and bool(_LETTER.search(value))


def is_configured(value: bytes) -> bool:
    """`name = value` of a configuration file, not of a program: a digit or a sign tells them apart."""
    return is_assigned(value) and bool((_DIGIT.search(value) and _LETTER.search(value)) or _SYMBOL.search(value))


def is_argument(value: bytes) -> bool:
    return is_value(value) and not _OPTION.match(value)


def is_no_path(value: bytes) -> bool:
    return is_value(value) and not _PATH.match(value)


def is_opaque(value: bytes) -> bool:
    """As random characters look: of two kinds at least."""
    return len(value) >= 8 and is_value(value) and sum(bool(kind.search(value)) for kind in _KINDS) >= 2


def is_credential(value: bytes) -> bool:
    return is_value(value) and (len(value) >= 20 or bool(re.search(rb"[\d=]", value)))


def is_cookie(value: bytes) -> bool:
    return b"=" in value and is_value(value)
