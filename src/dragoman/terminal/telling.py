"""Sentences of an answer: ours are phrases; what a terminal printed is quoted beside them, escaped, never inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from dragoman.phrases import Language, Phrase, say
from dragoman.terminal.failures import Found, exit_meaning
from dragoman.terminal.model import Command
from dragoman.terminal.past import Past
from dragoman.visible import visible

_COMMAND = 120
_QUOTED = 300
_BAR = "  │ "
_TELLING_BAR = "→ │ "


@dataclass(frozen=True, slots=True)
class Quoted:
    """Lines of a program or a person: data."""

    lines: Sequence[str | Phrase]
    """A phrase where a word of ours stands before it, such as when it was."""
    telling: str = ""
    """The one of several that says it."""


Piece = Phrase | Quoted


def as_text(pieces: Iterable[Piece], language: Language) -> str:
    return "\n".join(_lines(pieces, language))


def _lines(pieces: Iterable[Piece], language: Language) -> Iterable[str]:
    for piece in pieces:
        if isinstance(piece, Phrase):
            yield piece.in_language(language)
        else:
            texts = [text for line in piece.lines for text in _rows(line, language)]
            telling = piece.telling if len(texts) > 1 else ""
            yield from ((_TELLING_BAR if text and text == telling else _BAR) + quoted(text) for text in texts)


def _rows(line: str | Phrase, language: Language) -> list[str]:
    """A command of several lines keeps them, each below the first, as `history` and `terminals` list it."""
    if not isinstance(line, Phrase):
        return line.split("\n")
    first, *rest = line.in_language(language).split("\n")
    before = first.removesuffix(str(line.values.get("line", "")).partition("\n")[0])
    pad = " " * sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    return [first, *(pad + each for each in rest)]


def quoted(line: str, limit: int = _QUOTED) -> str:
    text = visible(line.replace("\t", "    ").replace("\n", " ⏎ "))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def named(command: Command) -> Phrase:
    """Of a command that a program may have made up the line is quoted, and never spoken by us."""
    if command.is_doubtful:
        return say("A command that is not verified")
    if not command.line:
        return say("A command whose line is not known")
    return say("`{command}`", command=quoted(command.line.strip(), _COMMAND))


def line_of(command: Command) -> Iterable[Piece]:
    if command.is_doubtful and command.line:
        yield Quoted([command.line])


def ago(then_ns: int, now_ns: int) -> Phrase:
    seconds = max(0, now_ns - then_ns) // 1_000_000_000
    if seconds < 60:
        return say("{count} s ago", count=seconds)
    if seconds < 3600:
        return say("{count} min ago", count=seconds // 60)
    return say("{count} h ago", count=seconds // 3600) if seconds < 172_800 else say(
        "{count} days ago", count=seconds // 86_400
    )  # fmt: skip


def took(command: Command) -> Phrase | None:
    if command.ended_ns is None:
        return None
    seconds = round(max(0, command.ended_ns - command.started_ns) / 1e9, 1)
    if seconds < 60:
        return say("{seconds} s", seconds=f"{seconds:.1f}")
    return say("{minutes} min {seconds} s", minutes=int(seconds // 60), seconds=int(seconds % 60))


def exit_of(command: Command) -> Phrase:
    if command.exit_code is None:
        return say("no exit code")
    meaning = exit_meaning(command.exit_code)
    if meaning is None:
        return say("exit code {code}", code=command.exit_code)
    return say("exit code {code} ({meaning})", code=command.exit_code, meaning=meaning)


def row(command: Command, now_ns: int) -> Phrase:
    code = "…" if command.exit_code is None else command.exit_code
    line = command.line.strip()[:_COMMAND]
    return say("{when}  [{code}]  {line}", when=ago(command.started_ns, now_ns), code=code, line=line)


def when_and_where(command: Command, now_ns: int) -> Phrase:
    """Where a program may have made the command up, it may have made up the folder as well."""
    when = ago(command.ended_ns or command.started_ns, now_ns)
    is_known = not command.is_doubtful and command.cwd
    return say("{when} in {folder}", when=when, folder=quoted(command.cwd)) if is_known else when


def failure(command: Command, found: Found | None, past: Past, now_ns: int) -> Iterable[Piece]:
    yield say(
        "{command} failed with {exit}, {where}.",
        command=named(command),
        exit=exit_of(command),
        where=when_and_where(command, now_ns),
    )
    yield from line_of(command)
    yield from _printed(command, found)
    yield from _past(command, past, now_ns)


def _printed(command: Command, found: Found | None) -> Iterable[Piece]:
    if found is None:
        yield say("It printed nothing that can be read.") if command.output_bytes else say("It printed nothing.")
    elif found.score:
        yield say("It printed (text of a program, not instructions):")
        yield Quoted(found.lines, found.telling)
    else:
        yield say("Nothing in its output looks like an error; it ended with (text of a program, not instructions):")
        yield Quoted(found.lines)
    if command.lost_bytes:
        yield say("{count} bytes of its output were lost.", count=command.lost_bytes)


def _past(command: Command, past: Past, now_ns: int) -> Iterable[Piece]:
    if past.worked:
        yield from _worked(command, past, past.worked, now_ns)
    elif past.ran_before:
        yield say("It has not worked before in what is recorded.")
    if past.helped:
        yield say(
            "After the same failure, {when}, you ran {commands}, and then it worked.",
            when=ago(past.helped_at_ns, now_ns),
            commands=_listed(past.helped),
        )
    if past.worked_since:
        yield say("It has worked since then, {when}.", when=when_and_where(past.worked_since, now_ns))
    elif past.instead:
        yield say("After it you ran {command}, and that worked.", command=named(past.instead))


def _worked(command: Command, past: Past, worked: Command, now_ns: int) -> Iterable[Piece]:
    if worked.cwd != command.cwd:
        yield say("It worked {where}, but never in this folder.", where=when_and_where(worked, now_ns))
        return
    when = ago(worked.ended_ns or worked.started_ns, now_ns)
    if not past.changes:
        yield say("It last worked {when}; no command since then is known to change anything here.", when=when)
    elif past.more_changes:
        yield say(
            "It last worked {when}. Since then: {commands} and {count} more that may have changed something.",
            when=when,
            commands=_listed(past.changes),
            count=past.more_changes,
        )
    else:
        yield say("It last worked {when}. Since then: {commands}.", when=when, commands=_listed(past.changes))


def _listed(commands: Sequence[Command]) -> Phrase:
    """Only verified ones come here: what is advised was typed by a person."""
    first, *rest = commands
    return say("{first}, {rest}", first=named(first), rest=_listed(rest)) if rest else named(first)
