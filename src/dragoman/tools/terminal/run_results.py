"""Results of the tools that run and wait, and the wait for a program to respond to typed keys."""

from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.terminal.agent_terminals.terminal import PROMPT_WITHIN_S, AgentTerminal, may_be_prompt
from dragoman.terminal.model import RecordedCommand, TerminalStatus
from dragoman.terminal.plain_text import to_plain_text
from dragoman.terminal.record.watchers import OutputWatcher
from dragoman.terminal.screen import SCREEN_TAIL_BYTES
from dragoman.terminal.service import TerminalService
from dragoman.tools.terminal import text as take
from dragoman.tools.terminal.command_output import from_line_start
from dragoman.tools.terminal.inspection import read_screen
from dragoman.tools.terminal.text import RunInTerminalResult, TerminalTextFormatter, command_summary, quoted_lines
from dragoman.tools.tool import ToolOutcome

# Output that may become a secret reaches the record up to 0.7 s late: a shorter time would split an answer.
_QUIET_S = 1.0
_QUIET_AT_PROMPT_S = 0.3
# For programs that have only echoed the keys: they may be computing.
_NO_RESPONSE_S = 3.0
# After Ctrl-C a program may clean up before it exits.
_INTERRUPTED_S = 5.0
_RECORD_TIMEOUT_S = 15.0
_KEPT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TypingResponse:
    """The program's output after the keys. `ended` is the command if it ended; None if it still runs or there
    was none.
    """

    shown: bytes
    ended: RecordedCommand | None
    read_bytes: int
    """How much of the command's output had been shown before."""


@dataclass(frozen=True, slots=True)
class TypedKeys:
    """Keys typed into an agent's terminal, and the wait until the program shows a prompt or has been quiet for
    a while.
    """

    service: TerminalService
    own: AgentTerminal
    clock: Clock
    after_interrupt: bool = False

    async def response(self, keys: bytes, within_s: float) -> TypingResponse:
        own = self.own
        before, ran, read_bytes = own.command_id, own.runs(own.command_id), own.read_bytes
        async with aclosing(self.service.watch(own.id)) as watcher:
            await own.type(keys)
            shown = await self._shown(watcher, keys, within_s)
        is_over = own.command_id and (ran or own.command_id != before) and not own.runs(own.command_id)
        ended = await self._recorded(own.command_id) if is_over else None
        return TypingResponse(shown, ended, read_bytes if own.command_id == before else 0)

    async def _recorded(self, command_id: str) -> RecordedCommand | None:
        ended = await self.service.wait_for_end(self.own.id, command_id, within_s=_RECORD_TIMEOUT_S)
        await self.own.wait_ready(PROMPT_WITHIN_S)
        return ended

    async def _shown(self, watcher: OutputWatcher, keys: bytes, within_s: float) -> bytes:
        """The output, bounded: the oldest bytes are dropped first."""
        before = self.own.command_id
        runs = self.own.runs(before)
        until_s, shown = self.clock.monotonic_s() + within_s, b""
        while not (runs and not self.own.runs(before)):
            left_s = until_s - self.clock.monotonic_s()
            more = b""
            with anyio.move_on_after(max(0.0, min(left_s, self._quiet_limit_s(shown, keys)))):
                more = await anext(watcher, b"")
            if not more:
                break
            shown = (shown + more)[-_KEPT_BYTES:]
        return shown

    def _quiet_limit_s(self, shown: bytes, keys: bytes) -> float:
        text = to_plain_text(shown)
        unfinished = text.rpartition("\n")[2]
        if may_be_prompt(unfinished):
            is_echo = text.strip() == to_plain_text(keys).strip()
            return _NO_RESPONSE_S if is_echo else _QUIET_AT_PROMPT_S
        if self.after_interrupt:
            return _INTERRUPTED_S
        return _QUIET_S if text.strip() not in ("", to_plain_text(keys).strip()) else _NO_RESPONSE_S


_SHOWN_BYTES = take.OUTPUT_BYTES
_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")


@dataclass(frozen=True, slots=True)
class RunResults:
    service: TerminalService
    texts: TerminalTextFormatter

    async def of(self, terminal_id: str, ended: RecordedCommand | None) -> ToolOutcome:
        """The result for the command that ended, else the running one, from its start; else the end of the terminal's
        output.
        """
        return _outcome((await self._answer(self.service.terminal(terminal_id), ended, 0))[0])

    async def of_own(
        self, own: AgentTerminal, ended: RecordedCommand | None, read_bytes: int | None = None
    ) -> ToolOutcome:
        """Only output that no result has shown yet; `read_bytes` is how much was shown before, if it is already
        known.
        """
        seen = self.service.terminal(own.id)
        is_its_last = ended is None or ended.id == own.command_id
        before = (own.read_bytes if read_bytes is None else read_bytes) if is_its_last else 0
        answer, upto = await self._answer(seen, ended, before)
        if not own.command_id and answer.status != "running":
            own.read_bytes = 0  # this shell does not report when the next command begins
        elif is_its_last:
            own.read_bytes = upto
        return _outcome(answer, was_shown=before > 0)

    async def of_typing(self, own: AgentTerminal, response: TypingResponse) -> ToolOutcome:
        if response.ended is None and self.service.terminal(own.id).running is None:
            output = self.texts.output(response.shown)
            return _outcome(RunInTerminalResult(status="idle", terminal=self.texts.line(own.id, 200), output=output))
        return await self.of_own(own, response.ended, response.read_bytes)

    async def _answer(
        self, seen: TerminalStatus, ended: RecordedCommand | None, read_bytes: int
    ) -> tuple[RunInTerminalResult, int]:
        """The result, and up to which byte it shows the command's output."""
        running = seen.running if ended is None else None
        command = ended or running
        output, before, upto = await self._printed(seen.terminal.id, command, read_bytes)
        screen = await self._screen(seen) if running else []
        answer = RunInTerminalResult(
            status="completed" if ended else "running" if running else "idle",
            terminal=self.texts.line(seen.terminal.id, 200),
            command=None if command is None else self.texts.command(command),
            output="" if screen else output,
            truncated_bytes=0 if screen else before,
            screen=screen,
        )
        return answer, upto

    async def _printed(
        self, terminal_id: str, command: RecordedCommand | None, read_bytes: int
    ) -> tuple[str, int, int]:
        """The end of the command's output that was not shown yet; without a command, the end of the terminal's
        output.
        """
        if command is None:
            return self.texts.output(await self.service.tail(terminal_id, _SHOWN_BYTES)), 0, read_bytes
        start = max(read_bytes, command.output_bytes - _SHOWN_BYTES)
        page = await self.service.output(command.id, offset=start, limit=_SHOWN_BYTES)
        page = page if start == read_bytes else from_line_start(page)
        text = self.texts.output(page.data, is_whole=not page.offset)
        return text, max(0, page.offset - read_bytes), page.offset + len(page.data)

    async def _screen(self, seen: TerminalStatus) -> list[str]:
        """The screen, if a program uses the alternate screen: its output is drawing, not text."""
        assert seen.running is not None
        page = await self.service.output(seen.running.id, offset=-SCREEN_TAIL_BYTES, limit=SCREEN_TAIL_BYTES)
        switches = _ALTERNATE.findall(page.data)
        if switches[-1:] != [b"h"]:
            return []
        try:
            screen = await read_screen(self.service, seen)
        except DragomanError:  # the terminal emulator is not installed
            return []
        return self.texts.lines("\n".join(screen.lines).rstrip("\n"))


def _outcome(answer: RunInTerminalResult, *, was_shown: bool = False) -> ToolOutcome:
    return ToolOutcome(_run_lines(answer, was_shown=was_shown), answer)


def _run_lines(answer: RunInTerminalResult, *, was_shown: bool) -> list[LocalizedText]:
    head = (
        [*command_summary(answer.command)]
        if answer.command
        else [localize("{terminal}: nothing is running.", terminal=answer.terminal)]
    )
    if answer.status == "running":
        head.append(
            localize("Still running: wait_for_command keeps waiting; run_in_terminal sends input or interrupts it.")
        )
    if answer.truncated_bytes:
        head.append(localize("{count} earlier bytes: get_command_output.", count=answer.truncated_bytes))
    if was_shown and not answer.output and not answer.screen:
        head.append(localize("No new output; get_command_output has the earlier output."))
    return [*head, *quoted_lines("\n".join(answer.screen) or answer.output)]


def not_run(terminal: str, verdict: str) -> ToolOutcome:
    answer = RunInTerminalResult(status="refused" if verdict == "refused" else "no_answer", terminal=terminal)
    messages = {
        "refused": localize("The user at {terminal} refused. Do not retry unless asked.", terminal=terminal),
        "no_answer": localize(
            "The user at {terminal} did not answer in time; the command did not run.", terminal=terminal
        ),
    }
    return ToolOutcome([messages[answer.status]], answer)
