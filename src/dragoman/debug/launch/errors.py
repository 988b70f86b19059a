"""Errors and notes of a launch: sentences for people, with the facts beside them as data.

Names from a workspace's files may be any text. A sentence contains only the names that it is about, each quoted,
escaped and cut. Lists of names are data, and a hint says where to look.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import escape_invisible

_LONGEST_QUOTED = 60
_LONGEST_QUOTED_PATH = 4096
_MOST_NAMES = 30


class LaunchError(DragomanError):
    """A launch that cannot start, with details such as file, line, column and known names."""


class LaunchErrorSpec(ErrorSpec):
    error_type = LaunchError


class UnresolvableError(Exception):
    """A variable that has no value here. The caller that knows where it is written makes a `LaunchError` of it."""

    def __init__(self, code: str, problem: LocalizedText, hint: LocalizedText, **details: Any) -> None:
        super().__init__(code, problem)
        self.code = code
        self.problem = problem
        self.hint = hint
        self.details: Mapping[str, Any] = details


def quoted(value: object, *, limit: int = _LONGEST_QUOTED) -> str:
    """As JSON, in one line, with invisible characters escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    shown = escape_invisible(text[: limit + 1])
    return shown if len(text) <= limit else f"{shown[:limit]}…"


def quoted_path(path: object) -> str:
    """Whole: the end of a path is the part that matters."""
    return quoted(str(path), limit=_LONGEST_QUOTED_PATH)


def listed(names: Iterable[str]) -> str:
    all_names = list(names)
    shown = ", ".join(quoted(name) for name in all_names[:_MOST_NAMES])
    return shown if len(all_names) <= _MOST_NAMES else f"{shown}, … ({len(all_names)})"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, whatever its case; names too long to be typed are not compared."""
    by_fold = {other.casefold(): other for other in known if len(other) <= _LONGEST_QUOTED}
    close = difflib.get_close_matches(name[:_LONGEST_QUOTED].casefold(), list(by_fold), n=1)
    return by_fold[close[0]] if close else None


def suggestion(name: str, known: Iterable[str]) -> LocalizedText:
    """The hint for an unknown name: the most similar name, and where all names are listed."""
    names = list(known)
    close = nearest(name, names)
    if close is not None:
        return localize("Did you mean {nearest}? See `known` for all.", nearest=quoted(close))
    return localize("See `known` for the available names.") if names else localize("None is defined.")


@dataclass(frozen=True, slots=True)
class LaunchNote:
    """A remark on a start that works, but perhaps not as the author of the file meant.

    `about` is the text from a file that the sentence is about. It is data beside the sentence, not part of it.
    """

    message: LocalizedText
    about: str

    def __str__(self) -> str:
        return f"{self.message} {self.about}"
