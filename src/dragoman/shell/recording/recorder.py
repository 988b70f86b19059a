"""Decides what of a terminal is sent to the daemon.

What is echoed at a prompt is held back until the line runs: only then is it known whether the line may be kept. Typed
keys are kept only where the terminal itself echoes them and reads whole lines.
"""

from __future__ import annotations

import fnmatch
import os
import re

from dragoman.protocols.omnish.messages import (
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
from dragoman.protocols.osc import SUSPENDED, Mark, PropertyReported
from dragoman.protocols.shell_input import from_shell_input
from dragoman.shell.launch import ELSEWHERE, RECORDED
from dragoman.shell.recording.command_tracker import (
    CommandBegan,
    CommandEnded,
    CommandStep,
    CommandTracker,
    InputBegan,
    LineAbandoned,
    OutputSummary,
)
from dragoman.shell.recording.line_echo import SAME_MOMENT_MS, EnteredLines, HeldEcho, PromptDetector, recordable_echo
from dragoman.shell.recording.outbox import RecordingOutbox
from dragoman.shell.settings import ShellSettings

BATCH = 64 * 1024
FLUSH_S = 0.025
"""How long output may wait for more to be sent with it."""
_HELD = 256 * 1024
_LONGEST_WATCHED = 4 * 200
"""In bytes; `ShellSettings` accepts texts of 200 characters."""
UNVERIFIED = ":unverified"
VERIFIES, RESUMES_AT, GAP = "dragoman.verifies", "dragoman.resumes_at", "dragoman.gap"
STREAMS, ASKS, AGENT, PRIVATE = "dragoman.stream", "dragoman.asks", "dragoman.agent", "dragoman.private"
SIZE, LANGUAGE = "dragoman.size", "dragoman.language"
FOLDER = "dragoman.folder"
"""The shell's folder at its prompt; `cwd` is where it started."""


class SessionIdentity:
    """The identity of this terminal towards the daemon."""

    def __init__(self, id: str, parent: str | None, attributes: dict[str, str], started_ms: int) -> None:
        self.id, self.parent, self.attributes, self.started_ms = id, parent, attributes, started_ms

    def start(self, at_ms: int, **special: str) -> SessionStart:
        return SessionStart(self.id, self.parent, at_ms, {**self.attributes, **special})

    def gap(self, lost: int) -> SessionStart:
        return self.start(self.started_ms, **{GAP: str(lost)})

    def resume(self, acknowledged: int) -> SessionStart:
        return self.start(self.started_ms, **{RESUMES_AT: str(acknowledged)})


class ShellRecorder:
    """Turns output, keys and marks into messages for the daemon.

    It owns what is held back or left out: hidden lines, ignored commands, private and paused recording. It never
    waits for the daemon; messages go to the outbox.
    """

    def __init__(
        self,
        session: SessionIdentity,
        settings: ShellSettings,
        nonce: str,
        outbox: RecordingOutbox,
        *,
        private: bool = False,
        word: str = "",
    ) -> None:
        self._session, self._settings, self._outbox = session, settings, outbox
        self._commands = CommandTracker(nonce)
        self._detector = None if nonce else PromptDetector()
        self._detected: CommandBegan | None = None
        self._watched = _watch_pattern(settings.watch_output)
        self._seen: set[str] = set()
        self._watched_end = b""
        self._chunks: list[bytes] = []
        self._size = 0
        self._since_ms = 0
        self._held: HeldEcho | None = None
        self._summary = OutputSummary()
        self._lines = EnteredLines()
        self._private = self._silent = private
        self._ignoring = False
        self.paused = False
        self._nesting_token = word
        self._is_agent_terminal = AGENT in session.attributes
        self._shell = os.path.basename(session.attributes.get("shell", ""))  # noqa: PTH119  pathlib is slow to import
        self.inner_wrapper_active = False
        """A wrapper inside this one records the terminal."""

    @property
    def off(self) -> bool:
        return self._private or self.paused or self.inner_wrapper_active

    def at_detected_prompt(self) -> bool:
        """Whether a prompt is shown, for shells without marks."""
        if self._detector is None or self._commands.marks_seen:
            return False
        self._detector.detect()
        return self._detector.at_prompt

    @property
    def commands(self) -> CommandTracker:
        return self._commands

    @property
    def running_number(self) -> int | None:
        """The number of the shell's command, if it is recorded."""
        running = self._commands.running
        return running.number if running is not None and not self._silent else None

    def handle_output(self, data: bytes, now_ms: int) -> bool:
        """The hot path: append to a list, and make a frame for every 64 KiB; return whether one is ready."""
        if self._held is not None:
            self._held.add(data, now_ms)
            if self._held.size > _HELD:
                self._abandon_line()
            return False
        if self._silent:
            if self._detector is not None:
                self._detector.handle_output(data)
            return False
        if not self._chunks:
            self._since_ms = now_ms
        if self._detector is not None:
            data = self._detect_line(self._detector, data, now_ms)
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

    def handle_mark(self, mark: Mark, now_ms: int) -> bool:
        """Process a mark; return whether it carries our nonce."""
        for step in self._commands.handle(mark):
            self._step(step, now_ms)
        verified = self._commands.verified(mark)
        if verified and isinstance(mark, PropertyReported) and mark.key == "Cwd":
            self._report_folder(mark.value, now_ms)
        return verified

    def _report_folder(self, folder: str, now_ms: int) -> None:
        """Report where the next command will run: the record of the last one has only the folder where that started."""
        if not self.off and folder != self._session.attributes.get(FOLDER, self._session.attributes.get("cwd")):
            self._session.attributes[FOLDER] = folder
            self._outbox.add(self._session.start(now_ms))

    def unhook(self, now_ms: int) -> None:
        """Another shell replaced the hooked one: its prompt and lines are detected by their appearance."""
        shown = b"".join(self._chunks)
        for step in self._commands.unhook():
            self._step(step, now_ms)
        self._detector = PromptDetector()
        self._detector.handle_output(shown)
        self._session.attributes.pop(VERIFIES, None)
        self._outbox.add(self._session.start(now_ms))

    def handle_nested_mark(self, mark: Mark, now_ms: int) -> bool:
        """Whether a wrapper inside this one printed the mark. At a prompt of our own shell there is none."""
        if not self._nesting_token or mark.nonce != self._nesting_token:
            return False
        if not isinstance(mark, PropertyReported) or mark.key != RECORDED:
            return False
        self._set_inner_wrapper_active(mark.value == ELSEWHERE and self._held is None, now_ms)
        return True

    def handle_keys(self, data: bytes, *, echoes: bool, by_lines: bool, now_ms: int) -> None:
        echoed = echoes and by_lines
        entered = self._lines.handle_keys(data, hidden=self.off, echoed=echoed and self._detector is None)
        kept = entered if echoed else data
        wanted = echoed or (self._settings.record_raw_input and not by_lines and self._held is None)
        if wanted and kept and not self._silent:
            self.flush()
            self._outbox.add(IoData(self._session.id, IoDirection.INPUT, now_ms, kept), len(kept))
        if self._detector is not None and not self._commands.marks_seen:
            self._look_for_prompt(self._detector, now_ms)
            self._detector.handle_line(data)

    def quiet(self, now_ms: int) -> None:
        """Nothing was printed for a moment: send what waits, and check for a prompt."""
        if self._detector is not None and not self._commands.marks_seen:
            self._look_for_prompt(self._detector, now_ms)
        self.flush()

    def handle_resize(self, columns: int, rows: int, now_ms: int) -> None:
        """The record gets xterm's own sequence, first with the old size, so that a reader that starts in the middle
        knows it."""
        before, after = self._session.attributes.get(SIZE, ""), f"{columns}x{rows}"
        self._session.attributes[SIZE] = after
        if before != after and not self.off:
            self.handle_output(_size_sequence(before or after) + _size_sequence(after), now_ms)
            self.flush()
            self._outbox.add(self._session.start(now_ms))

    def pause(self, paused: bool, now_ms: int) -> None:
        if paused != self.paused:
            self.flush()
            self.paused = paused
            self._held = None if self._held is None else HeldEcho()
            self._report_silence(now_ms)

    def handle_end(self, exit_code: int | None, now_ms: int) -> None:
        for step in self._commands.finish(exit_code):
            self._step(step, now_ms)
        if self._detected is not None:
            self._end(CommandEnded(self._detected, exit_code), now_ms)
        self._release_echo()
        self.flush()
        self._outbox.add(SessionEnd(self._session.id, now_ms, exit_code))

    def _step(self, step: CommandStep, now_ms: int) -> None:
        if isinstance(step, InputBegan):
            self._set_inner_wrapper_active(False, now_ms)
            self._held = HeldEcho()
            self._lines.handle_prompt()
        elif isinstance(step, LineAbandoned):
            self._abandon_line()
        elif isinstance(step, CommandBegan):
            self._begin(step, now_ms)
        else:
            self._end(step, now_ms)

    def _begin(self, began: CommandBegan, now_ms: int) -> None:
        began.started_ms = now_ms
        if self._is_agent_terminal and began.line is not None:
            began.line = from_shell_input(began.line, self._shell)
        self._seen.clear()
        self._watched_end = b""
        hidden = self._is_private_command(began)
        self._lines.ran()
        if hidden:
            self._held, self._ignoring = None, True
            self.flush()
            self._report_silence(now_ms)
            return
        self._release_echo(began.line)
        self.flush()
        # A start message of the nested wrapper would end the output of the command that it runs in.
        if not began.nested and not self._silent:
            self._summary = OutputSummary()
            self._send_event(CommandBoundary(began.line or ""), now_ms)

    def _end(self, ended: CommandEnded, now_ms: int) -> None:
        if ended.began.verified:
            self._set_inner_wrapper_active(False, now_ms)
        if self._ignoring and not ended.began.nested:
            self._ignoring = False
            self._report_silence(now_ms)
            return
        if self._silent:
            return
        self._release_echo()
        self.flush()
        self._outbox.add(CommandComplete(self._session.id, self._record(ended, now_ms)), len(ended.began.line or ""))
        if ended.exit_code and ended.exit_code not in SUSPENDED:
            self._send_event(NonZeroExit(ended.exit_code), now_ms)

    def _record(self, ended: CommandEnded, now_ms: int) -> CommandRecord:
        began = ended.began
        id = f"{self._session.id}:{began.number}" + ("" if began.verified else UNVERIFIED)
        summary = "" if began.nested else self._summary.text()
        return CommandRecord(
            id, self._session.id, began.line, began.cwd, began.started_ms, now_ms, summary, 0, 0, ended.exit_code
        )

    def _is_private_command(self, began: CommandBegan) -> bool:
        """A line that the shell keeps out of its history is kept out of ours. Output of a program cannot hide
        anything."""
        if began.nested:
            return False
        entered = self._lines
        is_hidden = began.hidden or entered.hidden or (entered.spaced and not began.listed)
        line = (began.line or "").strip()
        return (began.verified and is_hidden) or any(
            fnmatch.fnmatchcase(line, pattern) for pattern in self._settings.ignore_commands
        )

    def _abandon_line(self) -> None:
        """A line that was never run may have been the start of one that must not be recorded."""
        if self._settings.ignore_commands:
            self._held = None
        self._release_echo()

    def _release_echo(self, line: str | None = None) -> None:
        """Release the held echo, each piece with its time. If the line replaces its echo, it gets the time of the
        last key."""
        held, self._held = self._held, None
        pieces = held.pieces() if held else []
        if not pieces:
            return
        echo = b"".join(data for _, data in pieces)
        recorded = _echo_of_agent_command(line) if self._is_agent_terminal and line else recordable_echo(echo, line)
        for at_ms, data in pieces if recorded == echo else [(pieces[-1][0], recorded)]:
            if self._chunks and at_ms - self._since_ms >= SAME_MOMENT_MS:
                self.flush()
            self.handle_output(data, at_ms)

    def _look_for_prompt(self, detector: PromptDetector, now_ms: int) -> None:
        detector.detect()
        if self._detected is not None and detector.at_prompt:
            self._end(CommandEnded(self._detected, None), now_ms)
            self._detected = None

    def _detect_line(self, detector: PromptDetector, data: bytes, now_ms: int) -> bytes:
        """Return the part that is the command's output: the echo of its line precedes it."""
        end = detector.echoed(data)
        detector.handle_output(data[:end] if end else data)
        if not end:
            return data
        self._chunks.append(data[:end])
        self._size += end
        if (line := detector.line()) and self._detected is None:
            self._detected = self._commands.begin_detected(line)
            self._begin(self._detected, now_ms)
        detector.handle_output(data[end:])
        return data[end:]

    def _watch(self, data: bytes) -> None:
        """A text may be split over two pieces, so the end of a piece is checked again with the next one."""
        assert self._watched is not None
        data = self._watched_end + data
        self._watched_end = data[-_LONGEST_WATCHED:]
        for found in self._watched.finditer(data):
            text = found[0].decode(errors="replace").lower()
            if text not in self._seen:
                self._seen.add(text)
                self._send_event(PatternMatch(text), self._since_ms)

    def _send_event(self, what: NonZeroExit | PatternMatch | CommandBoundary, now_ms: int) -> None:
        self._outbox.add(Event(self._session.id, now_ms, what), 100)

    def _set_inner_wrapper_active(self, elsewhere: bool, now_ms: int) -> None:
        if elsewhere != self.inner_wrapper_active:
            self.flush()
            self.inner_wrapper_active = elsewhere
            self._report_silence(now_ms)

    def _report_silence(self, now_ms: int) -> None:
        if self._silent != (self.off or self._ignoring):
            self._silent = not self._silent
            self._outbox.add(self._session.start(now_ms, **{PRIVATE: "1" if self._silent else "0"}))


def _echo_of_agent_command(line: str) -> bytes:
    """An agent's command is typed in a form that the shell takes as a whole; the record shows the command itself."""
    return line.encode(errors="replace").replace(b"\n", b"\r\n") + b"\r\n"


def _size_sequence(size: str) -> bytes:
    columns, _, rows = size.partition("x")
    return f"\x1b[8;{rows};{columns}t".encode()


def _watch_pattern(texts: tuple[str, ...]) -> re.Pattern[bytes] | None:
    """Plain texts, not expressions: a pattern in a settings file must not be able to run forever."""
    if not texts:
        return None
    return re.compile(b"|".join(re.escape(text.encode()) for text in texts), re.IGNORECASE)
