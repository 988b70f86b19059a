"""What of a terminal leaves for the daemon, and what does not.

At a prompt what is echoed is held back until the line is run: only then it is known whether the line may be kept at
all. Typed keys are kept only where the terminal itself shows them and takes whole lines.
"""

from __future__ import annotations

import fnmatch
import os
import re

from dragoman.shell.commands import AtInput, Began, Commands, Ended, LineGivenUp, Step
from dragoman.shell.edited import as_told
from dragoman.shell.guessing import PromptGuess
from dragoman.shell.held import SAME_MOMENT_MS, HeldEcho
from dragoman.shell.lines import EnteredLines
from dragoman.shell.nesting import ELSEWHERE, RECORDED
from dragoman.shell.outbox import Outbox
from dragoman.shell.summary import Summary
from dragoman.shell.wishes import Wishes
from dragoman.wire.omnish.messages import (
    CommandBoundary,
    CommandComplete,
    CommandRecord,
    Event,
    IoData,
    IoDirection,
    NonZeroExit,
    PatternMatch,
    SessionEnd,
    SessionStart,
)
from dragoman.wire.osc import SUSPENDED, Mark, PropertyReported
from dragoman.wire.typed_command import untyped

BATCH = 64 * 1024
FLUSH_S = 0.025
"""How long output may wait for more to go with it."""
_HELD = 256 * 1024
_LONGEST_WATCHED = 4 * 200
"""In bytes; `Wishes` takes texts of 200 characters."""
UNVERIFIED = ":unverified"
VERIFIES, RESUMES_AT, GAP = "dragoman.verifies", "dragoman.resumes_at", "dragoman.gap"
STREAMS, ASKS, AGENT, PRIVATE = "dragoman.stream", "dragoman.asks", "dragoman.agent", "dragoman.private"
SIZE, LANGUAGE = "dragoman.size", "dragoman.language"
FOLDER = "dragoman.folder"
"""Where its shell stands at its prompt; `cwd` is where it began."""


class Session:
    """Who this terminal is, to the daemon."""

    def __init__(self, id: str, parent: str | None, attributes: dict[str, str], started_ms: int) -> None:
        self.id, self.parent, self.attributes, self.started_ms = id, parent, attributes, started_ms

    def start(self, at_ms: int, **special: str) -> SessionStart:
        return SessionStart(self.id, self.parent, at_ms, {**self.attributes, **special})

    def gap(self, lost: int) -> SessionStart:
        return self.start(self.started_ms, **{GAP: str(lost)})

    def resume(self, acknowledged: int) -> SessionStart:
        return self.start(self.started_ms, **{RESUMES_AT: str(acknowledged)})


class Recording:
    def __init__(
        self, session: Session, wishes: Wishes, nonce: str, outbox: Outbox, *, private: bool = False, word: str = ""
    ) -> None:
        self._session, self._wishes, self._outbox = session, wishes, outbox
        self._commands = Commands(nonce)
        self._guess = None if nonce else PromptGuess()
        self._guessed: Began | None = None
        self._watched = _watcher(wishes.watch_output)
        self._seen: set[str] = set()
        self._watched_end = b""
        self._chunks: list[bytes] = []
        self._size = 0
        self._since_ms = 0
        self._held: HeldEcho | None = None
        self._summary = Summary()
        self._lines = EnteredLines()
        self._private = self._silent = private
        self._ignoring = False
        self.paused = False
        self._word = word
        self._is_agents = AGENT in session.attributes
        self._shell = os.path.basename(session.attributes.get("shell", ""))  # noqa: PTH119  no pathlib in a wrapper
        self.is_elsewhere = False
        """A wrapper inside this one has the terminal."""

    @property
    def off(self) -> bool:
        return self._private or self.paused or self.is_elsewhere

    def looks_like_prompt(self) -> bool:
        """What stands there now, where no marks tell."""
        if self._guess is None or self._commands.marks_seen:
            return False
        self._guess.look()
        return self._guess.at_prompt

    @property
    def commands(self) -> Commands:
        return self._commands

    @property
    def running_number(self) -> int | None:
        """Of the shell's command, where it is recorded."""
        running = self._commands.running
        return running.number if running is not None and not self._silent else None

    @property
    def unflushed(self) -> bool:
        return bool(self._chunks)

    def printed(self, data: bytes, now_ms: int) -> bool:
        """The hot path: a list, and a frame for every 64 KiB of it; whether one is ready."""
        if self._held is not None:
            self._held.add(data, now_ms)
            if self._held.size > _HELD:
                self._give_up()
            return False
        if self._silent:
            if self._guess is not None:
                self._guess.printed(data)
            return False
        if not self._chunks:
            self._since_ms = now_ms
        if self._guess is not None:
            data = self._guess_line(self._guess, data, now_ms)
        else:
            data = self._lines.without_echo(data)
        if not data or self._silent:
            return False
        self._chunks.append(data)
        self._size += len(data)
        if self._size < BATCH:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        if self._chunks:
            data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
            self._chunks, self._size = [], 0
            self._outbox.add_output(IoData(self._session.id, IoDirection.OUTPUT, self._since_ms, data), len(data))
            self._summary.add(data)
            if self._watched is not None:
                self._watch(data)

    def marked(self, mark: Mark, now_ms: int) -> bool:
        """Whether it carries our nonce."""
        for step in self._commands.take(mark):
            self._step(step, now_ms)
        verified = self._commands.verified(mark)
        if verified and isinstance(mark, PropertyReported) and mark.key == "Cwd":
            self._stand_in(mark.value, now_ms)
        return verified

    def _stand_in(self, folder: str, now_ms: int) -> None:
        """Where the next command will run: the record of the last one tells where that began."""
        if not self.off and folder != self._session.attributes.get(FOLDER, self._session.attributes.get("cwd")):
            self._session.attributes[FOLDER] = folder
            self._outbox.add(self._session.start(now_ms))

    def unhook(self, now_ms: int) -> None:
        """Another shell is in the place of the one with our hook: its prompt and lines are known by their looks."""
        shown = b"".join(self._chunks)
        for step in self._commands.unhook():
            self._step(step, now_ms)
        self._guess = PromptGuess()
        self._guess.printed(shown)
        self._session.attributes.pop(VERIFIES, None)
        self._outbox.add(self._session.start(now_ms))

    def heeds(self, mark: Mark, now_ms: int) -> bool:
        """Whether a wrapper inside this one said it. At a prompt of our own shell there is none."""
        if not self._word or mark.nonce != self._word:
            return False
        if not isinstance(mark, PropertyReported) or mark.key != RECORDED:
            return False
        self._go_elsewhere(mark.value == ELSEWHERE and self._held is None, now_ms)
        return True

    def typed(self, data: bytes, *, echoes: bool, by_lines: bool, now_ms: int) -> None:
        echoed = echoes and by_lines
        entered = self._lines.typed(data, hidden=self.off, echoed=echoed and self._guess is None)
        kept = entered if echoed else data
        wanted = echoed or (self._wishes.record_raw_input and not by_lines and self._held is None)
        if wanted and kept and not self._silent:
            self.flush()
            self._outbox.add(IoData(self._session.id, IoDirection.INPUT, now_ms, kept), len(kept))
        if self._guess is not None and not self._commands.marks_seen:
            self._look_for_prompt(self._guess, now_ms)
            self._guess.entered(data)

    def quiet(self, now_ms: int) -> None:
        """Nothing was printed for a moment: what waits goes, and a prompt may stand there."""
        if self._guess is not None and not self._commands.marks_seen:
            self._look_for_prompt(self._guess, now_ms)
        self.flush()

    def resized(self, columns: int, rows: int, now_ms: int) -> None:
        """In the record it is xterm's own sequence, first with the size until then: whoever reads from the middle of a
        record knows how large it was."""
        before, after = self._session.attributes.get(SIZE, ""), f"{columns}x{rows}"
        self._session.attributes[SIZE] = after
        if before != after and not self.off:
            self.printed(_size(before or after) + _size(after), now_ms)
            self.flush()
            self._outbox.add(self._session.start(now_ms))

    def pause(self, paused: bool, now_ms: int) -> None:
        if paused != self.paused:
            self.flush()
            self.paused = paused
            self._held = None if self._held is None else HeldEcho()
            self._follow_silence(now_ms)

    def ended(self, exit_code: int | None, now_ms: int) -> None:
        for step in self._commands.finish(exit_code):
            self._step(step, now_ms)
        if self._guessed is not None:
            self._end(Ended(self._guessed, exit_code), now_ms)
        self._release()
        self.flush()
        self._outbox.add(SessionEnd(self._session.id, now_ms, exit_code))

    def _step(self, step: Step, now_ms: int) -> None:
        if isinstance(step, AtInput):
            self._go_elsewhere(False, now_ms)
            self._held = HeldEcho()
            self._lines.prompted()
        elif isinstance(step, LineGivenUp):
            self._give_up()
        elif isinstance(step, Began):
            self._begin(step, now_ms)
        else:
            self._end(step, now_ms)

    def _begin(self, began: Began, now_ms: int) -> None:
        began.started_ms = now_ms
        if self._is_agents and began.line is not None:
            began.line = untyped(began.line, self._shell)
        self._seen.clear()
        self._watched_end = b""
        hidden = self._may_not_leave(began)
        self._lines.ran()
        if hidden:
            self._held, self._ignoring = None, True
            self.flush()
            self._follow_silence(now_ms)
            return
        self._release(began.line)
        self.flush()
        # A nested one's own beginning would end the output of the command that it runs in.
        if not began.nested and not self._silent:
            self._summary = Summary()
            self._tell(CommandBoundary(began.line or ""), now_ms)

    def _end(self, ended: Ended, now_ms: int) -> None:
        if ended.began.verified:
            self._go_elsewhere(False, now_ms)
        if self._ignoring and not ended.began.nested:
            self._ignoring = False
            self._follow_silence(now_ms)
            return
        if self._silent:
            return
        self._release()
        self.flush()
        self._outbox.add(CommandComplete(self._session.id, self._record(ended, now_ms)), len(ended.began.line or ""))
        if ended.exit_code and ended.exit_code not in SUSPENDED:
            self._tell(NonZeroExit(ended.exit_code), now_ms)

    def _record(self, ended: Ended, now_ms: int) -> CommandRecord:
        began = ended.began
        id = f"{self._session.id}:{began.number}" + ("" if began.verified else UNVERIFIED)
        summary = "" if began.nested else self._summary.text()
        return CommandRecord(
            id, self._session.id, began.line, began.cwd, began.started_ms, now_ms, summary, 0, 0, ended.exit_code
        )

    def _may_not_leave(self, began: Began) -> bool:
        """A line that its shell keeps out of its history is kept out of ours. What a program prints hides nothing."""
        if began.nested:
            return False
        entered = self._lines
        is_hidden = began.hidden or entered.hidden or (entered.spaced and not began.listed)
        line = (began.line or "").strip()
        return (began.verified and is_hidden) or any(
            fnmatch.fnmatchcase(line, pattern) for pattern in self._wishes.ignore_commands
        )

    def _give_up(self) -> None:
        """A line that was never run may have been the beginning of one that must not leave."""
        if self._wishes.ignore_commands:
            self._held = None
        self._release()

    def _release(self, line: str | None = None) -> None:
        """With the time at which each was shown; where the line takes its echo's place, with that of its last key."""
        held, self._held = self._held, None
        pieces = held.pieces() if held else []
        if not pieces:
            return
        echo = b"".join(data for _, data in pieces)
        told = _as_run(line) if self._is_agents and line else as_told(echo, line)
        for at_ms, data in pieces if told == echo else [(pieces[-1][0], told)]:
            if self._chunks and at_ms - self._since_ms >= SAME_MOMENT_MS:
                self.flush()
            self.printed(data, at_ms)

    def _look_for_prompt(self, guess: PromptGuess, now_ms: int) -> None:
        guess.look()
        if self._guessed is not None and guess.at_prompt:
            self._end(Ended(self._guessed, None), now_ms)
            self._guessed = None

    def _guess_line(self, guess: PromptGuess, data: bytes, now_ms: int) -> bytes:
        """What of this is a command's output: the echo of its line comes before it."""
        end = guess.echoed(data)
        guess.printed(data[:end] if end else data)
        if not end:
            return data
        self._chunks.append(data[:end])
        self._size += end
        if (line := guess.line()) and self._guessed is None:
            self._guessed = self._commands.begin_guessed(line)
            self._begin(self._guessed, now_ms)
        guess.printed(data[end:])
        return data[end:]

    def _watch(self, data: bytes) -> None:
        """What a text may begin with at the end of one piece is looked at again with the next."""
        assert self._watched is not None
        data = self._watched_end + data
        self._watched_end = data[-_LONGEST_WATCHED:]
        for found in self._watched.finditer(data):
            text = found[0].decode(errors="replace").lower()
            if text not in self._seen:
                self._seen.add(text)
                self._tell(PatternMatch(text), self._since_ms)

    def _tell(self, what: NonZeroExit | PatternMatch | CommandBoundary, now_ms: int) -> None:
        self._outbox.add(Event(self._session.id, now_ms, what), 100)

    def _go_elsewhere(self, elsewhere: bool, now_ms: int) -> None:
        if elsewhere != self.is_elsewhere:
            self.flush()
            self.is_elsewhere = elsewhere
            self._follow_silence(now_ms)

    def _follow_silence(self, now_ms: int) -> None:
        if self._silent != (self.off or self._ignoring):
            self._silent = not self._silent
            self._outbox.add(self._session.start(now_ms, **{PRIVATE: "1" if self._silent else "0"}))


def _as_run(line: str) -> bytes:
    """An agent's command is typed in a form that a shell takes whole; people read the command."""
    return line.encode(errors="replace").replace(b"\n", b"\r\n") + b"\r\n"


def _size(told: str) -> bytes:
    columns, _, rows = told.partition("x")
    return f"\x1b[8;{rows};{columns}t".encode()


def _watcher(texts: tuple[str, ...]) -> re.Pattern[bytes] | None:
    """Texts, not expressions: what a person writes in a settings file must not be able to run for ever."""
    if not texts:
        return None
    return re.compile(b"|".join(re.escape(text.encode()) for text in texts), re.IGNORECASE)
