"""The answers of the tools that run and wait: how it stands, and what was printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.terminal.agent_terminal import AgentTerminal
from dragoman.terminal.model import Command
from dragoman.terminal.screen import LOOKED_AT_BYTES
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import TerminalSeen
from dragoman.tools.operation import Outcome
from dragoman.tools.terminal import parameters as take
from dragoman.tools.terminal.answers import CommandRun
from dragoman.tools.terminal.looking import screen_of
from dragoman.tools.terminal.outputs import from_a_line_on
from dragoman.tools.terminal.texts import Texts, quoted, told
from dragoman.tools.terminal.typing_wait import Settled

_SHOWN_BYTES = take.OUTPUT_BYTES
_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")


@dataclass(frozen=True, slots=True)
class RunAnswers:
    service: TerminalService
    texts: Texts

    async def of(self, terminal_id: str, ended: Command | None) -> Outcome:
        """The command that ended, or else what runs, from its beginning; where none does, the end of the terminal."""
        return _outcome((await self._answer(self.service.terminal(terminal_id), ended, 0))[0])

    async def of_own(self, own: AgentTerminal, ended: Command | None, read_bytes: int | None = None) -> Outcome:
        """Only what no answer has shown yet; `read_bytes` is how much that was, where it was looked at before."""
        seen = self.service.terminal(own.id)
        is_its_last = ended is None or ended.id == own.command_id
        before = (own.read_bytes if read_bytes is None else read_bytes) if is_its_last else 0
        answer, upto = await self._answer(seen, ended, before)
        if not own.command_id and answer.status != "running":
            own.read_bytes = 0  # its shell does not say when the next command begins
        elif is_its_last:
            own.read_bytes = upto
        return _outcome(answer, was_shown=before > 0)

    async def of_typing(self, own: AgentTerminal, settled: Settled) -> Outcome:
        if settled.ended is None and self.service.terminal(own.id).running is None:
            output = self.texts.output(settled.shown)
            return _outcome(CommandRun(status="idle", terminal=self.texts.line(own.id, 200), output=output))
        return await self.of_own(own, settled.ended, settled.read_bytes)

    async def _answer(self, seen: TerminalSeen, ended: Command | None, read_bytes: int) -> tuple[CommandRun, int]:
        """And up to where the command's output has been shown with it."""
        running = seen.running if ended is None else None
        command = ended or running
        output, before, upto = await self._printed(seen.terminal.id, command, read_bytes)
        screen = await self._screen(seen) if running else []
        answer = CommandRun(
            status="completed" if ended else "running" if running else "idle",
            terminal=self.texts.line(seen.terminal.id, 200),
            command=None if command is None else self.texts.command(command),
            output="" if screen else output,
            truncated_bytes=0 if screen else before,
            screen=screen,
        )
        return answer, upto

    async def _printed(self, terminal_id: str, command: Command | None, read_bytes: int) -> tuple[str, int, int]:
        """Its end, behind what was read; where none is known, what stands at the end of the terminal."""
        if command is None:
            return self.texts.output(await self.service.tail(terminal_id, _SHOWN_BYTES)), 0, read_bytes
        start = max(read_bytes, command.output_bytes - _SHOWN_BYTES)
        page = await self.service.output(command.id, offset=start, limit=_SHOWN_BYTES)
        page = page if start == read_bytes else from_a_line_on(page)
        text = self.texts.output(page.data, is_whole=not page.offset)
        return text, max(0, page.offset - read_bytes), page.offset + len(page.data)

    async def _screen(self, seen: TerminalSeen) -> list[str]:
        """Where a program has switched to the alternate screen: its bytes are drawing, not text."""
        assert seen.running is not None
        page = await self.service.output(seen.running.id, offset=-LOOKED_AT_BYTES, limit=LOOKED_AT_BYTES)
        switches = _ALTERNATE.findall(page.data)
        if switches[-1:] != [b"h"]:
            return []
        try:
            screen = await screen_of(self.service, seen)
        except DragomanError:  # the emulator is not installed
            return []
        return self.texts.lines("\n".join(screen.lines).rstrip("\n"))


def _outcome(answer: CommandRun, *, was_shown: bool = False) -> Outcome:
    return Outcome(_lines(answer, was_shown=was_shown), answer)


def _lines(answer: CommandRun, *, was_shown: bool) -> list[Phrase]:
    head = [*told(answer.command)] if answer.command else [say("{terminal}: nothing runs.", terminal=answer.terminal)]
    if answer.status == "running":
        head.append(say("Still running: wait_for_command goes on; run_in_terminal types into it or interrupts it."))
    if answer.truncated_bytes:
        head.append(say("{count} earlier bytes: get_command_output.", count=answer.truncated_bytes))
    if was_shown and not answer.output and not answer.screen:
        head.append(say("No new output; get_command_output has what was shown before."))
    return [*head, *quoted("\n".join(answer.screen) or answer.output)]


def not_run(terminal: str, verdict: str) -> Outcome:
    answer = CommandRun(status="refused" if verdict == "refused" else "no_answer", terminal=terminal)
    said = {
        "refused": say("The person at {terminal} refused it. Do not ask again unasked.", terminal=terminal),
        "no_answer": say("The person at {terminal} did not answer in time; it did not run.", terminal=terminal),
    }
    return Outcome([said[answer.status]], answer)
