"""Everything besides copying: the overlay, the recording and the link to the daemon.

The pump works without it. An error in here costs a person the recording, never the shell.
"""

from __future__ import annotations

import os
import time

from dragoman.core.localization import LocalizedText, localize, preferred_language
from dragoman.core.paths import find_paths
from dragoman.protocols.omnish.messages import CompletionRequest, Request, Response
from dragoman.protocols.osc import InputStarted, Mark, MarkScanner, OutputPart, OutputStarted, PromptStarted
from dragoman.shell.arguments import ShellOptions
from dragoman.shell.first_output import LONGEST_MARK
from dragoman.shell.launch import ShellLaunch, nesting_token_in
from dragoman.shell.mark_filter import HistoryLineReader, MarkFilter
from dragoman.shell.outer_terminal import rows_and_columns
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.pty import ShellProcess
from dragoman.shell.recording.daemon_link import DaemonLink
from dragoman.shell.recording.outbox import RecordingOutbox
from dragoman.shell.recording.recorder import (
    AGENT,
    ASKS,
    FLUSH_S,
    LANGUAGE,
    PRIVATE,
    SIZE,
    STREAMS,
    VERIFIES,
    SessionIdentity,
    ShellRecorder,
)
from dragoman.shell.settings import read_shell_settings

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.pty import ShellProcess


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Sidecar:
    """Feeds what the pump copies to the overlay, the recorder and the daemon link.

    It never writes to a terminal itself: `take` returns what the pump should write.
    """

    def __init__(
        self,
        overlay: Overlay,
        recording: ShellRecorder,
        link: DaemonLink,
        mark_filter: MarkFilter,
        *,
        nonce: str = "",
        child: ShellProcess | None = None,
        no_daemon_notice: LocalizedText | None = None,
    ) -> None:
        """`no_daemon_notice` is shown once when no daemon runs at the start; `child` is the person's shell."""
        self._overlay, self._recording, self._link, self._mark_filter = overlay, recording, link, mark_filter
        self._scanner = MarkScanner(LONGEST_MARK)
        self._nonce, self._history_line = nonce, HistoryLineReader(nonce)
        self._prompt_drawn: bool | None = None
        """For a shell that cannot mark the end of its prompt: whether any of the prompt has been printed. None at
        any other time."""
        self._no_daemon_notice, self._child = no_daemon_notice, child
        self._flush_at_s: float | None = None
        self._at_guessed_prompt = self._is_unhooked = False

    @property
    def fd(self) -> int | None:
        return self._link.fd

    @property
    def events(self) -> int:
        return self._link.events

    def is_clear(self) -> bool:
        """Whether nothing of ours must be erased before the shell's next byte is shown."""
        return self._overlay.is_clear

    @property
    def alternate(self) -> str:
        return self._overlay.alternate

    def passes(self, data: bytes) -> bool:
        """Whether it contains no mark: on a clear screen it is then shown unchanged, and `printed` may get it later."""
        return self._scanner.passes(data) and not self._history_line.is_open and self._prompt_drawn is None

    def passthrough_keys(self) -> frozenset[bytes]:
        """Keys that the shell gets unchanged: `typed` may get them afterwards."""
        return self._overlay.passthrough_keys()

    def is_running(self) -> bool:
        """Whether a command prints and nothing of ours is to be drawn: `printed` may get larger pieces."""
        return self._overlay.is_idle and not self._overlay.is_drawing

    def is_idle(self) -> bool:
        """Whether `typed` may even wait for the shell's echo."""
        return self._overlay.is_idle

    def handle_output(self, data: bytes, now_s: float) -> bytes:
        """Process output of the shell; return what the screen gets. Output without a mark is scanned and not copied."""
        pieces = self._history_line.pieces(self._scanner.feed(data))
        if len(pieces) == 1 and pieces[0] is data:
            shown = self._overlay.handle_output(data, now_s)
            if self._recording.handle_output(data, now_ms()):
                self._link.send(now_s)
        else:
            shown = b"".join([self._piece(piece, now_s) for piece in pieces])
        self._flush_at_s = now_s + FLUSH_S if self._flush_at_s is None else self._flush_at_s
        return shown

    def handle_keys(self, data: bytes, now_s: float, *, echoes: bool, by_lines: bool) -> bytes:
        """Process keys; return what the shell gets, at once."""
        if self._recording.inner_wrapper_active:  # our keys belong to the inner wrapper
            return data
        self._follow_detected_prompt(now_s)
        self._end_prompt(now_s)
        keys = self._overlay.handle_keys(data, now_s)
        if self._overlay.paused:  # before the shell gets what was typed after that
            self._recording.pause(True, now_ms())
        if keys:
            self._recording.handle_keys(keys, echoes=echoes, by_lines=by_lines, now_ms=now_ms())
            self._follow_detected_prompt(now_s)
        return keys

    def handle_resize(self, columns: int, rows: int) -> None:
        self._overlay.handle_resize(columns, rows)
        self._recording.handle_resize(columns, rows, now_ms())

    def wakes_at_s(self) -> float | None:
        """Called in every turn of the loop: without a generator it takes a third of the time."""
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
                self._follow_detected_prompt(now_s)
            self._link.send(now_s)
        if self._overlay.wakes_at_s is not None and now_s >= self._overlay.wakes_at_s:
            self._overlay.tick(now_s)
        if self._link.retry_at_s is not None and now_s >= self._link.retry_at_s:
            self._connect_if_due(now_s)

    def _connect_if_due(self, now_s: float) -> None:
        self._link.connect_if_due(now_s)
        self._link.send(now_s)
        self._overlay.connected = self._link.connected
        no_daemon_notice, self._no_daemon_notice = self._no_daemon_notice, None
        if no_daemon_notice is not None and not self._link.connected:
            self._overlay.show_notice(no_daemon_notice)

    def ready(self, now_s: float) -> None:
        """The daemon sent something, or accepts data again."""
        self._link.receive(now_s)
        self._link.send(now_s)
        self._overlay.connected = self._link.connected
        received, self._link.received = self._link.received, []
        for message in received:
            self._overlay.handle_message(message, now_s)

    @property
    def has_pending(self) -> bool:
        """Whether there is something to take."""
        return self._overlay.has_pending or self._overlay.paused != self._recording.paused

    def pop(self, now_s: float) -> tuple[bytes, bytes]:
        """The pending bytes for the screen and for the shell; messages are sent."""
        messages = self._overlay.pop_messages()
        for message in messages:
            self._send_request(message, now_s)
        if messages:
            self._link.send(now_s)
        self._recording.pause(self._overlay.paused, now_ms())
        keys = self._overlay.pop_keys()
        if keys:  # a granted command: entered now, and shown by the shell alone
            self._recording.handle_keys(keys, echoes=False, by_lines=True, now_ms=now_ms())
        return self._overlay.pop_screen(), keys

    def handle_end(self, exit_code: int | None, now_s: float) -> bytes:
        """The shell has ended; return what the screen still gets."""
        shown = b"".join([self._piece(piece, now_s) for piece in self._scanner.flush()])
        self._recording.handle_end(exit_code, now_ms())
        self._link.connect_if_due(now_s)
        self._link.send(now_s)
        return shown + self._overlay.handle_end()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to send."""
        return not self._link.connected or self._link.settled

    def close(self) -> None:
        self._link.close()

    def _piece(self, piece: OutputPart, now_s: float) -> bytes:
        if isinstance(piece, bytes):
            self._prompt_drawn = None if self._prompt_drawn is None else True
            self._recording.handle_output(piece, now_ms())
            return self._overlay.handle_output(piece, now_s)
        if self._recording.handle_nested_mark(piece, now_ms()):
            return b""
        busy = self._recording.commands.shell_is_busy
        verified = self._recording.handle_mark(piece, now_ms())
        self._overlay.handle_mark(piece, verified, now_s)
        if verified and self._child is not None and isinstance(piece, InputStarted):
            self._child.remember_hooked()
        if verified and isinstance(piece, PromptStarted | OutputStarted):
            self._prompt_drawn = False if piece.parameters.get("ends") == "quiet" else None
        shown = self._mark_filter.shown(piece, verified=verified, busy=busy, number=self._recording.running_number)
        return self._overlay.handle_output(shown, now_s) if shown else b""

    def _end_prompt(self, now_s: float) -> None:
        """With a DEBUG trap, bash cannot wrap its prompt: it ends when nothing more follows, or with a key."""
        if self._prompt_drawn:
            self._prompt_drawn = None
            mark = InputStarted(nonce=self._nonce)
            self._recording.handle_mark(mark, now_ms())
            self._overlay.handle_mark(mark, True, now_s)

    def _notice_another_shell(self) -> None:
        """After `exec bash`, the command `exec` would seem to run forever, with every later command in its output."""
        child = self._child
        if child is None or not self._recording.commands.shell_is_busy or not child.is_another_shell():
            return
        self._child, self._is_unhooked = None, True
        self._recording.unhook(now_ms())
        self._overlay.unhooked(
            localize("After `exec`, Dragoman reads commands from the screen and does not know their exit codes.")
        )

    def _follow_detected_prompt(self, now_s: float) -> None:
        """In a shell without marks, a question may still be asked at what looks like a prompt."""
        guessed, self._at_guessed_prompt = self._at_guessed_prompt, self._recording.at_detected_prompt()
        if guessed != self._at_guessed_prompt:
            mark: Mark = InputStarted() if self._at_guessed_prompt else OutputStarted()
            self._overlay.handle_mark(mark, False, now_s)

    def _send_request(self, message: object, now_s: float) -> None:
        """While recording is off, a line that is being typed is not sent."""
        if isinstance(message, CompletionRequest) and self._recording.off:
            return
        if not self._link.ask(message) and isinstance(message, Request):
            nobody = localize("No daemon is running. Start one with `dragoman up`.").in_language(preferred_language())
            self._overlay.handle_message(Response(message.request_id, nobody, False, True), now_s)


# Creates the sidecar of a wrapped shell.
#
# `main` imports this module only after the shell has started, because everything that it imports would delay the
# prompt.


def create_sidecar(
    options: ShellOptions, launch: ShellLaunch, child: ShellProcess, size: bytes, *, session_id: str, parent: str | None
) -> Sidecar:
    paths = find_paths()
    settings = read_shell_settings(paths.settings_file)
    rows, columns = rows_and_columns(size)
    attributes = {**_attributes(options, launch), SIZE: f"{columns}x{rows}"}
    session = SessionIdentity(session_id, parent, attributes, now_ms())
    outbox = RecordingOutbox(gap=session.gap, resume=session.resume)
    is_inside = bool(nesting_token_in(os.environ, attributes["tty"]))
    overlay = Overlay(settings, session_id=session_id, columns=columns, rows=rows)
    if is_inside and not options.private:
        overlay.show_notice(localize("This terminal is already recorded; `exit` returns to it."))
    return Sidecar(
        overlay,
        ShellRecorder(session, settings, launch.nonce, outbox, private=options.private, word=launch.word),
        DaemonLink(outbox, paths),
        MarkFilter(launch.nonce, strip=options.strip_marks, nested=parent is not None, holder=options.holder),
        nonce=launch.nonce,
        child=None if options.agent else child,
        no_daemon_notice=None
        if is_inside or options.private
        else localize("Nothing is recorded until you run `dragoman up`."),
    )


def _attributes(options: ShellOptions, launch: ShellLaunch) -> dict[str, str]:
    """A private terminal reports only that it exists."""
    attributes = {
        "shell": launch.program,
        "pid": str(os.getpid()),
        "tty": os.ttyname(0),
        "hostname": os.uname().nodename,
        STREAMS: "1",
        ASKS: "1",
        LANGUAGE: preferred_language(),
    }
    optional = {
        "cwd": "" if options.private else os.getcwd(),  # noqa: PTH109  as text
        VERIFIES: "1" if launch.nonce else "",
        AGENT: options.agent,
        PRIVATE: "1" if options.private else "",
    }
    return attributes | {name: value for name, value in optional.items() if value}
