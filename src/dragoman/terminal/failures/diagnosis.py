"""Why a command failed: the lines of its output that name the error, and the meaning of its exit code. Reading is
bounded."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.terminal.failures.rules import RULES, ErrorRule
from dragoman.terminal.model import RecordedCommand, TerminalRecord
from dragoman.terminal.plain_text import to_plain_text

CERTAIN = 66
"""From this score on, the line has the form of a tool's error; below it, only a word that may mean anything."""
_LINE = 400
_SHOWN = 5
_TOOL_WAS_RUN = 8
_NAMES_THE_TOOL = 14
_SIMILAR_SCORE = 10
_HEAD = 64 << 10
_TAIL = 192 << 10
_MORE_PAGES = 4

_NO_ERROR = re.compile(
    r"(?i)\b(?:0|no|without(?: any)?) (?:error|failure|fail)(?:s|ed)?\b|\b(?:errors?|fail(?:ed|ures?)): 0\b"
)
_WARNING = re.compile(r"(?i)\bwarn(?:ing)?\b|\bdeprecat|警告")
# Says only that something before it failed.
_CONSEQUENCE = re.compile(
    r"not recoverable|[Ee]xiting with failure|due to (?:\d+ )?previous error|\b(?:returned|exited with|exit)(?: an?)?"
    r"(?: non-zero)? (?:status|code)\b|make(?:\[\d+\])?: \*\*\* \[|[Cc]ommand failed\b"
)
_WORD = re.compile(r"[\w.+\-\[]+")


@dataclass(frozen=True, slots=True)
class ErrorLines:
    """The lines, in the order of the output. If none names an error, the score is 0 and these are the last lines."""

    lines: tuple[str, ...]
    score: int
    key_line: str
    """The line that names the error. Two failures are compared by it."""

    @property
    def is_certain(self) -> bool:
        return self.score >= CERTAIN


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: int
    at: int
    rule: ErrorRule

    @property
    def rank(self) -> tuple[int, int]:
        return self.score, -self.at if self.rule.counts == "first" else self.at


def find_errors(text: str, command_line: str) -> ErrorLines | None:
    """None if there is no output. If no line looks like an error, the last lines, with a score of 0."""
    lines = [line[:_LINE].rstrip() for line in text.split("\n")]
    seen = _candidates(lines, command_words(command_line))
    if not seen:
        last = [line for line in lines if line.strip()][-3:]
        return ErrorLines(tuple(last), 0, last[-1]) if last else None
    best = max(seen, key=lambda one: one.rank)
    return ErrorLines(_lines_to_show(lines, best, seen), best.score, lines[best.at].strip())


def command_words(command_line: str) -> Set[str]:
    """The programs and words of a command, without folders: tools are recognised by these."""
    try:
        words = shlex.split(command_line, comments=True)
    except ValueError:
        words = command_line.split()
    parts = [part for word in words[:60] for part in re.split(r"[;|&()]+", word)]
    return frozenset(part.rpartition("/")[2].lower() for part in parts if part)


def _candidates(lines: Sequence[str], words: Set[str]) -> list[_Candidate]:
    judged = (_best_candidate(lines, at, words) for at, line in enumerate(lines) if line)
    return [seen for seen in judged if seen is not None]


def _best_candidate(lines: Sequence[str], at: int, words: Set[str]) -> _Candidate | None:
    best: _Candidate | None = None
    for rule in RULES:
        if any(map(lines[at].__contains__, rule.needs)) and rule.pattern.match(lines[at]):
            named = rule.names(lines, at)
            seen = _Candidate(_score(rule, lines[named], words), named, rule)
            best = seen if best is None or seen.score > best.score else best
    return best if best is not None and best.score > 0 else None


def _score(rule: ErrorRule, line: str, words: Set[str]) -> int:
    score = rule.score + (_TOOL_WAS_RUN if rule.tools & words else 0)
    if rule.score < CERTAIN + _SIMILAR_SCORE:
        first = _WORD.match(line)
        score += _NAMES_THE_TOOL if first and first[0].rstrip(":").lower() in words and ": " in line else 0
        score -= 40 if _WARNING.search(line) else 0
        score -= 30 if _CONSEQUENCE.search(line) else 0
        score -= 100 if _NO_ERROR.search(line) else 0
    return score


def _lines_to_show(lines: Sequence[str], best: _Candidate, seen: Iterable[_Candidate]) -> tuple[str, ...]:
    """The best line, its context, then lines that score as high: as many as fit, in the order of the output."""
    others = [one.at for one in seen if one.score >= max(best.score - _SIMILAR_SCORE, CERTAIN)]
    chosen: dict[str, int] = {}
    for at in (best.at, *sorted(best.rule.shows(lines, best.at)), *sorted(others)):
        chosen.setdefault(lines[at].strip(), at)
    fitting = [line for line in chosen if line][:_SHOWN]
    return tuple(sorted(fitting, key=chosen.__getitem__))


async def read_errors(record: TerminalRecord, command: RecordedCommand) -> ErrorLines | None:
    """None if no output is kept. The search runs in a worker thread."""
    if not command.output_bytes:
        return None
    ends = await read_ends(record, command, head=_HEAD, tail=_TAIL)
    best = await anyio.to_thread.run_sync(find_errors, "\n".join(ends), command.line)
    upto = command.output_bytes - _TAIL
    for _ in range(_MORE_PAGES):
        if upto <= _HEAD or (best is not None and best.is_certain):
            break
        upto -= _TAIL
        page = await _text(record, command, max(upto, 0), _TAIL)
        found = await anyio.to_thread.run_sync(find_errors, page, command.line)
        best = max((one for one in (best, found) if one), key=lambda one: one.score, default=None)
    return best


async def read_ends(record: TerminalRecord, command: RecordedCommand, *, head: int, tail: int) -> tuple[str, ...]:
    """All of it if it is short; otherwise its start and its end."""
    if command.output_bytes <= head + tail:
        return (await _text(record, command, 0, head + tail),)
    return await _text(record, command, 0, head), await _text(record, command, -tail, tail)


async def _text(record: TerminalRecord, command: RecordedCommand, offset: int, limit: int) -> str:
    """Output that retention removed counts as empty."""
    try:
        page = await record.output(command.id, offset=offset, limit=limit)
    except DragomanError:
        return ""
    return await anyio.to_thread.run_sync(to_plain_text, page.data)


_SHELL: Mapping[int, LocalizedText] = {
    124: localize("ended by `timeout`"),
    126: localize("found, but not executable"),
    127: localize("command not found"),
}
_SIGNALS: Mapping[int, LocalizedText] = {
    signal.SIGHUP: localize("terminal closed"),
    signal.SIGINT: localize("interrupted with Ctrl-C"),
    signal.SIGQUIT: localize("quit with Ctrl-\\"),
    signal.SIGILL: localize("illegal instruction"),
    signal.SIGTRAP: localize("trace or breakpoint trap"),
    signal.SIGABRT: localize("aborted"),
    signal.SIGBUS: localize("bus error"),
    signal.SIGFPE: localize("arithmetic error"),
    signal.SIGKILL: localize("killed, often because memory ran out"),
    signal.SIGSEGV: localize("segmentation fault"),
    signal.SIGPIPE: localize("broken pipe: the reader exited first"),
    signal.SIGTSTP: localize("suspended with Ctrl-Z; `fg` resumes it"),
    signal.SIGTERM: localize("terminated"),
    signal.SIGXCPU: localize("CPU time limit exceeded"),
    signal.SIGXFSZ: localize("file size limit exceeded"),
}
# Exit codes that answer a question, as grep and diff do: "no" is not a failure.
_ANSWERS_BY_CODE: Mapping[int, Set[str]] = {
    1: frozenset({"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "which", "pgrep"}),
    124: frozenset({"timeout"}),
}
_INTERRUPTED = frozenset({128 + signal.SIGINT, 128 + signal.SIGPIPE, 128 + signal.SIGQUIT})


def exit_meaning(code: int) -> LocalizedText | None:
    """None if the code only says that it failed."""
    if code in _SHELL:
        return _SHELL[code]
    number = code - 128 if 128 < code < 193 else -code if code < 0 else 0
    try:
        name = signal.Signals(number).name
    except ValueError:
        return None
    if number in _SIGNALS:
        return localize("{name}: {meaning}", name=name, meaning=_SIGNALS[number])
    return localize("terminated by {name}", name=name)


def is_harmless(code: int, words: Set[str], *, printed: bool) -> bool:
    """Whether a person interrupted it, or a program answered "no" with its exit code and printed nothing."""
    return code in _INTERRUPTED or (not printed and bool(_ANSWERS_BY_CODE.get(code, frozenset()) & words))
