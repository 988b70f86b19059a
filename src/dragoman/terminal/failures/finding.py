"""The lines of an output that say what went wrong, and which says it best. Bounded: lines are cut, few are told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from dragoman.terminal.failures.rules import RULES, Rule

CERTAIN = 66
"""From here on it is a shape that tools give their errors; below, a word that may mean anything."""
_LINE = 400
_SHOWN = 5
_TOOL_WAS_RUN = 8
_SAYS_ITS_NAME = 14
_BESIDES = 10
_NO_ERROR = re.compile(
    r"(?i)\b(?:0|no|without(?: any)?) (?:error|failure|fail)(?:s|ed)?\b|\b(?:errors?|fail(?:ed|ures?)): 0\b"
)
_WARNING = re.compile(r"(?i)\bwarn(?:ing)?\b|\bdeprecat|警告")
# Says only that something before it went wrong.
_AFTERMATH = re.compile(
    r"not recoverable|[Ee]xiting with failure|due to (?:\d+ )?previous error|\b(?:returned|exited with|exit)(?: an?)?"
    r"(?: non-zero)? (?:status|code)\b|make(?:\[\d+\])?: \*\*\* \[|[Cc]ommand failed\b"
)
_WORD = re.compile(r"[\w.+\-\[]+")


@dataclass(frozen=True, slots=True)
class Found:
    """In the order in which they were printed; without one that names an error (a score of none), the last ones."""

    lines: tuple[str, ...]
    score: int
    telling: str
    """The one that names the error, by which two failures are compared."""

    @property
    def is_certain(self) -> bool:
        return self.score >= CERTAIN


@dataclass(frozen=True, slots=True)
class _Seen:
    score: int
    at: int
    rule: Rule

    @property
    def rank(self) -> tuple[int, int]:
        return self.score, -self.at if self.rule.counts == "first" else self.at


def find_errors(text: str, command_line: str) -> Found | None:
    """None where nothing was printed; where no line looks like an error, the last ones, with a score of none."""
    lines = [line[:_LINE].rstrip() for line in text.split("\n")]
    seen = _best_a_line(lines, words_of(command_line))
    if not seen:
        last = [line for line in lines if line.strip()][-3:]
        return Found(tuple(last), 0, last[-1]) if last else None
    best = max(seen, key=lambda one: one.rank)
    return Found(_shown(lines, best, seen), best.score, lines[best.at].strip())


def words_of(command_line: str) -> Set[str]:
    """The programs and words of a command, without their folders: what a tool is recognised by."""
    try:
        words = shlex.split(command_line, comments=True)
    except ValueError:
        words = command_line.split()
    parts = [part for word in words[:60] for part in re.split(r"[;|&()]+", word)]
    return frozenset(part.rpartition("/")[2].lower() for part in parts if part)


def _best_a_line(lines: Sequence[str], words: Set[str]) -> list[_Seen]:
    judged = (_judged(lines, at, words) for at, line in enumerate(lines) if line)
    return [seen for seen in judged if seen is not None]


def _judged(lines: Sequence[str], at: int, words: Set[str]) -> _Seen | None:
    best: _Seen | None = None
    for rule in RULES:
        if any(map(lines[at].__contains__, rule.needs)) and rule.pattern.match(lines[at]):
            named = rule.names(lines, at)
            seen = _Seen(_score(rule, lines[named], words), named, rule)
            best = seen if best is None or seen.score > best.score else best
    return best if best is not None and best.score > 0 else None


def _score(rule: Rule, line: str, words: Set[str]) -> int:
    score = rule.score + (_TOOL_WAS_RUN if rule.tools & words else 0)
    if rule.score < CERTAIN + _BESIDES:
        said = _WORD.match(line)
        score += _SAYS_ITS_NAME if said and said[0].rstrip(":").lower() in words and ": " in line else 0
        score -= 40 if _WARNING.search(line) else 0
        score -= 30 if _AFTERMATH.search(line) else 0
        score -= 100 if _NO_ERROR.search(line) else 0
    return score


def _shown(lines: Sequence[str], best: _Seen, seen: Iterable[_Seen]) -> tuple[str, ...]:
    """The best, what belongs to it, then others that are as telling: as many as fit, in the order of the output."""
    others = [one.at for one in seen if one.score >= max(best.score - _BESIDES, CERTAIN)]
    chosen: dict[str, int] = {}
    for at in (best.at, *sorted(best.rule.shows(lines, best.at)), *sorted(others)):
        chosen.setdefault(lines[at].strip(), at)
    fitting = [line for line in chosen if line][:_SHOWN]
    return tuple(sorted(fitting, key=chosen.__getitem__))
