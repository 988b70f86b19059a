"""Secrets are neither shown nor recorded: told by the shape of a value, or by the name it goes by.

What is sent to a program is never touched, nor what has to be sent to it again (a breakpoint's condition in its store).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from dragoman.events import Event

# Every quantifier is bounded: text of a program must not be able to make the search slow.
_SHAPES = re.compile(
    r"""
      -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----(?:(?!-----END)[\s\S]){0,8000}(?:-----END\ [A-Z ]{0,40}-----)?
    | \beyJ[\w-]{8,2000}\.[\w-]{8,4000}\.[\w-]{8,2000}            # a JSON web token
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{30,255}
    | \bgithub_pat_\w{30,255}
    | \bglpat-[\w-]{20,255}
    | \bxox[abeprs]-[\w-]{10,255}
    | \bsk-(?:[a-z]{2,10}\d{0,2}-){0,3}[\w-]{20,255}
    | \b[rs]k_(?:live|test)_\w{16,255}
    | \bAIza[\w-]{35}
    | \bnpm_[A-Za-z0-9]{36}\b
    | \bpypi-[\w-]{50,255}
    """,
    re.VERBOSE,
)
# A port, and what a sentence has behind it, is no password, unless a host follows.
_PORT = r"(?!\d{1,5}(?:[^\w@/'\"\s][^\s/@'\"]{0,1000})?(?:[\s/'\"]|$))"
_AFTER = re.compile(
    rf"(?i)(\b(?:Bearer|Basic)[ ]|://[^\s/:@'\"]{{0,100}}:{_PORT})([^\s/@'\"]{{6,1000}})(?=@|['\"\s]|$)"
)
_NAME = (
    r"pass(?:word|wd|phrase)|secret(?:_?key)?|api_?key|(?:access|auth|refresh|session|id|bearer)_?token|"
    r"private_?key|access_?key|client_?secret|credentials?|authorization"
)
# A search by pattern costs hundreds of times as much as one for a word, and most texts have none of these.
_BEGINNINGS = (
    "-----BEGIN", "eyJ", "AKIA", "ASIA", "gh", "github_pat_", "glpat-", "xox", "sk-", "k_live_", "k_test_", "AIza",
    "npm_", "pypi-",
)  # fmt: skip
_BEFORE = ("bearer ", "basic ", "://")
_STEMS = ("pass", "secret", "key", "token", "credential", "authorization")
# C has the address first; a value that the debugger cut has no closing quote.
_QUOTED = re.compile(r"((?:0x[0-9a-f]{1,16} )?[bur]{0,2}(['\"`]))([\s\S]*?)(\2?)", re.IGNORECASE)
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Redactor:
    enabled: bool = True
    names: tuple[str, ...] = ()
    """Names that tell of a secret, besides those that do everywhere."""

    def text(self, text: str) -> str:
        """Output, source lines, messages: what looks like a secret, and what stands beside a telling name."""
        if not self.enabled:
            return text
        shown, folded = text, text.casefold()
        if _has_one(_BEGINNINGS, text):
            shown = _SHAPES.sub(lambda found: _mark(found[0]), shown)
        if _has_one(_BEFORE, folded):
            shown = _AFTER.sub(lambda found: found[1] + _mark(found[2]), shown)
        if _has_one(_STEMS, folded) or _has_one([name.casefold() for name in self.names], folded):
            pairs = _telling(self.names).pairs
            shown = pairs.sub(lambda found: f"{found[1]}{found[2]}{_mark(found[3])}{found[2]}", shown)
        return shown

    def value(self, name: str, value: str) -> str:
        """A variable: the whole of a text whose name tells; `None`, a number or an object tells nothing by its name."""
        tells = self.enabled and _telling(self.names).at_the_end.search(name.strip("'\"[]")[-60:])
        if tells and (quoted := _QUOTED.fullmatch(value)):
            inner = quoted[3]
            return f"{quoted[1]}{_mark(inner)}{quoted[4]}" if len(inner) >= _SHORTEST else value
        return self.text(value)

    def event(self, event: Event) -> Event:
        """As it may stand in the record, which is there to be searched and kept."""
        if not self.enabled:
            return event
        return msgspec.structs.replace(event, text=self.text(event.text), body=self._through("", event.body))

    def _through(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._through(str(key), inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._through(name, inner) for inner in value]
        return self.setting(name, value) if isinstance(value, str) else value

    def setting(self, name: str, text: str) -> str:
        """A text of a file, by its key. What stands for something else, such as ${env:TOKEN}, gives nothing away."""
        if self.enabled and len(text) >= _SHORTEST and _telling(self.names).at_the_end.search(name[-60:]):
            return text if text.startswith("${") else _mark(text)
        return self.text(text)


@dataclass(frozen=True, slots=True)
class _Telling:
    at_the_end: re.Pattern[str]
    pairs: re.Pattern[str]


@lru_cache(maxsize=8)
def _telling(more: tuple[str, ...]) -> _Telling:
    names = "|".join([_NAME, *map(re.escape, more)])
    return _Telling(
        re.compile(rf"(?i)(?:{names})$"),
        re.compile(rf"(?i)((?:{names})['\"]?\]?\s{{0,3}}[!:=]{{1,3}}\s{{0,3}})(['\"])((?:(?!\2)[^\n]){{4,1000}})\2"),
    )


def _has_one(words: Iterable[str], text: str) -> bool:
    return any(word in text for word in words)


def _mark(secret: str) -> str:
    return secret if secret.startswith("<redacted ") else f"<redacted {len(secret)} chars>"
