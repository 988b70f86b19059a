"""The process between the daemon and one session's programs: none of them outlives it, nor does it outlive the daemon.

It starts programs and is the reaper of all that descends from them: who loses a parent, also by double fork and
setsid, becomes its child instead of init's. The daemon holds one end of a socket; end of file on it is the daemon's
death, and the daemon in turn reads end of file when nothing of the tree lives any more (see `guard`).

Messages, both ways: four bytes of length, then fields with NUL between them, which no argument, folder or variable
can contain. The standard library alone, and little of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator

from dragoman.transport.descendants import Table, freeze_and_kill, living_descendants, process_table, send_all

GRACE_AFTER_DEATH_S = 0.5  # of the daemon or of a supervisor: so long have programs after SIGTERM
KILL_WITHIN_S = 5.0  # then what not even SIGKILL ends (a process that waits for a disk) is named and left
STDIO = 3
_LENGTH = 4
LOOK_EVERY_S = 0.01
_MAX_UNSENT = 256 * 1024
_PR_SET_CHILD_SUBREAPER = 36


def packed(*fields: bytes | int) -> bytes:
    body = b"\0".join(field if isinstance(field, bytes) else b"%d" % field for field in fields)
    return len(body).to_bytes(_LENGTH, "big") + body


def unpacked(buffer: bytearray) -> Iterator[list[bytes]]:
    """The whole messages at the start of the buffer, which loses them."""
    while len(buffer) >= _LENGTH and len(buffer) >= (end := _LENGTH + int.from_bytes(buffer[:_LENGTH], "big")):
        body = bytes(buffer[_LENGTH:end])
        del buffer[:end]
        yield body.split(b"\0")


class Ending:
    """SIGTERM, a time of grace, then freeze and kill, again and again until nothing lives."""

    def __init__(self, living: Callable[[], Table], grace_s: float) -> None:
        self._living = living
        self._kill_at = time.monotonic() + grace_s
        asked = living()
        send_all(asked, signal.SIGTERM)
        send_all(asked, signal.SIGCONT)  # one that is stopped could not hear it

    def hurry(self, grace_s: float) -> None:
        self._kill_at = min(self._kill_at, time.monotonic() + grace_s)

    def is_over(self) -> bool:
        """Whether nobody is left, or nobody who can be ended."""
        late_s = time.monotonic() - self._kill_at
        if late_s >= 0:
            freeze_and_kill(self._living)
        return not self._living() or late_s > KILL_WITHIN_S


class Family:
    """Everybody who descends from this process.

    Where there is no subreaper (macOS), an orphan leaves the line of parents; its process group still tells.
    """

    def __init__(self) -> None:
        self._groups: set[int] = set()

    def add_group(self, leader: int) -> None:
        self._groups.add(leader)

    def living(self) -> Table:
        table = process_table()
        found = living_descendants(os.getpid(), table)
        if sys.platform != "linux":
            self._groups |= {process.group for process in found.values()} - {os.getpgrp()}
            found |= {pid: one for pid, one in table.items() if one.group in self._groups and not one.is_dead}
        return found


class Program:
    """What the daemon asked for, and the pipe that tells whether it could be started."""

    def __init__(self, fields: list[bytes], stdio: list[int]) -> None:
        self.id, terminal, self.cwd, count = fields[:4]
        self.has_terminal = terminal == b"1"
        arguments = 4 + int(count)
        self.argv = fields[4:arguments]
        self.environment = dict(zip(fields[arguments::2], fields[arguments + 1 :: 2], strict=True))
        self.stdio = stdio
        self.failure = -1
        self.has_failed = False


class Supervisor:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._family = Family()
        self._incoming = bytearray()
        self._unsent = bytearray()
        self._descriptors: list[int] = []
        self._running: dict[int, Program] = {}
        self._ending: Ending | None = None
        self._untold = 0
        self._answer: dict[bytes, Callable[[list[bytes]], None]] = {
            b"start": self._start,
            b"signal": self._signal,
            b"end": lambda fields: self._end(int(fields[0]) / 1000),
        }
        self._wake = woken_by_children()
        control.setblocking(False)

    def run(self) -> None:
        self._tell(b"ready", os.getpid())
        while not (self._ending and self._ending.is_over()):
            self._wait()
            self._reap()
        self._reap()
        self._tell(b"survivors", *self._family.living())
        self._flush()

    def _wait(self) -> None:
        """Until the daemon or a child has something for us; while ending, look at the others now and then."""
        poll = select.poll()
        for fd in (self._wake, self._control.fileno(), *self._starting()):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        if self._unsent and self._control.fileno() >= 0:
            poll.modify(self._control, select.POLLIN | select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(LOOK_EVERY_S * 1000 if self._ending else None)}
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._control.fileno() in ready:
            self._flush()
            self._receive()
        for fd, program in self._starting().items():
            if fd in ready:
                self._started(program)

    def _receive(self) -> None:
        try:
            data, descriptors, *_ = socket.recv_fds(self._control, 65536, STDIO, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        for fd in descriptors:
            os.set_inheritable(fd, False)
        self._descriptors += descriptors
        self._incoming += data
        for name, *fields in unpacked(self._incoming):
            self._answer[name](fields)
        if not data:
            self._control.close()
            self._end(GRACE_AFTER_DEATH_S)

    def _start(self, fields: list[bytes]) -> None:
        program = Program(fields, self._descriptors[:STDIO])
        del self._descriptors[:STDIO]
        try:
            if self._ending is None:
                self._fork(program)
            else:
                self._tell(b"failed", program.id, b"ended", 0)
        except OSError as error:
            self._tell(b"failed", program.id, b"start", error.errno or 0)
        finally:
            for fd in program.stdio:
                os.close(fd)

    def _fork(self, program: Program) -> None:
        told, failure = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(told)
            os.close(failure)
            raise
        if pid == 0:
            become(program, failure)
        os.close(failure)
        program.failure = told
        self._running[pid] = program
        self._family.add_group(pid)

    def _starting(self) -> dict[int, Program]:
        return {program.failure: program for program in self._running.values() if program.failure >= 0}

    def _started(self, program: Program) -> None:
        """The pipe closes with the exec; what stands in it is why there was none."""
        told = os.read(program.failure, 64)
        os.close(program.failure)
        program.failure = -1
        program.has_failed = bool(told)
        if told:
            self._tell(b"failed", program.id, *told.split())
        else:
            pid = next(pid for pid, one in self._running.items() if one is program)
            self._tell(b"started", program.id, pid)

    def _signal(self, fields: list[bytes]) -> None:
        """Only to one that was not reaped: its pid is still its own."""
        for pid, program in self._running.items():
            if program.id == fields[0]:
                with contextlib.suppress(OSError):
                    os.kill(pid, int(fields[1]))

    def _end(self, grace_s: float) -> None:
        if self._ending is None:
            self._ending = Ending(self._family.living, grace_s)
        self._ending.hurry(grace_s)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._buried(ended[0], os.waitstatus_to_exitcode(ended[1]))

    def _buried(self, pid: int, code: int) -> None:
        program = self._running.get(pid)
        if program is None:
            self._tell_of_orphan(pid, code)
            return
        if program.failure >= 0:
            self._started(program)
        del self._running[pid]
        if not program.has_failed:
            self._tell(b"exited", program.id, code)

    def _tell_of_orphan(self, pid: int, code: int) -> None:
        """Thousands of them must not fill the memory while the daemon does not read: then only their number is kept."""
        if len(self._unsent) > _MAX_UNSENT:
            self._untold += 1
            return
        if self._untold:
            self._tell(b"untold", self._untold)
            self._untold = 0
        self._tell(b"orphan", pid, code)

    def _tell(self, *fields: bytes | int) -> None:
        self._unsent += packed(*fields)
        self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent and self._control.fileno() >= 0:
                del self._unsent[: self._control.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:  # nobody reads any more; that the daemon is gone is read from the same socket
            self._unsent.clear()


def become(program: Program, failure: int) -> None:
    """In the new process, which never returns from here: nothing of ours may reach the program."""
    stage = b"start"
    try:
        os.setsid()  # so that a program that signals its process group signals nobody else
        restore_signals()
        for target, fd in enumerate(program.stdio):
            os.dup2(fd, target)
        if program.has_terminal:
            take_terminal()
        stage = b"folder"
        os.chdir(program.cwd)
        stage = b"command"
        os.execvpe(program.argv[0], program.argv, program.environment)  # noqa: S606  what the daemon asked for
    except OSError as error:
        os.write(failure, b"%b %d" % (stage, error.errno or 0))
    finally:
        os._exit(127)


def restore_signals() -> None:
    """Python ignores some, and whoever started the daemon may have ignored others."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def take_terminal() -> None:
    import fcntl  # noqa: PLC0415  in the new process, and only where there is a terminal
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def woken_by_children() -> int:
    """A descriptor that is readable when a child may have ended."""
    readable, wake = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(wake, False)
    inherited = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    if inherited >= 0:
        os.close(inherited)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return readable


def become_subreaper() -> None:
    """Orphans come to us and not to init. macOS has nothing like it: there process groups must do (not run yet)."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def supervise(control: socket.socket) -> None:
    """In a process of its own, which ends here."""
    try:
        become_subreaper()  # not inherited over fork
        Supervisor(control).run()
    except Exception:  # noqa: BLE001  a fault of ours is told to the daemon, and the guard ends the tree
        import traceback  # noqa: PLC0415

        control.sendall(packed(b"fault", traceback.format_exc().encode()))
    finally:
        os._exit(0)
