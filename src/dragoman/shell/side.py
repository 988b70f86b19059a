"""Everything besides copying: what is drawn, what is recorded, and the daemon.

The pump works without it. Whatever fails in here costs a person the recording, never the shell.
"""

from __future__ import annotations

import time

from dragoman.phrases import Phrase, preferred_language, say
from dragoman.shell.history_line import HistoryLine
from dragoman.shell.link import Link
from dragoman.shell.opening import LONGEST_MARK
from dragoman.shell.overlay import Overlay
from dragoman.shell.passing import Passing
from dragoman.shell.recording import FLUSH_S, Recording
from dragoman.wire.omnish.messages import CompletionRequest, Request, Response
from dragoman.wire.osc import InputStarted, Mark, MarkScanner, OutputStarted, Piece, PromptStarted

TYPE_CHECKING = False  # who starts a shell does not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.child import Child


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Side:
    def __init__(
        self,
        overlay: Overlay,
        recording: Recording,
        link: Link,
        passing: Passing,
        *,
        nonce: str = "",
        child: Child | None = None,
        alone: Phrase | None = None,
    ) -> None:
        """`alone` is what a person is told where no daemon is there at first; `child` is a shell of a person's."""
        self._overlay, self._recording, self._link, self._passing = overlay, recording, link, passing
        self._scanner = MarkScanner(LONGEST_MARK)
        self._nonce, self._history_line = nonce, HistoryLine(nonce)
        self._prompt_drawn: bool | None = None
        """Where the shell cannot tell where its prompt ends: whether any of it has come. None at any other time."""
        self._alone, self._child = alone, child
        self._flush_at_s: float | None = None
        self._at_guessed_prompt = self._is_unhooked = False

    @property
    def fd(self) -> int | None:
        return self._link.fd

    @property
    def events(self) -> int:
        return self._link.events

    def is_clear(self) -> bool:
        """Whether nothing of ours has to leave the screen before the shell's next byte comes to it."""
        return self._overlay.is_clear

    @property
    def alternate(self) -> str:
        return self._overlay.alternate

    def passes(self, data: bytes) -> bool:
        """Whether no mark is in it: on a clear screen it is then shown as it is, and `printed` can hear of it later."""
        return self._scanner.passes(data) and not self._history_line.is_open and self._prompt_drawn is None

    def free_keys(self) -> frozenset[bytes]:
        """Those that the shell gets as they are: `typed` can hear of them afterwards."""
        return self._overlay.free_keys()

    def is_running(self) -> bool:
        """Whether a command prints, and nothing of ours is to be drawn: `printed` can hear of more at once."""
        return self._overlay.is_idle and not self._overlay.is_drawing

    def is_idle(self) -> bool:
        """Whether `typed` can even wait for what the shell answers."""
        return self._overlay.is_idle

    def printed(self, data: bytes, now_s: float) -> bytes:
        """From the shell; what the screen gets of it. Without a mark in it, it is scanned and copied nowhere."""
        pieces = self._history_line.pieces(self._scanner.feed(data))
        if len(pieces) == 1 and pieces[0] is data:
            shown = self._overlay.printed(data, now_s)
            if self._recording.printed(data, now_ms()):
                self._link.send(now_s)
        else:
            shown = b"".join([self._piece(piece, now_s) for piece in pieces])
        self._flush_at_s = now_s + FLUSH_S if self._flush_at_s is None else self._flush_at_s
        return shown

    def typed(self, data: bytes, now_s: float, *, echoes: bool, by_lines: bool) -> bytes:
        """From the keyboard; what the shell gets of it, at once."""
        if self._recording.is_elsewhere:  # the keys that are ours are the inner wrapper's
            return data
        self._follow_guess(now_s)
        self._end_prompt(now_s)
        keys = self._overlay.typed(data, now_s)
        if self._overlay.paused:  # before the shell has what was typed after that
            self._recording.pause(True, now_ms())
        if keys:
            self._recording.typed(keys, echoes=echoes, by_lines=by_lines, now_ms=now_ms())
            self._follow_guess(now_s)
        return keys

    def resized(self, columns: int, rows: int) -> None:
        self._overlay.resized(columns, rows)
        self._recording.resized(columns, rows, now_ms())

    def wakes_at_s(self) -> float | None:
        """Asked for in every turn of the loop: without a generator it takes a third of the time."""
        soonest = self._flush_at_s
        for other in (self._overlay.wakes_at_s, self._link.retry_at_s):
            if other is not None and (soonest is None or other < soonest):
                soonest = other
        return soonest

    def tick(self, now_s: float) -> None:
        if self._flush_at_s is not None and now_s >= self._flush_at_s:
            self._flush_at_s = None
            self._end_prompt(now_s)
            self._notice_another_shell()
            self._recording.quiet(now_ms())
            if self._is_unhooked:
                self._follow_guess(now_s)
            self._link.send(now_s)
        if self._overlay.wakes_at_s is not None and now_s >= self._overlay.wakes_at_s:
            self._overlay.tick(now_s)
        if self._link.retry_at_s is not None and now_s >= self._link.retry_at_s:
            self._look(now_s)

    def _look(self, now_s: float) -> None:
        self._link.look(now_s)
        self._link.send(now_s)
        self._overlay.connected = self._link.connected
        alone, self._alone = self._alone, None
        if alone is not None and not self._link.connected:
            self._overlay.tell(alone)

    def ready(self, now_s: float) -> None:
        """The daemon said something, or takes something again."""
        self._link.receive(now_s)
        self._link.send(now_s)
        self._overlay.connected = self._link.connected
        heard, self._link.heard = self._link.heard, []
        for message in heard:
            self._overlay.heard(message, now_s)

    @property
    def speaks(self) -> bool:
        """Whether there is something to take."""
        return self._overlay.speaks or self._overlay.paused != self._recording.paused

    def take(self, now_s: float) -> tuple[bytes, bytes]:
        """For the screen and for the shell, of our own accord; messages go on their way."""
        messages = self._overlay.take_messages()
        for message in messages:
            self._ask(message, now_s)
        if messages:
            self._link.send(now_s)
        self._recording.pause(self._overlay.paused, now_ms())
        keys = self._overlay.take_keys()
        if keys:  # a command that was granted: entered now, and shown by the shell alone
            self._recording.typed(keys, echoes=False, by_lines=True, now_ms=now_ms())
        return self._overlay.take_screen(), keys

    def ended(self, exit_code: int | None, now_s: float) -> bytes:
        """The shell has ended; what the screen still gets."""
        shown = b"".join([self._piece(piece, now_s) for piece in self._scanner.flush()])
        self._recording.ended(exit_code, now_ms())
        self._link.look(now_s)
        self._link.send(now_s)
        return shown + self._overlay.ended()

    @property
    def settled(self) -> bool:
        """Nothing is left that somebody could take."""
        return not self._link.connected or self._link.settled

    def close(self) -> None:
        self._link.close()

    def _piece(self, piece: Piece, now_s: float) -> bytes:
        if isinstance(piece, bytes):
            self._prompt_drawn = None if self._prompt_drawn is None else True
            self._recording.printed(piece, now_ms())
            return self._overlay.printed(piece, now_s)
        if self._recording.heeds(piece, now_ms()):
            return b""
        busy = self._recording.commands.shell_is_busy
        verified = self._recording.marked(piece, now_ms())
        self._overlay.marked(piece, verified, now_s)
        if verified and self._child is not None and isinstance(piece, InputStarted):
            self._child.note_hooked()
        if verified and isinstance(piece, PromptStarted | OutputStarted):
            self._prompt_drawn = False if piece.parameters.get("ends") == "quiet" else None
        shown = self._passing.shown(piece, verified=verified, busy=busy, number=self._recording.running_number)
        return self._overlay.printed(shown, now_s) if shown else b""

    def _end_prompt(self, now_s: float) -> None:
        """Beside a DEBUG trap bash cannot wrap its prompt: it ends where nothing more of it comes, or a key does."""
        if self._prompt_drawn:
            self._prompt_drawn = None
            mark = InputStarted(nonce=self._nonce)
            self._recording.marked(mark, now_ms())
            self._overlay.marked(mark, True, now_s)

    def _notice_another_shell(self) -> None:
        """After `exec bash` the command that was `exec` would run for ever, with every later one in its output."""
        child = self._child
        if child is None or not self._recording.commands.shell_is_busy or not child.is_another_shell():
            return
        self._child, self._is_unhooked = None, True
        self._recording.unhook(now_ms())
        self._overlay.unhooked(say("After `exec`, commands are read off the screen, without exit codes."))

    def _follow_guess(self, now_s: float) -> None:
        """Where a shell prints no marks, a question may still be asked at what looks like its prompt."""
        guessed, self._at_guessed_prompt = self._at_guessed_prompt, self._recording.looks_like_prompt()
        if guessed != self._at_guessed_prompt:
            mark: Mark = InputStarted() if self._at_guessed_prompt else OutputStarted()
            self._overlay.marked(mark, False, now_s)

    def _ask(self, message: object, now_s: float) -> None:
        """A line that is being typed is not told where nothing may be."""
        if isinstance(message, CompletionRequest) and self._recording.off:
            return
        if not self._link.ask(message) and isinstance(message, Request):
            nobody = say("No daemon is running: start one with `dragoman up`.").in_language(preferred_language())
            self._overlay.heard(Response(message.request_id, nobody, False, True), now_s)
