"""The connection to a daemon on another machine: a target's own command, with `dragoman pipe` on the far side.

It looks like a socket of the local daemon: `RemoteLink.socket` is one end of a pair, and a thread copies bytes between
the other end and the command. No port is opened, and the command's own authentication is the only one.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Protocol

from dragoman import __version__
from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.io.drivers.pipe_driver import SILENT_S, PipeDriver, PipeEnd, PipeTranslator
from dragoman.io.net.descriptors import read_available
from dragoman.io.net.remote_errors import (
    explain_exit,
    far_daemon_silent,
    far_failure,
    far_side_silent,
    far_side_waits,
    foreign_far_side,
    last_line,
    link_closed,
    link_damaged,
    link_failed,
    link_silent,
    peer_too_new,
    peer_too_old,
    target_program_missing,
)
from dragoman.io.net.targets import Target
from dragoman.protocols.pipe import Greeting, PipeConnection, PipeFailure, PipeFrame, PipeFrameKind

SPEAKS_WITHIN_S = 10.0
"""A command that prints nothing for this long hangs. ssh allows eight seconds to connect, and says why it could not."""
GREETS_WITHIN_S = 30.0
"""Where the command prints: it may ask for a touch of a security key, or name a page on which to log in."""
READY_WITHIN_S = 30.0
"""The far side may have to start its daemon, which it allows twenty seconds. It sends keep-alive frames meanwhile."""
_FINDS_WITHIN_S = 5.0
"""The far side may have to walk the history of a repository, which it allows two seconds."""
_SHOWN_AFTER_S = 2.0
"""What the command prints meanwhile is shown to a person, who may be waited for."""
_LOOKS_EVERY_S = 0.5
_ENDS_WITHIN_S = 1.0
_ERRORS_KEPT = 4096


class LinkTranslator(PipeTranslator, Protocol):
    """Finds out, before the first byte of a client, what there is to translate."""

    @property
    def is_required(self) -> bool:
        """Whether there is no connection without it."""
        ...

    def first_query(self) -> bytes | None: ...

    def handle_first_reply(self, payload: bytes) -> bool:
        """Whether there is anything to translate."""
        ...


class RemoteLink:
    """Owns the target's process and the thread that serves it. `fault` says afterwards why the link broke, if it did.

    Nothing is sent to the far side before the versions of both were compared.
    """

    def __init__(
        self,
        target: Target,
        environment: Mapping[str, str],
        *,
        starts_daemon: bool,
        silent_s: float = SILENT_S,
        translator: LinkTranslator | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._target = target
        self._silent_s = silent_s
        self._connection = PipeConnection(skips_noise=True)
        self._greeting = Greeting(__version__, starts_daemon=starts_daemon)
        self._translator = translator
        self._notice = notice
        self._errors = ErrorOutput()
        self.fault: DragomanError | None = None
        self._process = self._spawn(environment)
        self.socket, self._inner = socket.socketpair()

    @classmethod
    def open(
        cls,
        target: Target,
        *,
        starts_daemon: bool = False,
        environment: Mapping[str, str] = os.environ,
        silent_s: float = SILENT_S,
        translator: LinkTranslator | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> RemoteLink:
        """`notice` shows a person what the command prints while it is waited for."""
        link = cls(
            target, environment, starts_daemon=starts_daemon, silent_s=silent_s, translator=translator, notice=notice
        )
        try:
            link._agree()
        except BaseException:
            link._end_process()
            link.socket.close()
            link._inner.close()
            raise
        threading.Thread(target=link._serve, name=f"link to {target.name}", daemon=True).start()
        return link

    @property
    def peer(self) -> Greeting:
        assert self._connection.peer is not None
        return self._connection.peer

    def _spawn(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            # A session of its own: without a terminal, neither ssh nor a program it runs can ask anything, and Ctrl-C
            # reaches this command alone, which then ends the wait on the far side in order.
            process = subprocess.Popen(  # noqa: S603  a list of arguments; the parts of the target have a strict form
                self._target.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._target.environment(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise target_program_missing(target=self._target.name, program=self._target.program) from error
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._errors.follow(process.stderr)
        return process

    # Before the first byte of a client: the versions, then the far side's connection to its daemon.

    def _agree(self) -> None:
        self._send(self._greeting.encode())
        try:
            peer = next(self._messages(GREETS_WITHIN_S, SPEAKS_WITHIN_S))
        except _SilentError as silence:
            raise self._not_greeted(silence) from None
        assert isinstance(peer, Greeting)
        self._require_agreement(peer)
        try:
            self._await_ready()
        except _SilentError:
            raise far_daemon_silent(target=self._target.name) from None
        self._find_folders()

    def _not_greeted(self, silence: _SilentError) -> DragomanError:
        printed = last_line(self._printed)
        if not printed:
            return far_side_silent(target=self._target.name, seconds=silence.seconds)
        return far_side_waits(
            target=self._target.name,
            seconds=silence.seconds,
            program=self._target.program,
            reason=printed,
            by_hand=self._target.by_hand or shlex.join(self._target.command),
        )

    @property
    def _printed(self) -> str:
        return (self._connection.noise + self._errors.text).decode("utf-8", "replace")

    def _await_ready(self) -> None:
        for frame in self._messages(READY_WITHIN_S, SPEAKS_WITHIN_S):
            assert isinstance(frame, PipeFrame)
            if frame.kind is PipeFrameKind.READY:
                break
            if frame.kind is PipeFrameKind.FAILURE:
                raise far_failure(self._target, PipeFailure.decode(frame.payload))

    def _find_folders(self) -> None:
        translator, self._translator = self._translator, None
        query = translator.first_query() if translator is not None else None
        if translator is None or query is None:
            return
        self._send(self._connection.send_query(query))
        try:
            for frame in self._messages(_FINDS_WITHIN_S, _FINDS_WITHIN_S):
                if isinstance(frame, PipeFrame) and self._connection.is_expected(frame):
                    if translator.handle_first_reply(frame.query_payload):
                        self._translator = translator
                    return
        except _SilentError as silence:
            if translator.is_required:
                raise far_side_silent(target=self._target.name, seconds=silence.seconds) from None

    def _require_agreement(self, peer: Greeting) -> None:
        agreement = self._greeting.compare(peer)
        if agreement != "agreed":
            spec = peer_too_old if agreement == "peer_too_old" else peer_too_new
            raise spec(target=self._target.name, theirs=peer.version, ours=__version__)

    def _messages(self, within_s: float, silent_s: float) -> Iterator[Greeting | PipeFrame]:
        wait = _Wait(within_s, silent_s)
        try:
            yield from self._connection.receive_data(b"")  # what arrived with the message before
            while True:
                yield from self._connection.receive_data(self._read(wait))
        except RemoteProtocolError as error:
            printed = last_line(self._connection.noise.decode("utf-8", "replace"))
            raise foreign_far_side(target=self._target.name, reason=printed or error) from error

    def _read(self, wait: _Wait) -> bytes:
        """Also a command that never stops sending comes to the end of the wait."""
        while not select.select([self._stdout], (), (), wait.next_look_s())[0]:
            if self._errors.size > wait.seen:
                wait.note(self._errors.size)
            if wait.has_lasted_s > _SHOWN_AFTER_S:
                self._show_printed()
        wait.next_look_s()
        wait.note(wait.seen)
        data = read_available(self._stdout.fileno()) or b""
        if not data:
            self._end_process()
            printed = self._connection.noise + self._errors.text
            raise explain_exit(self._target, self._process.returncode, printed)
        return data

    def _show_printed(self) -> None:
        """Once: a connection opens before anything else is shown."""
        printed = last_line(self._printed)
        if self._notice is not None and printed:
            notice, self._notice = self._notice, None
            notice(printed)

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the command ended; what it printed says why
            os.write(self._stdin.fileno(), data)

    # Then, in its own thread, until one side ends.

    def _serve(self) -> None:
        """Whatever happens: whoever waits for bytes learns that there will be none."""
        try:
            self._copy()
        except Exception as error:  # noqa: BLE001  nobody sees a thread that died
            self._kill_process()
            self.fault = link_failed(target=self._target.name, reason=error)
        finally:
            self._inner.close()  # after the fault: whoever reads the end of the stream asks for it
            self._end_process()

    def _copy(self) -> None:
        driver = PipeDriver(
            self._connection,
            self._stdout.fileno(),
            self._stdin.fileno(),
            self._inner,
            silent_s=self._silent_s,
            translator=self._translator,
        )
        end = driver.run()
        if end == "closed":  # what the command printed says why
            self._end_process()
        elif end != "finished":  # at once: this process may end before a command that hangs would
            self._kill_process()
        self.fault = self._fault(end)

    def _fault(self, end: PipeEnd) -> DragomanError | None:
        if end == "silent":
            return link_silent(target=self._target.name, seconds=round(self._silent_s))
        if end == "damaged":
            return link_damaged(target=self._target.name)
        if end == "closed":
            status = self._process.returncode
            reason = last_line(self._errors.text.decode("utf-8", "replace")) or f"exit status {status}"
            return link_closed(target=self._target.name, reason=reason)
        return None

    def _end_process(self) -> None:
        """The end of its input ends the far side in order; a command that hangs is killed."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._kill_process()
        self._errors.join()
        self._stdout.close()

    def _kill_process(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # with what it started, such as a ProxyCommand
        self._process.wait()


class _SilentError(Exception):
    """The far side did not say in time what was waited for."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = round(seconds)


class _Wait:
    """For one message: as long as something arrives, up to a limit."""

    def __init__(self, within_s: float, silent_s: float) -> None:
        self._silent_s = silent_s
        self._within_s = within_s
        self._began = self._last_received = time.monotonic()
        self.seen = 0
        """How much of standard error was seen."""

    @property
    def has_lasted_s(self) -> float:
        return time.monotonic() - self._began

    def note(self, seen: int) -> None:
        self._last_received = time.monotonic()
        self.seen = seen

    def next_look_s(self) -> float:
        now = time.monotonic()
        left_s = self._began + self._within_s - now
        left_silent_s = self._last_received + self._silent_s - now
        if min(left_s, left_silent_s) <= 0:
            raise _SilentError(self._within_s if left_s <= 0 else self._silent_s)
        return min(left_s, left_silent_s, _LOOKS_EVERY_S)


class ErrorOutput:
    """The end of what the command writes to standard error, read in a thread so that it never blocks."""

    def __init__(self) -> None:
        self.text = b""
        self.size = 0
        """Of all that was written, also what is not kept."""
        self._thread: threading.Thread | None = None

    def follow(self, stream: IO[bytes]) -> None:
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Not for long: a master connection of ssh that stays in the background keeps standard error open."""
        if self._thread is not None:
            self._thread.join(_ENDS_WITHIN_S)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while data := read_available(stream.fileno()):
                self.text = (self.text + data)[-_ERRORS_KEPT:]
                self.size += len(data)
