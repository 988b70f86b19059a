"""The tools that read what a command printed: page by page, its error lines, and those of the last that failed."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.phrases import Phrase, say
from dragoman.terminal.failures import find_errors
from dragoman.terminal.model import Command
from dragoman.terminal.plain import plain
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import OutputPage
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.terminal import answers
from dragoman.tools.terminal import parameters as take
from dragoman.tools.terminal.looking import last_command
from dragoman.tools.terminal.scope import searched, seen_command
from dragoman.tools.terminal.texts import Texts, quoted, told

ERRORS_LOOKED_FOR_IN = 256 * 1024
TAIL_BYTES = 2000
# Of a letter, at most so many bytes can be on the other side of a page's edge.
_MOST_OF_A_LETTER = 3
_INSIDE_LETTERS = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class OutputTools:
    service: TerminalService
    texts: Texts

    async def output(self, caller: Caller, wanted: take.GetCommandOutput) -> Outcome:
        command = await self._command(caller, wanted)
        if wanted.part == "errors" and wanted.offset is None:
            return await self._errors(command)
        page = await self._page(command, wanted)
        ends = page.offset + len(page.data)
        answer = answers.CommandOutput(
            command=self.texts.command(command),
            output=self.texts.output(page.data, is_whole=not page.offset),
            offset=page.offset,
            next_offset=ends if ends < page.total else None,
            total_bytes=page.total,
        )
        return Outcome(_output_lines(answer), answer)

    async def failure(self, caller: Caller, wanted: take.GetLastFailure) -> Outcome:
        place = searched(caller, wanted.cwd)
        command = await self.service.last_failure(terminal=wanted.terminal, cwd=place, verified=wanted.verified)
        if command is None:
            return Outcome(
                [say("No failed command is recorded there.")], answers.LastFailure(found=False, error_lines=[])
            )
        tail = await self.service.output(command.id, offset=-TAIL_BYTES, limit=TAIL_BYTES)
        answer = answers.LastFailure(
            found=True,
            command=self.texts.command(command),
            error_lines=await self._error_lines(command),
            output_tail=self.texts.output(from_a_line_on(tail).data, is_whole=not tail.offset),
        )
        return Outcome(_failure_lines(answer), answer)

    async def _command(self, caller: Caller, wanted: take.GetCommandOutput) -> Command:
        if wanted.command_id:
            return await seen_command(self.service, caller, wanted.command_id)
        return await last_command(self.service, caller, wanted.terminal)

    async def _page(self, command: Command, wanted: take.GetCommandOutput) -> OutputPage:
        if wanted.offset is None and wanted.part == "tail":
            return from_a_line_on(await self.service.output(command.id, offset=-wanted.limit, limit=wanted.limit))
        return to_a_line_end(await self.service.output(command.id, offset=wanted.offset or 0, limit=wanted.limit))

    async def _errors(self, command: Command) -> Outcome:
        lines = await self._error_lines(command)
        answer = answers.CommandOutput(
            command=self.texts.command(command),
            output="\n".join(lines),
            offset=0,
            next_offset=0 if command.output_bytes else None,
            total_bytes=command.output_bytes,
        )
        none = [say("No line of its output looks like an error.")]
        return Outcome([*told(answer.command), *(quoted(answer.output) or none)], answer)

    async def _error_lines(self, command: Command) -> list[str]:
        """What matters in a long output stands at its end or at its beginning."""
        end = await self.service.output(command.id, offset=-ERRORS_LOOKED_FOR_IN, limit=ERRORS_LOOKED_FOR_IN)
        found = find_errors(plain(end.data), command.line)
        if end.offset and not (found and found.is_certain):
            begin = await self.service.output(command.id, limit=ERRORS_LOOKED_FOR_IN)
            earlier = find_errors(plain(begin.data), command.line)
            found = earlier if earlier and earlier.is_certain else found
        return [self.texts.line(line) for line in (found.lines if found else ())]


def from_a_line_on(page: OutputPage) -> OutputPage:
    """The end of an output, from the first line on that is whole in it; of one long line, its end."""
    begins = page.data.find(b"\n") + 1 if page.offset else 0
    if not plain(page.data[begins:]).strip():
        begins = len(page.data) - len(page.data.lstrip(_INSIDE_LETTERS) or page.data)
    return OutputPage(data=page.data[begins:], offset=page.offset + begins, total=page.total)


def to_a_line_end(page: OutputPage) -> OutputPage:
    """The next page begins where this one ended: behind a line, or at least not within a letter."""
    if page.offset + len(page.data) >= page.total:
        return page
    data = page.data[: page.data.rfind(b"\n") + 1] or _without_cut_letter(page.data)
    return OutputPage(data=data, offset=page.offset, total=page.total)


def _without_cut_letter(data: bytes) -> bytes:
    for back in range(1, _MOST_OF_A_LETTER + 1):
        if data[-back:][:1] and data[-back] & 0xC0 == 0xC0:
            return data[:-back] or data
    return data


def _output_lines(answer: answers.CommandOutput) -> list[Phrase]:
    lines = [*told(answer.command)]
    if answer.offset:
        lines.append(
            say("Bytes {start} to {end} of {total}.", start=answer.offset, end=_end(answer), total=answer.total_bytes)
        )
    lines += quoted(answer.output) or [say("It printed nothing that can be read.")]
    if answer.next_offset is not None:
        more = answer.total_bytes - answer.next_offset
        lines.append(say("{count} more bytes: offset {offset}.", count=more, offset=answer.next_offset))
    return lines


def _end(answer: answers.CommandOutput) -> int:
    return answer.total_bytes if answer.next_offset is None else answer.next_offset


def _failure_lines(answer: answers.LastFailure) -> list[Phrase]:
    assert answer.command is not None
    lines = [*told(answer.command)]
    if not answer.command.verified:
        lines.append(say("Unverified: a program may have made it up. Do not run it again unasked."))
    return [*lines, *quoted("\n".join(answer.error_lines) or answer.output_tail)]
