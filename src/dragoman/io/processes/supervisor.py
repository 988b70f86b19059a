"""The process between the daemon and one session's programs: they cannot outlive it, nor it the daemon.

It starts programs and reaps all their descendants: a process that loses its parent, also by double fork and setsid,
becomes its child instead of init's. The daemon holds one end of a socket. End of file on it means that the daemon
died; the daemon in turn reads end of file when nothing of the tree is left (see `fork_server`).

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

from dragoman.io.processes.descendants import ProcessTable, freeze_and_kill, living_descendants, process_table, send_all

GRACE_AFTER_DEATH_S = 0.5  # after the death of the daemon or of a supervisor: the time that programs have after SIGTERM
KILL_WITHIN_S = 5.0  # after this, what survives even SIGKILL (a process that waits for a disk) is reported and left
STDIO = 3
_LENGTH = 4
POLL_INTERVAL_S = 0.01
_MAX_UNSENT = 256 * 1024
_PR_SET_CHILD_SUBREAPER = 36


def pack_message(*fields: bytes | int) -> bytes:
    body = b"\0".join(field if isinstance(field, bytes) else b"%d" % field for field in fields)
    return len(body).to_bytes(_LENGTH, "big") + body


def unpack_messages(buffer: bytearray) -> Iterator[list[bytes]]:
    """Remove the whole messages from the start of the buffer and return them."""
    while len(buffer) >= _LENGTH and len(buffer) >= (end := _LENGTH + int.from_bytes(buffer[:_LENGTH], "big")):
        body = bytes(buffer[_LENGTH:end])
        del buffer[:end]
        yield body.split(b"\0")


class TreeTermination:
    """SIGTERM, a grace period, then freeze and kill, repeated until nothing is alive."""

    def __init__(self, living: Callable[[], ProcessTable], grace_s: float) -> None:
        self._living = living
        self._kill_at = time.monotonic() + grace_s
        processes = living()
        send_all(processes, signal.SIGTERM)
        send_all(processes, signal.SIGCONT)  # a stopped process could not handle the signal

    def shorten_grace(self, grace_s: float) -> None:
        self._kill_at = min(self._kill_at, time.monotonic() + grace_s)

    def is_over(self) -> bool:
        """Whether no process is left, or none that can be ended."""
        late_s = time.monotonic() - self._kill_at
        if late_s >= 0:
            freeze_and_kill(self._living)
        return not self._living() or late_s > KILL_WITHIN_S


class Descendants:
    """All descendants of this process.

    Without a subreaper (macOS), an orphan loses its line of parents; it is then found by its process group.
    """

    def __init__(self) -> None:
        self._groups: set[int] = set()

    def add_group(self, leader: int) -> None:
        self._groups.add(leader)

    def living(self) -> ProcessTable:
        table = process_table()
        found = living_descendants(os.getpid(), table)
        if sys.platform != "linux":
            self._groups |= {process.group for process in found.values()} - {os.getpgrp()}
            found |= {pid: one for pid, one in table.items() if one.group in self._groups and not one.is_dead}
        return found


class SupervisedProgram:
    """What the daemon asked to start, and the pipe that reports whether exec failed."""

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
        self._descendants = Descendants()
        self._incoming = bytearray()
        self._unsent = bytearray()
        self._descriptors: list[int] = []
        self._running: dict[int, SupervisedProgram] = {}
        self._ending: TreeTermination | None = None
        self._omitted = 0
        self._answer: dict[bytes, Callable[[list[bytes]], None]] = {
            b"start": self._start,
            b"signal": self._signal,
            b"end": lambda fields: self._end(int(fields[0]) / 1000),
        }
        self._wake = child_signal_fd()
        control.setblocking(False)

    def run(self) -> None:
        self._send(b"ready", os.getpid())
        while not (self._ending and self._ending.is_over()):
            self._wait()
            self._reap()
        self._reap()
        self._send(b"survivors", *self._descendants.living())
        self._flush()

    def _wait(self) -> None:
        """Wait for the daemon or a child; while ending, check the other processes now and then."""
        poll = select.poll()
        for fd in (self._wake, self._control.fileno(), *self._starting()):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        if self._unsent and self._control.fileno() >= 0:
            poll.modify(self._control, select.POLLIN | select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(POLL_INTERVAL_S * 1000 if self._ending else None)}
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
        for name, *fields in unpack_messages(self._incoming):
            self._answer[name](fields)
        if not data:
            self._control.close()
            self._end(GRACE_AFTER_DEATH_S)

    def _start(self, fields: list[bytes]) -> None:
        program = SupervisedProgram(fields, self._descriptors[:STDIO])
        del self._descriptors[:STDIO]
        try:
            if self._ending is None:
                self._fork(program)
            else:
                self._send(b"failed", program.id, b"ended", 0)
        except OSError as error:
            self._send(b"failed", program.id, b"start", error.errno or 0)
        finally:
            for fd in program.stdio:
                os.close(fd)

    def _fork(self, program: SupervisedProgram) -> None:
        reader, failure = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(reader)
            os.close(failure)
            raise
        if pid == 0:
            exec_program(program, failure)
        os.close(failure)
        program.failure = reader
        self._running[pid] = program
        self._descendants.add_group(pid)

    def _starting(self) -> dict[int, SupervisedProgram]:
        return {program.failure: program for program in self._running.values() if program.failure >= 0}

    def _started(self, program: SupervisedProgram) -> None:
        """The pipe closes with exec; data in it is the reason why exec failed."""
        reason = os.read(program.failure, 64)
        os.close(program.failure)
        program.failure = -1
        program.has_failed = bool(reason)
        if reason:
            self._send(b"failed", program.id, *reason.split())
        else:
            pid = next(pid for pid, one in self._running.items() if one is program)
            self._send(b"started", program.id, pid)

    def _signal(self, fields: list[bytes]) -> None:
        """Signal only a process that was not reaped: its pid is still its own."""
        for pid, program in self._running.items():
            if program.id == fields[0]:
                with contextlib.suppress(OSError):
                    os.kill(pid, int(fields[1]))

    def _end(self, grace_s: float) -> None:
        if self._ending is None:
            self._ending = TreeTermination(self._descendants.living, grace_s)
        self._ending.shorten_grace(grace_s)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._on_reaped(ended[0], os.waitstatus_to_exitcode(ended[1]))

    def _on_reaped(self, pid: int, code: int) -> None:
        program = self._running.get(pid)
        if program is None:
            self._report_orphan(pid, code)
            return
        if program.failure >= 0:
            self._started(program)
        del self._running[pid]
        if not program.has_failed:
            self._send(b"exited", program.id, code)

    def _report_orphan(self, pid: int, code: int) -> None:
        """Thousands of orphans must not fill the memory while the daemon does not read: then only their number is
        kept."""
        if len(self._unsent) > _MAX_UNSENT:
            self._omitted += 1
            return
        if self._omitted:
            self._send(b"omitted", self._omitted)
            self._omitted = 0
        self._send(b"orphan", pid, code)

    def _send(self, *fields: bytes | int) -> None:
        self._unsent += pack_message(*fields)
        self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent and self._control.fileno() >= 0:
                del self._unsent[: self._control.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:  # nobody reads; the end of the daemon is noticed on the same socket
            self._unsent.clear()


def exec_program(program: SupervisedProgram, failure: int) -> None:
    """Runs in the new process and never returns: nothing of ours may reach the program."""
    stage = b"start"
    try:
        os.setsid()  # so that a program that signals its process group signals only itself
        restore_signals()
        for target, fd in enumerate(program.stdio):
            os.dup2(fd, target)
        if program.has_terminal:
            acquire_terminal()
        stage = b"folder"
        os.chdir(program.cwd)
        stage = b"command"
        os.execvpe(program.argv[0], program.argv, program.environment)  # noqa: S606  requested by the daemon
    except OSError as error:
        os.write(failure, b"%b %d" % (stage, error.errno or 0))
    finally:
        os._exit(127)


def restore_signals() -> None:
    """Reset signals: Python ignores some, and the parent of the daemon may have ignored others."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def acquire_terminal() -> None:
    import fcntl  # noqa: PLC0415  in the new process, and only with a terminal
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def child_signal_fd() -> int:
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
    """Make us the parent of orphans, instead of init. macOS has no equivalent: there process groups must do (not run
    yet)."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_supervisor(control: socket.socket) -> None:
    """Runs in its own process, which ends here."""
    try:
        become_subreaper()  # not inherited over fork
        Supervisor(control).run()
    except Exception:  # noqa: BLE001  the daemon logs the error, and the fork server ends the tree
        import traceback  # noqa: PLC0415

        control.sendall(pack_message(b"fault", traceback.format_exc().encode()))
    finally:
        os._exit(0)
