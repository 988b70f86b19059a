"""Checks whether a candidate value is a secret, or a variable, a type, a path or an ordinary word."""

from __future__ import annotations

import base64
import re

_WORDS = frozenset(
    b"none null nil true false undefined required optional string str bytes empty unset hidden default enabled "
    b"disabled".split()
)
# Words after `password:` on their own line that are not secrets: types, form fields, messages.
_PASSWORD_WORDS = frozenset(
    b"text int bool boolean object char varchar buffer field input type value prompt ask never always keep change "
    b"changed correct incorrect invalid valid wrong missing expired unchanged unknown accepted rejected failed "
    b"prohibited ok okay masked filtered redacted secret removed cleared locked supported unsupported readonly "
    b"nullable sensitive plain hashed encrypted rotated placeholder example changeme".split()
)
_TYPE = re.compile(rb"(?:[A-Z][a-z]+){2,}|[A-Z][a-z]{1,30}|[A-Z_]+|[a-z]+[A-Z]\w*|\w*_\w*")
_STANDS_FOR = re.compile(
    rb"(?:(?i:bearer|basic|token) {1,3})?"
    rb"(?:\$[A-Za-z_{(]|<redacted|<[^<>]{0,60}>$|\*+$|%[sdrx(]|%\w{1,60}%$|\{[^{}]{0,60}\}|\\+[nrt]?$)"
)
_CODE = re.compile(rb"\(|[A-Za-z_][\w.]{0,200}[(\[]|(?:[A-Za-z_]\w{0,60}\.){1,10}[A-Za-z_]\w{0,60}[,;:)\]}]{0,5}$")
_RANDOM_BYTES = 16
_HASH_BYTES = 20
_PLAIN_WORDS = re.compile(rb"(?:[A-Za-z][a-z]{2,30}+|[A-Z]{1,30}(?![a-z])|[0-9]{1,6}|[^A-Za-z0-9])*+")
_SECRET_NAME = re.compile(
    rb"(?:\w{0,40}_)?(?:pass(?:word|wd)?|secret|token|key|credentials?|auth|pwd)s?[,;:)\]}]{1,5}$", re.IGNORECASE
)
_PATH = re.compile(rb"[~.]{0,2}/[a-z0-9_.@/ -]*$|[~.]{0,2}/[\w.@/-]*\.[a-z]{2,5}$|[A-Za-z]:\\")
_ONE_WORD = re.compile(rb"[^\s<>(){}\[\]'\"`]{4,1000}")
_NUMBER = re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9][0-9._,]*(?:[eE][+-]?[0-9]+)?[a-zA-Z]{0,3})")
_OPTION = re.compile(rb"--?[a-z]")
# Replaces each character with its kind, so that looking for a kind is as fast as looking for a byte.
_LETTERS = bytes(range(ord("a"), ord("z") + 1))
_DIGIT, _SMALL, _LARGE = b"0", b"a", b"A"
_KINDS = bytes(
    next(
        (
            kind[0]
            for kind, its in ((_DIGIT, b"0123456789"), (_SMALL, _LETTERS), (_LARGE, _LETTERS.upper()))
            if code in its
        ),
        0,
    )
    for code in range(256)
)
_SYMBOL = re.compile(rb"[^\w.,;:()\[\]{}<>'\"]")


def is_value(value: bytes) -> bool:
    """Not a placeholder, an expansion, or a word such as `none`."""
    return value.rstrip(b",;:)]}").lower() not in _WORDS and not _STANDS_FOR.match(value)


def is_assigned(value: bytes) -> bool:
    """After `password=`, which also occurs in program code: another variable is not a secret."""
    return is_value(value) and not _is_code(value) and not _SECRET_NAME.match(value)


def _is_code(value: bytes) -> bool:
    """A call or a member, unless a part looks random: `s.9qsWIY17fyCr1y5eBM` is a token."""
    return bool(_CODE.match(value)) and not any(
        b"(" not in value and len(part) >= _RANDOM_BYTES and is_opaque(part) and not _PLAIN_WORDS.fullmatch(part)
        for part in value.split(b".")
    )


def is_secret_after_colon(value: bytes) -> bool:
    """After a colon, where ordinary words are common: a secret has letters and a digit."""
    return _has_digit_and_letter(value) and is_assigned(value)


def is_configured(value: bytes) -> bool:
    """`name = value` in a configuration file, not in a program: a secret has a digit or a symbol."""
    return (_has_digit_and_letter(value) or bool(_SYMBOL.search(value))) and is_assigned(value)


def _has_digit_and_letter(value: bytes) -> bool:
    kinds = value.translate(_KINDS)
    return _DIGIT in kinds and (_SMALL in kinds or _LARGE in kinds)


def is_argument(value: bytes) -> bool:
    return is_value(value) and not _OPTION.match(value)


def is_not_path(value: bytes) -> bool:
    return is_value(value) and not _PATH.match(value)


def is_opaque(value: bytes) -> bool:
    """Looks random: at least two kinds of characters."""
    kinds = value.translate(_KINDS)
    return len(value) >= 8 and sum(kind in kinds for kind in (_DIGIT, _SMALL, _LARGE)) >= 2 and is_value(value)


def is_credential(value: bytes) -> bool:
    return is_value(value) and (len(value) >= 20 or bool(re.search(rb"[\d=]", value)))


def is_basic(value: bytes) -> bool:
    """After `Basic`: also a short word of letters, if it is the base 64 of a name and a password."""
    if is_credential(value):
        return True
    try:
        return b":" in base64.b64decode(value, validate=True)
    except ValueError:
        return False


def is_cookie(value: bytes) -> bool:
    return b"=" in value and is_value(value)


def is_hash(value: bytes) -> bool:
    """Whether the last part, after salt and cost, is as long as the shortest hash."""
    return len(value.rsplit(b"$", 1)[-1].split(b":", 1)[0]) >= _HASH_BYTES and is_opaque(value)


def is_not_type(value: bytes) -> bool:
    """A lower-case word, or one with symbols, that is neither a type nor a common word about passwords."""
    word = value.lower().strip(b"!*")
    return (
        is_assigned(value)
        and word not in _PASSWORD_WORDS
        and b"pass" not in word
        and not _TYPE.fullmatch(value.rstrip(b"!?"))
    )


def is_bare_text(value: bytes) -> bool:
    """Text that a debugger shows without quotes: one word that is not a number, address, type, member or object."""
    return bool(_ONE_WORD.fullmatch(value)) and not _NUMBER.fullmatch(value) and is_not_type(value)


def is_encoded_data(entries: bytes) -> bool:
    """Every entry is complete base 64, the last one possibly cut, and at least one is not an ordinary word."""
    encoded = [entry.rpartition(b":")[2].strip() for entry in entries.splitlines()]
    whole = encoded if entries.endswith(b"\n") else encoded[:-1]
    return all(len(it) % 4 == 0 for it in whole) and any(
        it.endswith(b"=") or (len(it) >= _RANDOM_BYTES and is_opaque(it) and not _PLAIN_WORDS.fullmatch(it))
        for it in encoded
    )
