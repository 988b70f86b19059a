"""One loop between a person's terminal and the shell's. It copies first; everything else comes after, and may fail.

Nothing here waits for a daemon, a model or a timer: what a key or a byte of output waits for is the other terminal.
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

from dragoman.shell.backlog import Backlog, Typed
from dragoman.shell.child import Child, exit_code_of
from dragoman.shell.outer import OuterTerminal, rows_and_columns
from dragoman.shell.outlet import Outlet
from dragoman.shell.signals import ENDING, Signals, stop_here

TYPE_CHECKING = False  # it is imported once the first prompt is on the screen
if TYPE_CHECKING:
    from dragoman.shell.side import Side

_READ = 8 * 1024
"""More than a terminal gives at once."""
_LAST_WORDS_S = 0.05
"""How long a terminal must be still after its shell's end, where something in the background keeps it open."""
_FIRST_WORDS_S = 0.005
"""A shell that has not printed anything by then needs long enough for all that we import meanwhile."""
_HANG_UP_S = 2.0
_PATIENCE_S = 0.5
"""How long at most a daemon is given to take the last bytes, when the terminal is the person's again already."""
_FULL = 64 * 1024
_MORE = 1024
"""After so large a piece there is more, as a rule; after a key's echo there is not."""
_ECHO_MS = 2.0
"""So long the echo of a key may take and still be shown before anything of ours is done about that key."""
_FLOOD_S, _FLOOD = 0.02, 256 * 1024
"""So long, or for so much of it, a flood is only copied."""
_LOCAL = 3

_Answer = TypeVar("_Answer")


class Pump:
    def __init__(self, outer: OuterTerminal, child: Child, signals: Signals) -> None:
        self._outer, self._child, self._signals = outer, child, signals
        self._side: Side | None = None
        self._screen, self._keys = Outlet(outer.screen), Outlet(child.master)
        self._poll, self._flood_poll = select.poll(), select.poll()
        for fd in (signals.fd, outer.keys, child.master):
            self._flood_poll.register(fd, select.POLLIN)
        self._interests: dict[int, int] = {}
        self._state: object = None
        self._quiet_at_s: float | None = None
        self._key_came, self._output_came = [(outer.keys, select.POLLIN)], [(child.master, select.POLLIN)]
        # What the next key and the next byte may do without anybody being asked: found out before they come.
        self._free_keys: frozenset[bytes] = frozenset()
        self._is_clear = self._is_idle = self._is_running = False
        self._backlog = Backlog()
        self._drained = False
        self.fault: Exception | None = None
        """What ended the recording, where something of ours failed."""
        self.ended_by: int | None = None
        """The signal that ended us."""

    def open(self, first_shown: Callable[[bytes], bytes], side: Callable[[], Side]) -> None:
        """What is printed already is shown first; `side`, which takes a while to make, hears of it afterwards."""
        poll = select.poll()
        poll.register(self._child.master, select.POLLIN)
        printed = self._read_available() if poll.poll(_FIRST_WORDS_S * 1000) else b""
        if printed:
            self._show(first_shown(printed))
        self._side = side()
        gc.freeze()  # what lives as long as we do is not looked through in the middle of a line
        if printed:
            self._guarded(lambda side: side.printed(printed, time.monotonic()))

    def run(self) -> None:
        """Until the shell has ended and its last byte is on the screen."""
        while not self._drained:
            self._turn()
        self._catch_up()
        self._say_last(self._side.ended(self._exit_code(), time.monotonic()) if self._side else b"")

    def settle(self) -> None:
        """The last frames, once the terminal is restored: a daemon that hangs costs no more than a moment."""
        deadline = time.monotonic() + _PATIENCE_S
        while self._side is not None and not self._side.settled and (now_s := time.monotonic()) < deadline:
            fd = self._side.fd
            if fd is None:
                break
            poll = select.poll()
            poll.register(fd, self._side.events)
            if poll.poll((deadline - now_s) * 1000):
                self._guarded(lambda side: side.ready(time.monotonic()))
        if self._side is not None:
            self._side.close()

    def _exit_code(self) -> int | None:
        return None if self._child.status is None else exit_code_of(self._child.status)

    def _turn(self) -> None:
        self._update_interests()
        self._look_ahead()
        came = self._poll.poll(self._timeout_ms())
        if came == self._key_came:
            came = self._poll.poll(_ECHO_MS) if self._read_keys() else []
        if came == self._output_came:
            self._read_output()
        else:
            self._take(dict(came))
        if self._side is not None:
            self._beside(time.monotonic())
        is_still = not came or self.ended_by is not None  # who ignores a hang-up is not waited for
        if self._quiet_at_s is not None and is_still and time.monotonic() >= self._quiet_at_s:
            self._drained = True

    def _take(self, ready: dict[int, int]) -> None:
        self._catch_up()
        self._is_clear = False  # whatever is done first may draw
        if self._signals.fd in ready:
            self._signalled(self._signals.take())
        if self._outer.screen in ready and ready[self._outer.screen] & ~select.POLLIN:
            self._screen_ready(ready[self._outer.screen])
        if self._outer.keys in ready and ready[self._outer.keys] & select.POLLIN:
            self._read_keys()
            self._catch_up()
        if self._child.master in ready:
            self._master_ready(ready[self._child.master])
        if self._side is not None and self._side.fd in ready:
            self._guarded(lambda side: side.ready(time.monotonic()))

    def _update_interests(self) -> None:
        """Who reads too slowly is not read for: that is how a terminal holds a program back."""
        side = self._side
        link = () if side is None else (side.fd, side.events)
        state = (bool(self._screen.pending), len(self._keys.pending), link, self.ended_by)
        if state == self._state:
            return
        self._state = state
        wanted = {self._signals.fd: select.POLLIN, self._child.master: 0}
        if self.ended_by is None:  # one that is gone would be ready for ever
            wanted |= {self._outer.keys: 0, self._outer.screen: 0}
            if len(self._keys.pending) < _FULL:
                wanted[self._outer.keys] |= select.POLLIN
        if self._screen.pending:
            wanted[self._outer.screen] = wanted.get(self._outer.screen, 0) | select.POLLOUT
        else:
            wanted[self._child.master] |= select.POLLIN
        if self._keys.pending:
            wanted[self._child.master] |= select.POLLOUT
        if self._side is not None and self._side.fd is not None:
            wanted[self._side.fd] = self._side.events
        self._register(wanted)

    def _register(self, wanted: dict[int, int]) -> None:
        for fd in self._interests.keys() - wanted.keys():
            self._poll.unregister(fd)
        for fd, events in wanted.items():
            if self._interests.get(fd) != events:
                self._poll.register(fd, events)
        self._interests = wanted

    def _timeout_ms(self) -> float | None:
        soonest = None if self._side is None else self._side.wakes_at_s()
        if self._quiet_at_s is not None:
            soonest = self._quiet_at_s if soonest is None else min(soonest, self._quiet_at_s)
        return None if soonest is None else max(0.0, (soonest - time.monotonic()) * 1000 + 0.5)

    def _look_ahead(self) -> None:
        side = self._side
        if side is not None:
            self._free_keys, self._is_clear = side.free_keys(), side.is_clear()
            self._is_idle, self._is_running = side.is_idle(), side.is_running()

    def _read_keys(self) -> bool:
        """Whether the echo may come before anything else. Modes are asked for before the shell has the key, which may
        change them."""
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
        if data in self._free_keys:
            self._type(data)
            self._backlog.add_typed((data, flags, time.monotonic()))
            return self._is_idle
        self._catch_up()
        self._type(data if self._side is None else self._hear_typed(self._side, (data, flags, time.monotonic())))
        return False

    def _hear_typed(self, side: Side, typed: Typed) -> bytes:
        data, flags, now_s = typed
        try:
            return side.typed(data, now_s, echoes=bool(flags & termios.ECHO), by_lines=bool(flags & termios.ICANON))
        except Exception as error:  # noqa: BLE001  a fault of ours must not cost a person the shell
            self._give_up(error)
            return data

    def _catch_up(self) -> None:
        for item in self._backlog.take() if self._backlog else ():
            if self._side is None:
                return
            if not isinstance(item, bytes):
                self._hear_typed(self._side, item)
            elif drawn := self._hear_printed(self._side, item).removesuffix(item):
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
            self._quiet_at_s = now_s + _LAST_WORDS_S
        if is_shown:
            is_flood = len(data) >= _MORE and self._is_running and not self._keys.pending
            data = self._flood(now_s + _FLOOD_S) if is_flood else b""
        self._catch_up()
        if data and (shown := data if self._side is None else self._hear_printed(self._side, data)):
            self._show(shown)

    def _pass_output(self, data: bytes) -> bool:
        """To the screen first, where it is shown as it is."""
        if self._side is None or not self._is_clear or not self._side.passes(data):
            return False
        self._show(data)
        self._backlog.add_shown(data)
        return True

    def _flood(self, until_s: float) -> bytes:
        """Only copied, up to some frames of it: whatever else is done between two reads is paid for each time that the
        program and we take turns. What came and cannot be shown as it is; an end shows itself in the next turn."""
        backlog, screen, master = self._backlog, self._screen, self._child.master
        poll, output_came, read = self._flood_poll.poll, self._output_came, os.read
        while not screen.pending and backlog.size < _FLOOD and time.monotonic() < until_s:
            if poll(_ECHO_MS) != output_came:
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

    def _hear_printed(self, side: Side, data: bytes) -> bytes:
        try:
            return side.printed(data, time.monotonic())
        except Exception as error:  # noqa: BLE001  as above
            self._give_up(error)
            return data

    def _read_available(self) -> bytes:
        """A terminal gives much in small pieces: two go on in one. For a third the program would have to run first."""
        data = self._read_master()
        return data + self._read_master() if len(data) >= _MORE else data

    def _read_master(self) -> bytes:
        try:
            data = os.read(self._child.master, _READ)
        except BlockingIOError:
            return b""
        except OSError as error:  # the end: nobody has the terminal open any more; other systems give nothing at all
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            self._closed()
        return data

    def _show(self, data: bytes) -> None:
        try:
            self._screen.write(data)
        except OSError:
            self._hung_up(signal.SIGHUP)

    def _beside(self, now_s: float) -> None:
        assert self._side is not None
        self._catch_up()
        try:
            self._side.tick(now_s)
            self._outer.note_alternate(self._side.alternate)
            if not self._side.speaks:
                return
            screen, keys = self._side.take(now_s)
        except Exception as error:  # noqa: BLE001  as above
            self._give_up(error)
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
            self._look_at_child()
        if signal.SIGTSTP in numbers:
            self._suspend()
        if numbers & {signal.SIGWINCH, signal.SIGCONT}:
            self._resize()
        for number in ENDING:
            if number in numbers:
                self._hung_up(number)

    def _look_at_child(self) -> None:
        change = self._child.look()
        if change == "stopped":  # by its own `suspend`: so does the wrapper, and both go on together
            self._suspend()
            self._child.send(signal.SIGCONT)
        elif change == "ended" and self._quiet_at_s is None:
            self._quiet_at_s = time.monotonic() + _LAST_WORDS_S

    def _suspend(self) -> None:
        self._outer.restore()
        stop_here()
        self._outer.enter_raw()
        self._resize()

    def _resize(self) -> None:
        size = self._outer.size()
        self._child.resize(size)
        rows, columns = rows_and_columns(size)
        self._guarded(lambda side: side.resized(columns, rows))

    def _hung_up(self, number: int) -> None:
        """The terminal is gone or somebody ends us: the shell hears of it, and has a moment for its last words."""
        if self.ended_by is None:
            self.ended_by = number
            self._outer.restore()
            self._child.hang_up()
            self._quiet_at_s = time.monotonic() + _HANG_UP_S

    def _closed(self) -> None:
        self._drained = True
        deadline = time.monotonic() + _HANG_UP_S
        while self._child.look() != "ended" and time.monotonic() < deadline:
            select.select([self._signals.fd], [], [], 0.01)
            self._signals.take()

    def _say_last(self, data: bytes) -> None:
        """What the screen has not taken yet, if there is still one."""
        with contextlib.suppress(OSError):
            os.set_blocking(self._outer.screen, True)
            self._screen.write(data)
            self._screen.flush()

    def _guarded(self, work: Callable[[Side], _Answer]) -> _Answer | None:
        if self._side is None:
            return None
        try:
            return work(self._side)
        except Exception as error:  # noqa: BLE001  a fault of ours must not cost a person the shell
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        """Go on as a plain pump."""
        self.fault = error
        side, self._side = self._side, None
        self._free_keys = frozenset()
        with contextlib.suppress(Exception):
            if side is not None:
                side.close()


def _local_flags(master: int) -> int:
    try:
        flags: int = termios.tcgetattr(master)[_LOCAL]
    except termios.error:
        return 0
    return flags
