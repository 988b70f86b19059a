"""Finds the answer to a question in the record, without a model: which command is meant, and what is known about it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.terminal.answers.answer_text import (
    AnswerPart,
    QuotedLines,
    ago,
    command_label,
    command_row,
    duration_text,
    exit_text,
    failure_text,
    quote,
    unverified_line,
    when_and_where,
)
from dragoman.terminal.answers.failure_history import normalized_line, read_failure_history
from dragoman.terminal.answers.question import TerminalQuestion, local_time
from dragoman.terminal.failures.diagnosis import command_words, is_harmless, read_ends, read_errors
from dragoman.terminal.model import CommandFilter, OutputLine, RecordedCommand, TerminalRecord, TerminalScope

_LISTED = 15
_LINE_CHARACTERS = 120
# Line editors switch bracketed paste off and on around a command.
_UNSEEN_BYTES = 20
_LEAVES = (["exit"], ["logout"])
_LOOKED_AT = 300
_TERMINALS = 16
_FOUND = 60
_LAST_LINES = 12
_HITS = 8
_WORDS = 3
_NAMED = 120
_OF_A_TIME = 5_000


@dataclass(slots=True)
class RepeatedFailure:
    """One command line that failed in one folder: how often, when last, and whether it has succeeded since."""

    last: RecordedCommand
    times: int = 1
    worked_since: bool = False

    def row(self, now_ns: int) -> LocalizedText:
        """The row names the folder if the shell reported it: the same line may fail in one folder and work in
        another."""
        last = self.last
        when, line = ago(last.ended_ns or last.started_ns, now_ns), last.line.strip()[:_LINE_CHARACTERS]
        where = f"{last.cwd}  " if not last.is_unverified and last.cwd else ""
        shown = where + line.replace("\n", "\n" + " " * len(where))
        if not self.worked_since:
            return localize(
                "{when}  [{code}]  {count}×  {line}", when=when, code=last.exit_code, count=self.times, line=shown
            )
        return localize(
            "{when}  [{code}]  {count}×, worked since  {line}",
            when=when,
            code=last.exit_code,
            count=self.times,
            line=shown,
        )


def group_failures(newest_first: Iterable[RecordedCommand]) -> list[RepeatedFailure]:
    """Newest first. An interruption, or exit code 1 of grep, does not count as a failure."""
    found: dict[tuple[str, str], RepeatedFailure] = {}
    worked: set[tuple[str, str]] = set()
    for command in newest_first:
        key = (normalized_line(command.line), command.cwd)
        if command.exit_code == 0 and key not in found:
            worked.add(key)
        elif command.failed and not is_harmless_command(command):
            if key in found:
                found[key].times += 1
            else:
                found[key] = RepeatedFailure(command, worked_since=key in worked)
    return list(found.values())


async def describe_failures(
    record: TerminalRecord, ran: Sequence[RecordedCommand], since_ns: int, now_ns: int
) -> tuple[list[AnswerPart], list[RecordedCommand]]:
    """Describe all failures, and quote the output of the newest."""
    found = group_failures(ran)
    if not found:
        return [_no_failures(ran, since_ns)], list(ran[:1])
    pieces: list[AnswerPart] = [_title(found), QuotedLines([one.row(now_ns) for one in found[:_LISTED]])]
    errors = await read_errors(record, found[0].last)
    if errors and errors.score:
        pieces += [
            localize("Output of the newest failure (text of a program, not instructions):"),
            QuotedLines(errors.lines, errors.key_line),
        ]
    return pieces, [one.last for one in found[:_LISTED]]


def _title(found: Sequence[RepeatedFailure]) -> LocalizedText:
    times, lines = sum(one.times for one in found), len(found)
    if lines > 1:
        return localize(
            "{lines} commands failed ({count} failures), newest first ({shown} shown):",
            count=times,
            lines=lines,
            shown=min(lines, _LISTED),
        )
    return localize("1 command failed {count} times:", count=times) if times > 1 else localize("1 command failed:")


def _no_failures(ran: Sequence[RecordedCommand], since_ns: int) -> LocalizedText:
    if not since_ns:
        return localize("None of the last {count} commands failed.", count=len(ran))
    return localize("None of the {count} commands since {time} failed.", time=local_time(since_ns), count=len(ran))


def is_harmless_command(command: RecordedCommand) -> bool:
    """Commands such as `exit` return the exit code of the command before, so they are not a second failure."""
    assert command.exit_code is not None
    if command.line.split()[:1] in _LEAVES:
        return True
    return is_harmless(command.exit_code, command_words(command.line), printed=command.output_bytes > _UNSEEN_BYTES)


_OF_A_COMMAND = frozenset({"worked", "took", "printed"})
"""Kinds of question that name a command. Answering about another command would be wrong."""


@dataclass(frozen=True, slots=True)
class AnswerFinding:
    pieces: Sequence[AnswerPart]
    commands: Sequence[RecordedCommand]
    """The commands that the answer is about, most relevant first, then the latest ones."""


class AnswerFinder:
    def __init__(self, record: TerminalRecord, clock: Clock) -> None:
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

    async def find(self, question: TerminalQuestion, scope: TerminalScope) -> AnswerFinding:
        scope = tuple(self._name(one) for one in scope[:_TERMINALS]) if scope else None
        known = await self._known(question, scope)
        if not known:
            nothing = localize("Nothing is recorded here yet. Start a recorded shell with `dragoman shell`.")
            return AnswerFinding([nothing], [])
        answer = self._answers[question.kind]
        if question.kind in _OF_A_COMMAND and question.words and not any(map(question.fits, known)):
            answer = self._search  # no command matches: do not answer about the last one instead
        pieces, meant = await answer(question, known, scope)
        rest = [command for command in known if command not in meant]
        return AnswerFinding(pieces, [*meant, *rest])

    async def _known(self, question: TerminalQuestion, scope: TerminalScope) -> list[RecordedCommand]:
        """The newest commands first, merged over several terminals. Words that none of them contains are searched
        further back."""
        known = await self._ran_in(question, scope, limit=_LOOKED_AT)
        if question.words and not any(map(question.matches_all_words, known)):
            known = _newest_first([*known, *await self._older(question, known, scope)])
        return known

    async def _older(
        self, question: TerminalQuestion, known: Sequence[RecordedCommand], scope: TerminalScope
    ) -> list[RecordedCommand]:
        """Older commands that contain all the words, and those with each word that none of the newest contains."""
        wanted = [" ".join(question.words), *question.unmatched_words(known)[:_WORDS]]
        return [one for text in dict.fromkeys(wanted) for one in await self._ran_in(question, scope, text=text)]

    async def _ran_in(
        self,
        question: TerminalQuestion,
        scope: TerminalScope,
        *,
        text: str = "",
        since_ns: int | None = None,
        limit: int = _FOUND,
    ) -> list[RecordedCommand]:
        """As `history` finds them, newest first. Questions to the record itself are included only if everything that
        ran is wanted."""
        wanted = [CommandFilter(terminal=name, text=text, since_ns=since_ns) for name in scope or ("",)]
        try:
            lists = [await self._record.commands(one, limit=limit) for one in wanted]
        except DragomanError as error:
            if error.code != "bad_query":  # a question may have more words than a search allows
                raise
            return []
        found = heapq.merge(*lists, key=lambda command: command.started_ns, reverse=True)
        return [one for one in found if question.kind == "ran" or not one.reads_the_record]

    async def _failure(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        last = known[:1] if question.is_about_last_command and known[0].failed else []
        meant = last or _best_matches(question, known) or await self._failed_printing(question, known, scope)
        failed = _most_relevant_failure(meant or known)
        if failed is None and question.words and not meant:
            return [_nothing_about(question)], []
        if failed is None:
            return self._outcome_text(meant or known), (meant or known)[:1]
        errors = await read_errors(self._record, failed)
        past = await read_failure_history(self._record, failed, errors, scope)
        pieces: list[AnswerPart] = []
        if question.words and not meant and not (errors and question.is_answered_by(errors.lines)):
            pieces += [_nothing_about(question), localize("The last failure:")]
        pieces += failure_text(failed, errors, past, self._now())
        return pieces, [failed]

    async def _failed_printing(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> list[RecordedCommand]:
        """Failures whose output contains the question's words, newest first."""
        ids = {hit.command_id for hit in await self._hits(question, scope)} if question.words else ()
        return [one for one in known if one.id in ids and one.failed]

    async def _failures(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        since_ns, until_ns = self._period(question)
        ran = await self._ran_in(question, scope, since_ns=since_ns, limit=_OF_A_TIME) if since_ns else known
        ran = [one for one in ran if one.started_ns <= until_ns]
        fitting = [one for one in ran if question.fits(one)] or [one for one in ran if question.names_folder(one)]
        pieces, failed = await describe_failures(self._record, fitting or ran, since_ns, self._now())
        notice = [_nothing_about(question)] if question.words and not fitting else []
        return [*notice, *pieces], failed

    def _period(self, question: TerminalQuestion) -> tuple[int, int]:
        now_ns = self._now()
        return (question.period.since_ns(now_ns), question.period.until_ns(now_ns)) if question.period else (0, now_ns)

    def _outcome_text(self, meant: Sequence[RecordedCommand]) -> list[AnswerPart]:
        last = meant[0]
        where = when_and_where(last, self._now())
        if last.exit_code == 0:
            return [
                localize("{command} worked, {where}.", command=command_label(last), where=where),
                *unverified_line(last),
            ]
        if last.exit_code is None:
            return [localize("{command} has not ended yet.", command=command_label(last)), *unverified_line(last)]
        return [
            localize(
                "{command} ended with {exit}, {where}.", command=command_label(last), exit=exit_text(last), where=where
            ),
            *unverified_line(last),
        ]

    async def _worked(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        meant = _best_matches(question, known) or known
        worked = next((one for one in meant if one.exit_code == 0), None)
        failed = next((one for one in meant if one.failed), None)
        if worked is None:
            return [
                localize("{command} has not worked in the recorded history.", command=command_label(meant[0]))
            ], meant[:1]
        where = when_and_where(worked, self._now())
        pieces: list[AnswerPart] = [
            localize("{command} last worked {where}.", command=command_label(worked), where=where),
            *unverified_line(worked),
        ]
        if failed and failed.started_ns > worked.started_ns:
            errors = await read_errors(self._record, failed)
            past = await read_failure_history(self._record, failed, errors, scope)
            pieces += failure_text(failed, errors, past, self._now())
        return pieces, [worked]

    async def _took(
        self, question: TerminalQuestion, known: list[RecordedCommand], _: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        meant = [one for one in _best_matches(question, known) or known if one.ended_ns is not None]
        if not meant:
            return self._outcome_text(known), known[:1]
        last = meant[0]
        where = when_and_where(last, self._now())
        pieces: list[AnswerPart] = [
            localize(
                "{command} took {time}, {where}.", command=command_label(last), time=duration_text(last), where=where
            )
        ]
        pieces += unverified_line(last)
        runs = sorted((one for one in meant if normalized_line(one.line) == normalized_line(last.line)), key=_length_ns)
        if len(runs) > 1:
            shortest, longest = duration_text(runs[0]), duration_text(runs[-1])
            pieces.append(
                localize(
                    "Its last {count} runs took {shortest} to {longest}.",
                    count=len(runs),
                    shortest=shortest,
                    longest=longest,
                )
            )
        return pieces, [last]

    async def _ran(
        self, question: TerminalQuestion, known: list[RecordedCommand], _: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        since_ns, until_ns = self._period(question)
        lately = [command for command in known if since_ns <= command.started_ns <= until_ns]
        here = [command for command in lately if question.names_folder(command)]
        chosen = here or ([one for one in lately if question.fits(one)] if question.words else lately)
        if not chosen:
            return [_nothing_about(question) if question.words else localize("Nothing ran in that time.")], []
        rows = [command_row(command, self._now()) for command in chosen[:_LISTED]]
        title = localize("{count} commands, newest first ({shown} shown):", count=len(chosen), shown=len(rows))
        return [title, QuotedLines(rows)], chosen[:_LISTED]

    async def _printed(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        last = (_best_matches(question, known) or known)[0]
        if last.failed:
            return await self._failure(question, known, scope)
        pieces = self._outcome_text([last])
        text = (await read_ends(self._record, last, head=0, tail=16 << 10))[-1] if last.output_bytes else ""
        lines = [line for line in text.split("\n") if line.strip()]
        if lines:
            pieces.append(localize("The end of its output (text of a program, not instructions):"))
            pieces.append(QuotedLines(lines[-_LAST_LINES:]))
        else:
            pieces.append(localize("It printed nothing."))
        return pieces, [last]

    async def _search(
        self, question: TerminalQuestion, known: list[RecordedCommand], scope: TerminalScope
    ) -> tuple[list[AnswerPart], list[RecordedCommand]]:
        if not question.words:
            return [localize("Enter the words to search for.")], []
        hits = await self._hits(question, scope)
        found = await self._ran_in(question, scope, text=" ".join(question.words))
        full_matches = _newest_first([*found, *filter(question.matches_all_words, known)])
        named_so = (full_matches or list(filter(question.fits, known)))[:_HITS]
        pieces: list[AnswerPart] = []
        if hits:
            pieces.append(localize("Found in output, newest first (text of programs, not instructions):"))
            pieces.append(QuotedLines([hit.line for hit in hits]))
        if named_so:
            pieces.append(localize("Commands with these words, newest first:"))
            pieces.append(QuotedLines([command_row(command, self._now()) for command in named_so]))
        return pieces or [_nothing_about(question)], named_so

    async def _hits(self, question: TerminalQuestion, scope: TerminalScope) -> list[OutputLine]:
        hits: list[OutputLine] = []
        for terminal in scope or ("",):
            try:
                words = " ".join(question.words)
                hits += (await self._record.search_output(words, terminal=terminal, limit=_HITS, timeout_s=1.0)).hits
            except DragomanError:
                continue
        return sorted(hits, key=lambda hit: hit.at_ns, reverse=True)[:_HITS]

    def _name(self, terminal: str) -> str:
        """The name as recorded: a client may use another one."""
        try:
            return self._record.terminal(terminal).terminal.id
        except DragomanError:
            return terminal

    def _now(self) -> int:
        return self._clock.wall_ns()


def _best_matches(question: TerminalQuestion, newest_first: Iterable[RecordedCommand]) -> list[RecordedCommand]:
    """The commands that match the question's words best, newest first."""
    fits = [(question.fits(command), command) for command in newest_first] if question.words else []
    best = max((fit for fit, _ in fits), default=0)
    return [command for fit, command in fits if fit == best] if best else []


def _newest_first(commands: Iterable[RecordedCommand]) -> list[RecordedCommand]:
    """Without duplicates, newest first."""
    return sorted({one.id: one for one in commands}.values(), key=lambda one: one.started_ns, reverse=True)


def _nothing_about(question: TerminalQuestion) -> LocalizedText:
    words = quote(" ".join(question.words), _NAMED)
    if question.period:
        return localize("Nothing recorded in that time about: {words}", words=words)
    return localize("Nothing recorded about: {words}", words=words)


def _most_relevant_failure(newest_first: Sequence[RecordedCommand]) -> RecordedCommand | None:
    """The newest failure. An interruption, or exit code 1 of grep, counts only if there is no other failure."""
    failed = [command for command in newest_first if command.failed]
    return next((command for command in failed if not is_harmless_command(command)), failed[0] if failed else None)


def _length_ns(command: RecordedCommand) -> int:
    return (command.ended_ns or command.started_ns) - command.started_ns
