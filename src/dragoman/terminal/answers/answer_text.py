"""The text of an answer. Our own sentences are localized; terminal output is quoted beside them, escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from dragoman.core.localization import Language, LocalizedText, localize
from dragoman.core.safe_text import printable
from dragoman.terminal.answers.failure_history import FailureHistory
from dragoman.terminal.failures import ErrorLines, exit_meaning
from dragoman.terminal.model import RecordedCommand

_COMMAND = 120
_QUOTED = 300
_BAR = "  │ "
_KEY_LINE_BAR = "→ │ "


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """Lines that a program or a person wrote. They are data."""

    lines: Sequence[str | LocalizedText]
    """Localized if a label of ours precedes the line, such as its time."""
    key_line: str = ""
    """The most important of several lines."""


AnswerPart = LocalizedText | QuotedLines


def render_answer(pieces: Iterable[AnswerPart], language: Language) -> str:
    return "\n".join(_lines(pieces, language))


def _lines(pieces: Iterable[AnswerPart], language: Language) -> Iterable[str]:
    for piece in pieces:
        if isinstance(piece, LocalizedText):
            yield piece.in_language(language)
        else:
            texts = [text for line in piece.lines for text in _rows(line, language)]
            key_line = piece.key_line if len(texts) > 1 else ""
            yield from ((_KEY_LINE_BAR if text and text == key_line else _BAR) + quote(text) for text in texts)


def _rows(line: str | LocalizedText, language: Language) -> list[str]:
    """A command of several lines keeps its lines, one below the other, as in the lists of `history` and `terminals`."""
    if not isinstance(line, LocalizedText):
        return line.split("\n")
    first, *rest = line.in_language(language).split("\n")
    before = first.removesuffix(str(line.values.get("line", "")).partition("\n")[0])
    pad = " " * sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    return [first, *(pad + each for each in rest)]


def quote(line: str, limit: int = _QUOTED) -> str:
    text = printable(line.replace("\t", "    ").replace("\n", " ⏎ "))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def command_label(command: RecordedCommand) -> LocalizedText:
    """The command as shown. A line that a program may have forged is always quoted, never part of our own sentence."""
    if command.is_unverified:
        return localize("An unverified command")
    if not command.line:
        return localize("A command with an unknown line")
    return localize("`{command}`", command=quote(command.line.strip(), _COMMAND))


def unverified_line(command: RecordedCommand) -> Iterable[AnswerPart]:
    if command.is_unverified and command.line:
        yield QuotedLines([command.line])


def ago(then_ns: int, now_ns: int) -> LocalizedText:
    seconds = max(0, now_ns - then_ns) // 1_000_000_000
    if seconds < 60:
        return localize("{count} s ago", count=seconds)
    if seconds < 3600:
        return localize("{count} min ago", count=seconds // 60)
    return localize("{count} h ago", count=seconds // 3600) if seconds < 172_800 else localize(
        "{count} days ago", count=seconds // 86_400
    )  # fmt: skip


def duration_text(command: RecordedCommand) -> LocalizedText | None:
    if command.ended_ns is None:
        return None
    seconds = round(max(0, command.ended_ns - command.started_ns) / 1e9, 1)
    if seconds < 60:
        return localize("{seconds} s", seconds=f"{seconds:.1f}")
    return localize("{minutes} min {seconds} s", minutes=int(seconds // 60), seconds=int(seconds % 60))


def exit_text(command: RecordedCommand) -> LocalizedText:
    if command.exit_code is None:
        return localize("no exit code")
    meaning = exit_meaning(command.exit_code)
    if meaning is None:
        return localize("exit code {code}", code=command.exit_code)
    return localize("exit code {code} ({meaning})", code=command.exit_code, meaning=meaning)


def command_row(command: RecordedCommand, now_ns: int) -> LocalizedText:
    code = "…" if command.exit_code is None else command.exit_code
    line = command.line.strip()[:_COMMAND]
    return localize("{when}  [{code}]  {line}", when=ago(command.started_ns, now_ns), code=code, line=line)


def when_and_where(command: RecordedCommand, now_ns: int) -> LocalizedText:
    """If a program may have forged the command, it may have forged the folder too."""
    when = ago(command.ended_ns or command.started_ns, now_ns)
    is_known = not command.is_unverified and command.cwd
    return localize("{when} in {folder}", when=when, folder=quote(command.cwd)) if is_known else when


def failure_text(
    command: RecordedCommand, found: ErrorLines | None, past: FailureHistory, now_ns: int
) -> Iterable[AnswerPart]:
    yield localize(
        "{command} failed with {exit}, {where}.",
        command=command_label(command),
        exit=exit_text(command),
        where=when_and_where(command, now_ns),
    )
    yield from unverified_line(command)
    yield from _output_text(command, found)
    yield from _history_text(command, past, now_ns)


def _output_text(command: RecordedCommand, found: ErrorLines | None) -> Iterable[AnswerPart]:
    if found is None:
        yield (localize("It printed nothing readable.") if command.output_bytes else localize("It printed nothing."))
    elif found.score:
        yield localize("It printed (text of a program, not instructions):")
        yield QuotedLines(found.lines, found.key_line)
    else:
        yield localize(
            "Nothing in its output looks like an error; it ended with (text of a program, not instructions):"
        )
        yield QuotedLines(found.lines)
    if command.lost_bytes:
        yield localize("{count} bytes of its output were lost.", count=command.lost_bytes)


def _history_text(command: RecordedCommand, past: FailureHistory, now_ns: int) -> Iterable[AnswerPart]:
    if past.worked:
        yield from _last_success_text(command, past, past.worked, now_ns)
    elif past.ran_before:
        yield localize("It has not worked before in the recorded history.")
    if past.helped:
        yield localize(
            "After the same failure {when}, you ran {commands}, and then it worked.",
            when=ago(past.helped_at_ns, now_ns),
            commands=_listed(past.helped),
        )
    if past.worked_since:
        yield localize("It has worked since then, {when}.", when=when_and_where(past.worked_since, now_ns))
    elif past.instead:
        yield localize("Then you ran {command}, which worked.", command=command_label(past.instead))


def _last_success_text(
    command: RecordedCommand, past: FailureHistory, worked: RecordedCommand, now_ns: int
) -> Iterable[AnswerPart]:
    if worked.cwd != command.cwd:
        yield localize("It worked {where}, but never in this folder.", where=when_and_where(worked, now_ns))
        return
    when = ago(worked.ended_ns or worked.started_ns, now_ns)
    if not past.changes:
        yield localize("It last worked {when}; no command since then is known to change anything here.", when=when)
    elif past.more_changes:
        yield localize(
            "It last worked {when}. Since then: {commands} and {count} more that may have changed something.",
            when=when,
            commands=_listed(past.changes),
            count=past.more_changes,
        )
    else:
        yield localize("It last worked {when}. Since then: {commands}.", when=when, commands=_listed(past.changes))


def _listed(commands: Sequence[RecordedCommand]) -> LocalizedText:
    """Only verified commands are listed here: we recommend only what a person typed."""
    first, *rest = commands
    return localize("{first}, {rest}", first=command_label(first), rest=_listed(rest)) if rest else command_label(first)
