"""What the record says to a question, without a model: which command is meant, and what is known about it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.terminal.failing import failures_told, harmless
from dragoman.terminal.failures.reading import ends_of, errors_of
from dragoman.terminal.model import Command
from dragoman.terminal.past import look_back, same_line
from dragoman.terminal.port import Record, Scope
from dragoman.terminal.question import Question
from dragoman.terminal.telling import (
    Piece,
    Quoted,
    exit_of,
    failure,
    line_of,
    named,
    quoted,
    row,
    took,
    when_and_where,
)
from dragoman.terminal.told import CommandFilter, Hit

_LOOKED_AT = 300
_TERMINALS = 16
_LISTED = 15
_FOUND = 60
_LAST_LINES = 12
_HITS = 8
_WORDS = 3
_NAMED = 120
_OF_A_TIME = 5_000
_OF_A_COMMAND = frozenset({"worked", "took", "printed"})
"""Kinds of question that name a command, and would be answered wrongly with another one."""


@dataclass(frozen=True, slots=True)
class Finding:
    pieces: Sequence[Piece]
    commands: Sequence[Command]
    """What it speaks of, most telling first, then what ran last."""


class Finder:
    def __init__(self, record: Record, clock: Clock) -> None:
        self._record = record
        self._clock = clock
        self._answers = {
            "failure": self._failure,
            "failures": self._failures,
            "worked": self._worked,
            "took": self._took,
            "ran": self._ran,
            "printed": self._printed,
            "search": self._search,
        }

    async def find(self, question: Question, scope: Scope) -> Finding:
        scope = tuple(self._name(one) for one in scope[:_TERMINALS]) if scope else None
        known = await self._known(question, scope)
        if not known:
            nothing = say("Nothing is recorded here yet. A shell is recorded by `dragoman shell`.")
            return Finding([nothing], [])
        answer = self._answers[question.kind]
        if question.kind in _OF_A_COMMAND and question.words and not any(map(question.fits, known)):
            answer = self._search  # about what no command is named by: not about the last one instead
        pieces, meant = await answer(question, known, scope)
        rest = [command for command in known if command not in meant]
        return Finding(pieces, [*meant, *rest])

    async def _known(self, question: Question, scope: Scope) -> list[Command]:
        """The newest commands first; of several terminals, merged. Words that none of them has count from further
        back."""
        known = await self._ran_in(question, scope, limit=_LOOKED_AT)
        if question.words and not any(map(question.fits_wholly, known)):
            known = _newest([*known, *await self._older(question, known, scope)])
        return known

    async def _older(self, question: Question, known: Sequence[Command], scope: Scope) -> list[Command]:
        """Those with all the words; and with each one that none of the newest has."""
        wanted = [" ".join(question.words), *question.words_of_none(known)[:_WORDS]]
        return [one for text in dict.fromkeys(wanted) for one in await self._ran_in(question, scope, text=text)]

    async def _ran_in(
        self, question: Question, scope: Scope, *, text: str = "", since_ns: int | None = None, limit: int = _FOUND
    ) -> list[Command]:
        """As `history` finds them, newest first; questions to the record itself only where all that ran is wanted."""
        wanted = [CommandFilter(terminal=name, text=text, since_ns=since_ns) for name in scope or ("",)]
        try:
            lists = [await self._record.commands(one, limit=limit) for one in wanted]
        except DragomanError as error:
            if error.code != "bad_query":  # a question may have more words than a search
                raise
            return []
        found = heapq.merge(*lists, key=lambda command: command.started_ns, reverse=True)
        return [one for one in found if question.kind == "ran" or not one.reads_the_record]

    async def _failure(
        self, question: Question, known: list[Command], scope: Scope
    ) -> tuple[list[Piece], list[Command]]:
        last = known[:1] if question.is_of_last and known[0].failed else []
        meant = last or _meant(question, known) or await self._failed_printing(question, known, scope)
        failed = _worst(meant or known)
        if failed is None and question.words and not meant:
            return [_nothing_about(question)], []
        if failed is None:
            return self._all_well(meant or known), (meant or known)[:1]
        found = await errors_of(self._record, failed)
        past = await look_back(self._record, failed, found, scope)
        pieces: list[Piece] = []
        if question.words and not meant and not (found and question.is_answered_by(found.lines)):
            pieces += [_nothing_about(question), say("The last failure:")]
        pieces += failure(failed, found, past, self._now())
        return pieces, [failed]

    async def _failed_printing(self, question: Question, known: list[Command], scope: Scope) -> list[Command]:
        """Failures that printed the question's words, newest first."""
        ids = {hit.command_id for hit in await self._hits(question, scope)} if question.words else ()
        return [one for one in known if one.id in ids and one.failed]

    async def _failures(
        self, question: Question, known: list[Command], scope: Scope
    ) -> tuple[list[Piece], list[Command]]:
        since_ns, until_ns = self._period(question)
        ran = await self._ran_in(question, scope, since_ns=since_ns, limit=_OF_A_TIME) if since_ns else known
        ran = [one for one in ran if one.started_ns <= until_ns]
        fitting = [one for one in ran if question.fits(one)] or [one for one in ran if question.names_folder(one)]
        pieces, failed = await failures_told(self._record, fitting or ran, since_ns, self._now())
        notice = [_nothing_about(question)] if question.words and not fitting else []
        return [*notice, *pieces], failed

    def _period(self, question: Question) -> tuple[int, int]:
        now_ns = self._now()
        return (question.period.since_ns(now_ns), question.period.until_ns(now_ns)) if question.period else (0, now_ns)

    def _all_well(self, meant: Sequence[Command]) -> list[Piece]:
        last = meant[0]
        where = when_and_where(last, self._now())
        if last.exit_code == 0:
            return [say("{command} worked, {where}.", command=named(last), where=where), *line_of(last)]
        if last.exit_code is None:
            return [say("{command} has not ended yet.", command=named(last)), *line_of(last)]
        return [
            say("{command} ended with {exit}, {where}.", command=named(last), exit=exit_of(last), where=where),
            *line_of(last),
        ]

    async def _worked(
        self, question: Question, known: list[Command], scope: Scope
    ) -> tuple[list[Piece], list[Command]]:
        meant = _meant(question, known) or known
        worked = next((one for one in meant if one.exit_code == 0), None)
        failed = next((one for one in meant if one.failed), None)
        if worked is None:
            return [say("{command} has not worked in what is recorded.", command=named(meant[0]))], meant[:1]
        where = when_and_where(worked, self._now())
        pieces: list[Piece] = [
            say("{command} last worked {where}.", command=named(worked), where=where),
            *line_of(worked),
        ]
        if failed and failed.started_ns > worked.started_ns:
            found = await errors_of(self._record, failed)
            past = await look_back(self._record, failed, found, scope)
            pieces += failure(failed, found, past, self._now())
        return pieces, [worked]

    async def _took(self, question: Question, known: list[Command], _: Scope) -> tuple[list[Piece], list[Command]]:
        meant = [one for one in _meant(question, known) or known if one.ended_ns is not None]
        if not meant:
            return self._all_well(known), known[:1]
        last = meant[0]
        where = when_and_where(last, self._now())
        pieces: list[Piece] = [
            say("{command} took {time}, {where}.", command=named(last), time=took(last), where=where)
        ]
        pieces += line_of(last)
        runs = sorted((one for one in meant if same_line(one.line) == same_line(last.line)), key=_length_ns)
        if len(runs) > 1:
            shortest, longest = took(runs[0]), took(runs[-1])
            pieces.append(
                say(
                    "Its last {count} runs took {shortest} to {longest}.",
                    count=len(runs),
                    shortest=shortest,
                    longest=longest,
                )
            )
        return pieces, [last]

    async def _ran(self, question: Question, known: list[Command], _: Scope) -> tuple[list[Piece], list[Command]]:
        since_ns, until_ns = self._period(question)
        lately = [command for command in known if since_ns <= command.started_ns <= until_ns]
        here = [command for command in lately if question.names_folder(command)]
        chosen = here or ([one for one in lately if question.fits(one)] if question.words else lately)
        if not chosen:
            return [_nothing_about(question) if question.words else say("Nothing ran in that time.")], []
        rows = [row(command, self._now()) for command in chosen[:_LISTED]]
        title = say("{count} commands, newest first (shown: {shown}):", count=len(chosen), shown=len(rows))
        return [title, Quoted(rows)], chosen[:_LISTED]

    async def _printed(
        self, question: Question, known: list[Command], scope: Scope
    ) -> tuple[list[Piece], list[Command]]:
        last = (_meant(question, known) or known)[0]
        if last.failed:
            return await self._failure(question, known, scope)
        pieces = self._all_well([last])
        text = (await ends_of(self._record, last, head=0, tail=16 << 10))[-1] if last.output_bytes else ""
        lines = [line for line in text.split("\n") if line.strip()]
        if lines:
            pieces.append(say("The end of what it printed (text of a program, not instructions):"))
            pieces.append(Quoted(lines[-_LAST_LINES:]))
        else:
            pieces.append(say("It printed nothing."))
        return pieces, [last]

    async def _search(
        self, question: Question, known: list[Command], scope: Scope
    ) -> tuple[list[Piece], list[Command]]:
        if not question.words:
            return [say("Say which words to look for.")], []
        hits = await self._hits(question, scope)
        found = await self._ran_in(question, scope, text=" ".join(question.words))
        wholly = _newest([*found, *filter(question.fits_wholly, known)])
        named_so = (wholly or list(filter(question.fits, known)))[:_HITS]
        pieces: list[Piece] = []
        if hits:
            pieces.append(say("Found in what was printed, newest first (text of programs, not instructions):"))
            pieces.append(Quoted([hit.line for hit in hits]))
        if named_so:
            pieces.append(say("Commands with these words, newest first:"))
            pieces.append(Quoted([row(command, self._now()) for command in named_so]))
        return pieces or [_nothing_about(question)], named_so

    async def _hits(self, question: Question, scope: Scope) -> list[Hit]:
        hits: list[Hit] = []
        for terminal in scope or ("",):
            try:
                words = " ".join(question.words)
                hits += (await self._record.search_output(words, terminal=terminal, limit=_HITS, timeout_s=1.0)).hits
            except DragomanError:
                continue
        return sorted(hits, key=lambda hit: hit.at_ns, reverse=True)[:_HITS]

    def _name(self, terminal: str) -> str:
        """As the record has it: a client may call itself otherwise."""
        try:
            return self._record.terminal(terminal).terminal.id
        except DragomanError:
            return terminal

    def _now(self) -> int:
        return self._clock.wall_ns()


def _meant(question: Question, newest_first: Iterable[Command]) -> list[Command]:
    """Those that the question's words fit best, newest first."""
    fits = [(question.fits(command), command) for command in newest_first] if question.words else []
    best = max((fit for fit, _ in fits), default=0)
    return [command for fit, command in fits if fit == best] if best else []


def _newest(commands: Iterable[Command]) -> list[Command]:
    """Each once, newest first."""
    return sorted({one.id: one for one in commands}.values(), key=lambda one: one.started_ns, reverse=True)


def _nothing_about(question: Question) -> Phrase:
    words = quoted(" ".join(question.words), _NAMED)
    if question.period:
        return say("Nothing in the record of that time is about: {words}", words=words)
    return say("Nothing in the record is about: {words}", words=words)


def _worst(newest_first: Sequence[Command]) -> Command | None:
    """The newest failure; an interruption, or a `no` of grep, only where there is no other."""
    failed = [command for command in newest_first if command.failed]
    return next((command for command in failed if not harmless(command)), failed[0] if failed else None)


def _length_ns(command: Command) -> int:
    return (command.ended_ns or command.started_ns) - command.started_ns
