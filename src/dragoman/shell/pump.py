"""The loop that copies between the person's terminal and the shell's pty. It copies first; everything else comes
after, and may fail.

Nothing here waits for a daemon, a model or a timer.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import select
import signal
import termios
import time
from collections.abc import Callable
from typing import TypeVar

from dragoman.shell.buffers import OutputBuffer, PumpBacklog, TypedKeys
from dragoman.shell.outer_terminal import OuterTerminal, rows_and_columns
from dragoman.shell.pty import ShellProcess, exit_code_of
from dragoman.shell.signals import ENDING, SignalPipe, suspend_self

TYPE_CHECKING = False  # imported after the first prompt is shown
if TYPE_CHECKING:
    from dragoman.shell.sidecar import Sidecar

_READ = 8 * 1024
"""More than a terminal returns at once."""
_LAST_OUTPUT_S = 0.05
"""How long the terminal must be quiet after the shell's end, if a background process keeps it open."""
_FIRST_OUTPUT_S = 0.005
"""If a shell has printed nothing by then, there is time for all our imports."""
_HANG_UP_S = 2.0
_SETTLE_TIMEOUT_S = 0.5
"""How long a daemon may take to accept the last bytes. The terminal is already restored then."""
_FULL = 64 * 1024
_MORE = 1024
"""After a piece this large there is usually more; after the echo of a key there is not."""
_ECHO_MS = 2.0
"""How long to wait for the echo of a key, so that it is shown before we process that key."""
_FLOOD_S, _FLOOD = 0.02, 256 * 1024
"""A flood is only copied for this long, or up to this many bytes."""
_LOCAL = 3

_Answer = TypeVar("_Answer")


class TerminalPump:
    """Copies bytes between the outer terminal and the shell until the shell ends.

    It owns both directions, their buffers and the poll loop. The sidecar sees bytes after they are written; if it
    raises, it is dropped and copying continues.
    """

    def __init__(self, outer: OuterTerminal, child: ShellProcess, signals: SignalPipe) -> None:
        self._outer, self._child, self._signals = outer, child, signals
        self._sidecar: Sidecar | None = None
        self._screen, self._keys = OutputBuffer(outer.screen), OutputBuffer(child.master)
        self._poll, self._flood_poll = select.poll(), select.poll()
        for fd in (signals.fd, outer.keys, child.master):
            self._flood_poll.register(fd, select.POLLIN)
        self._polled_events: dict[int, int] = {}
        self._state: object = None
        self._quiet_at_s: float | None = None
        self._key_ready, self._output_ready = [(outer.keys, select.POLLIN)], [(child.master, select.POLLIN)]
        # What the next key and the next byte may do without calling the sidecar. It is computed before they arrive.
        self._passthrough_keys: frozenset[bytes] = frozenset()
        self._is_clear = self._is_idle = self._is_running = False
        self._backlog = PumpBacklog()
        self._drained = False
        self.fault: Exception | None = None
        """The error that ended the recording, if something of ours failed."""
        self.ended_by: int | None = None
        """The signal that ended us."""

    def open(self, filter_output: Callable[[bytes], bytes], sidecar: Callable[[], Sidecar]) -> None:
        """Show the first output at once. `sidecar`, which takes a while to create, gets it afterwards."""
        poll = select.poll()
        poll.register(self._child.master, select.POLLIN)
        printed = self._read_available() if poll.poll(_FIRST_OUTPUT_S * 1000) else b""
        if printed:
            self._show(filter_output(printed))
        self._sidecar = sidecar()
        gc.freeze()  # no garbage collection of permanent objects while a person types
        if printed:
            self._guarded(lambda sidecar: sidecar.handle_output(printed, time.monotonic()))

    def run(self) -> None:
        """Run until the shell has ended and its last byte is on the screen."""
        while not self._drained:
            self._poll_once()
        self._catch_up()
        self._write_last(self._sidecar.handle_end(self._exit_code(), time.monotonic()) if self._sidecar else b"")

    def settle(self) -> None:
        """Send the last frames, once the terminal is restored: a daemon that hangs costs no more than a moment."""
        deadline = time.monotonic() + _SETTLE_TIMEOUT_S
        while self._sidecar is not None and not self._sidecar.settled and (now_s := time.monotonic()) < deadline:
            fd = self._sidecar.fd
            if fd is None:
                break
            poll = select.poll()
            poll.register(fd, self._sidecar.events)
            if poll.poll((deadline - now_s) * 1000):
                self._guarded(lambda sidecar: sidecar.ready(time.monotonic()))
        if self._sidecar is not None:
            self._sidecar.close()

    def _exit_code(self) -> int | None:
        return None if self._child.status is None else exit_code_of(self._child.status)

    def _poll_once(self) -> None:
        self._update_polled_events()
        self._refresh_fast_path()
        came = self._poll.poll(self._timeout_ms())
        if came == self._key_ready:
            came = self._poll.poll(_ECHO_MS) if self._read_keys() else []
        if came == self._output_ready:
            self._read_output()
        else:
            self._handle_ready(dict(came))
        if self._sidecar is not None:
            self._run_sidecar(time.monotonic())
        is_still = not came or self.ended_by is not None  # a shell that ignores a hang-up is not waited for
        if self._quiet_at_s is not None and is_still and time.monotonic() >= self._quiet_at_s:
            self._drained = True

    def _handle_ready(self, ready: dict[int, int]) -> None:
        self._catch_up()
        self._is_clear = False  # the overlay may draw again
        if self._signals.fd in ready:
            self._signalled(self._signals.pop())
        if self._outer.screen in ready and ready[self._outer.screen] & ~select.POLLIN:
            self._screen_ready(ready[self._outer.screen])
        if self._outer.keys in ready and ready[self._outer.keys] & select.POLLIN:
            self._read_keys()
            self._catch_up()
        if self._child.master in ready:
            self._master_ready(ready[self._child.master])
        if self._sidecar is not None and self._sidecar.fd in ready:
            self._guarded(lambda sidecar: sidecar.ready(time.monotonic()))

    def _update_polled_events(self) -> None:
        """Stop reading from one side while the other side is full: this backpressure slows the program down."""
        sidecar = self._sidecar
        link = () if sidecar is None else (sidecar.fd, sidecar.events)
        state = (bool(self._screen.pending), len(self._keys.pending), link, self.ended_by)
        if state == self._state:
            return
        self._state = state
        wanted = {self._signals.fd: select.POLLIN, self._child.master: 0}
        if self.ended_by is None:  # a closed terminal would always count as readable
            wanted |= {self._outer.keys: 0, self._outer.screen: 0}
            if len(self._keys.pending) < _FULL:
                wanted[self._outer.keys] |= select.POLLIN
        if self._screen.pending:
            wanted[self._outer.screen] = wanted.get(self._outer.screen, 0) | select.POLLOUT
        else:
            wanted[self._child.master] |= select.POLLIN
        if self._keys.pending:
            wanted[self._child.master] |= select.POLLOUT
        if self._sidecar is not None and self._sidecar.fd is not None:
            wanted[self._sidecar.fd] = self._sidecar.events
        self._register(wanted)

    def _register(self, wanted: dict[int, int]) -> None:
        for fd in self._polled_events.keys() - wanted.keys():
            self._poll.unregister(fd)
        for fd, events in wanted.items():
            if self._polled_events.get(fd) != events:
                self._poll.register(fd, events)
        self._polled_events = wanted

    def _timeout_ms(self) -> float | None:
        soonest = None if self._sidecar is None else self._sidecar.wakes_at_s()
        if self._quiet_at_s is not None:
            soonest = self._quiet_at_s if soonest is None else min(soonest, self._quiet_at_s)
        return None if soonest is None else max(0.0, (soonest - time.monotonic()) * 1000 + 0.5)

    def _refresh_fast_path(self) -> None:
        sidecar = self._sidecar
        if sidecar is not None:
            self._passthrough_keys, self._is_clear = sidecar.passthrough_keys(), sidecar.is_clear()
            self._is_idle, self._is_running = sidecar.is_idle(), sidecar.is_running()

    def _read_keys(self) -> bool:
        """Return whether the echo may be awaited first. Terminal modes are read before the shell gets the key, which
        may change them."""
        try:
            data = os.read(self._outer.keys, _READ)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._hung_up(signal.SIGHUP)
            return False
        flags = _local_flags(self._child.master)
        if data in self._passthrough_keys:
            self._type(data)
            self._backlog.add_typed((data, flags, time.monotonic()))
            return self._is_idle
        self._catch_up()
        self._type(
            data if self._sidecar is None else self._record_typed(self._sidecar, (data, flags, time.monotonic()))
        )
        return False

    def _record_typed(self, sidecar: Sidecar, typed: TypedKeys) -> bytes:
        data, flags, now_s = typed
        try:
            return sidecar.handle_keys(
                data, now_s, echoes=bool(flags & termios.ECHO), by_lines=bool(flags & termios.ICANON)
            )
        except Exception as error:  # noqa: BLE001  our fault must not cost a person the shell
            self._drop_sidecar(error)
            return data

    def _catch_up(self) -> None:
        for item in self._backlog.pop() if self._backlog else ():
            if self._sidecar is None:
                return
            if not isinstance(item, bytes):
                self._record_typed(self._sidecar, item)
            elif drawn := self._record_printed(self._sidecar, item).removesuffix(item):
                self._show(drawn)

    def _type(self, data: bytes) -> None:
        if data:
            try:  # noqa: SIM105  a key waits for it: the other form takes as long as the write
                self._keys.write(data)
            except OSError:
                pass

    def _master_ready(self, events: int) -> None:
        if events & select.POLLOUT:
            with contextlib.suppress(OSError):
                self._keys.flush()
        if events & ~select.POLLOUT:
            self._read_output()

    def _read_output(self) -> None:
        data = self._read_available()
        is_shown = bool(data) and self._pass_output(data)
        now_s = time.monotonic()
        if data and self._quiet_at_s is not None and self.ended_by is None:
            self._quiet_at_s = now_s + _LAST_OUTPUT_S
        if is_shown:
            is_flood = len(data) >= _MORE and self._is_running and not self._keys.pending
            data = self._flood(now_s + _FLOOD_S) if is_flood else b""
        self._catch_up()
        if data and (shown := data if self._sidecar is None else self._record_printed(self._sidecar, data)):
            self._show(shown)

    def _pass_output(self, data: bytes) -> bool:
        """Write to the screen first if it can be shown unchanged."""
        if self._sidecar is None or not self._is_clear or not self._sidecar.passes(data):
            return False
        self._show(data)
        self._backlog.add_shown(data)
        return True

    def _flood(self, until_s: float) -> bytes:
        """Only copy, up to a few frames: any work between two reads is paid each time the program and we take turns.
        Return what arrived and cannot be shown unchanged; the end is noticed in the next turn."""
        backlog, screen, master = self._backlog, self._screen, self._child.master
        poll, output_ready, read = self._flood_poll.poll, self._output_ready, os.read
        while not screen.pending and backlog.size < _FLOOD and time.monotonic() < until_s:
            if poll(_ECHO_MS) != output_ready:
                break
            data = b""
            try:
                data = read(master, _READ)
                data += read(master, _READ) if len(data) >= _MORE else b""
            except OSError:
                pass
            if not data or b"\x1b" in data:
                return data
            self._show(data)
            backlog.add_shown(data)
        return b""

    def _record_printed(self, sidecar: Sidecar, data: bytes) -> bytes:
        try:
            return sidecar.handle_output(data, time.monotonic())
        except Exception as error:  # noqa: BLE001  see above
            self._drop_sidecar(error)
            return data

    def _read_available(self) -> bytes:
        """A terminal returns much output in small pieces, so two are joined. For a third, the program would have to
        run first."""
        data = self._read_master()
        return data + self._read_master() if len(data) >= _MORE else data

    def _read_master(self) -> bytes:
        try:
            data = os.read(self._child.master, _READ)
        except BlockingIOError:
            return b""
        except OSError as error:  # the end: no process has the terminal open; other systems return nothing
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            self._wait_for_exit()
        return data

    def _show(self, data: bytes) -> None:
        try:
            self._screen.write(data)
        except OSError:
            self._hung_up(signal.SIGHUP)

    def _run_sidecar(self, now_s: float) -> None:
        assert self._sidecar is not None
        self._catch_up()
        try:
            self._sidecar.tick(now_s)
            self._outer.note_alternate(self._sidecar.alternate)
            if not self._sidecar.has_pending:
                return
            screen, keys = self._sidecar.pop(now_s)
        except Exception as error:  # noqa: BLE001  see above
            self._drop_sidecar(error)
            return
        if screen:
            self._show(screen)
        self._type(keys)

    def _screen_ready(self, events: int) -> None:
        if events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
            self._screen.drop()
            self._hung_up(signal.SIGHUP)
            return
        try:
            self._screen.flush()
        except OSError:
            self._hung_up(signal.SIGHUP)

    def _signalled(self, numbers: set[int]) -> None:
        if signal.SIGCHLD in numbers:
            self._check_child()
        if signal.SIGTSTP in numbers:
            self._suspend()
        if numbers & {signal.SIGWINCH, signal.SIGCONT}:
            self._resize()
        for number in ENDING:
            if number in numbers:
                self._hung_up(number)

    def _check_child(self) -> None:
        change = self._child.poll_exit()
        if change == "stopped":  # by its own `suspend`: the wrapper stops too, and both continue together
            self._suspend()
            self._child.send(signal.SIGCONT)
        elif change == "ended" and self._quiet_at_s is None:
            self._quiet_at_s = time.monotonic() + _LAST_OUTPUT_S

    def _suspend(self) -> None:
        self._outer.restore()
        suspend_self()
        try:
            self._outer.enter_raw()
        except termios.error:  # the window was closed while we were stopped
            self._hung_up(signal.SIGHUP)
            return
        self._resize()

    def _resize(self) -> None:
        size = self._outer.size()
        self._child.resize(size)
        rows, columns = rows_and_columns(size)
        self._guarded(lambda sidecar: sidecar.handle_resize(columns, rows))

    def _hung_up(self, number: int) -> None:
        """The terminal is gone, or a signal ends us: the shell gets a hang-up, and a moment for its last output."""
        if self.ended_by is None:
            self.ended_by = number
            self._outer.restore()
            self._child.hang_up()
            self._quiet_at_s = time.monotonic() + _HANG_UP_S

    def _wait_for_exit(self) -> None:
        self._drained = True
        deadline = time.monotonic() + _HANG_UP_S
        while self._child.poll_exit() != "ended" and time.monotonic() < deadline:
            select.select([self._signals.fd], [], [], 0.01)
            self._signals.pop()

    def _write_last(self, data: bytes) -> None:
        """Write what the screen has not accepted yet, if it still exists."""
        with contextlib.suppress(OSError):
            os.set_blocking(self._outer.screen, True)
            self._screen.write(data)
            self._screen.flush()

    def _guarded(self, work: Callable[[Sidecar], _Answer]) -> _Answer | None:
        if self._sidecar is None:
            return None
        try:
            return work(self._sidecar)
        except Exception as error:  # noqa: BLE001  our fault must not cost a person the shell
            self._drop_sidecar(error)
            return None

    def _drop_sidecar(self, error: Exception) -> None:
        """Continue as a plain pump."""
        self.fault = error
        sidecar, self._sidecar = self._sidecar, None
        self._passthrough_keys = frozenset()
        with contextlib.suppress(Exception):
            if sidecar is not None:
                sidecar.close()


def _local_flags(master: int) -> int:
    try:
        flags: int = termios.tcgetattr(master)[_LOCAL]
    except termios.error:
        return 0
    return flags
