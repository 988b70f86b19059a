"""What can be wrong with a request to launch: sentences for people, and the facts apart, as data.

Names out of a workspace's files are anybody's words. A sentence has at most those it is about, each quoted, escaped and
cut; lists of them are data, and a hint says where to look.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.visible import spelled_out

_SHOWN = 60
_PATH_SHOWN = 4096
_MOST_NAMES = 30


class LaunchError(DragomanError):
    """`details` holds what the sentence is made of (file, line, column, known names…), for programs to read."""

    def __init__(self, code: str, message: Phrase, *, hint: Phrase | None = None, **details: Any) -> None:
        super().__init__(code, message, hint=hint)
        self.details: Mapping[str, Any] = details


class UnresolvableError(Exception):
    """A variable that stands for nothing here. Whoever knows where it is written makes it a `LaunchError`."""

    def __init__(self, code: str, problem: Phrase, hint: Phrase, **details: Any) -> None:
        super().__init__(code, problem)
        self.code = code
        self.problem = problem
        self.hint = hint
        self.details: Mapping[str, Any] = details


def quoted(value: object, *, limit: int = _SHOWN) -> str:
    """As JSON, in one line, with everything escaped that is not meant to be seen."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    shown = spelled_out(text[: limit + 1])
    return shown if len(text) <= limit else f"{shown[:limit]}…"


def quoted_path(path: object) -> str:
    """Whole: the end of a path is the part that matters."""
    return quoted(str(path), limit=_PATH_SHOWN)


def listed(names: Iterable[str]) -> str:
    all_names = list(names)
    shown = ", ".join(quoted(name) for name in all_names[:_MOST_NAMES])
    return shown if len(all_names) <= _MOST_NAMES else f"{shown}, … ({len(all_names)})"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, whatever its case; names too long to be typed are not compared."""
    by_fold = {other.casefold(): other for other in known if len(other) <= _SHOWN}
    close = difflib.get_close_matches(name[:_SHOWN].casefold(), list(by_fold), n=1)
    return by_fold[close[0]] if close else None


def choice(name: str, known: Iterable[str]) -> Phrase:
    """The hint for a name that is not there: the one that it is close to, and where all of them are told."""
    names = list(known)
    close = nearest(name, names)
    if close is not None:
        return say("Did you mean {nearest}? All there are: `known`.", nearest=quoted(close))
    return say("See `known` for those there are.") if names else say("There is none.")
