"""The shell process and its pty."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import termios

from dragoman.shell.launch import ShellLaunch

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.outer_terminal import Attributes

_CANNOT_RUN, _NOT_FOUND = 126, 127
_SHELLS = frozenset(
    ["ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "sh", "tcsh", "yash", "zsh"]
)
_ARGUMENTS_READ = 4096


class ShellProcess:
    """The shell process, started in a pty of its own."""

    def __init__(self, pid: int, master: int) -> None:
        self.pid = pid
        self.master = master
        self.is_executed = True
        """Whether the program could be executed at all."""
        self.status: int | None = None
        """The status that `waitpid` returned, once the shell has ended."""
        self._hooked = b""
        """The arguments of the shell that has our hook, as the system lists them."""

    @classmethod
    def start(cls, launch: ShellLaunch, attributes: Attributes, size: bytes) -> ShellProcess:
        master, slave = os.openpty()
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        launch.set_nesting_offer(os.ttyname(slave))
        sys.stdout.flush()
        # Closed by exec itself: data in it means that exec failed.
        refused, refusal = os.pipe()
        pid = os.fork()
        if pid == 0:
            _exec_shell(launch, slave, refusal)
        for fd in (slave, refusal):
            os.close(fd)
        launch.close()
        child = cls(pid, master)
        child.is_executed = not os.read(refused, 1)
        os.close(refused)
        os.set_blocking(master, False)
        return child

    def resize(self, size: bytes) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def poll_exit(self) -> str:
        """`ended`, `stopped` or ``: what changed since the last call."""
        if self.status is not None:
            return "ended"
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            self.status = 0
            return "ended"
        if pid and os.WIFSTOPPED(status):
            return "stopped"
        if pid:
            self.status = status
        return "ended" if pid else ""

    def remember_hooked(self) -> None:
        """Remember that the shell that runs now has our hook."""
        self._hooked = self._hooked or self._arguments()

    def is_another_shell(self) -> bool:
        """Whether `exec` replaced the hooked shell with one without our hook."""
        try:
            if not self._hooked or os.tcgetpgrp(self.master) != self.pid:
                return False
        except OSError:
            return False
        arguments = self._arguments()
        name = os.fsdecode(arguments.split(b"\0")[0]).rpartition("/")[2].lstrip("-")
        return arguments != self._hooked and name in _SHELLS

    def _arguments(self) -> bytes:
        """Empty if the system does not report them."""
        try:
            with open(f"/proc/{self.pid}/cmdline", "rb") as file:  # noqa: PTH123  no pathlib in a wrapper
                return file.read(_ARGUMENTS_READ)
        except OSError:
            return b""

    def hang_up(self) -> None:
        """Hang up, as a closed terminal does. A stopped shell is continued, so that it receives the signal."""
        if self.status is None:
            for number in (signal.SIGHUP, signal.SIGCONT):
                self.send(number)

    def send(self, number: signal.Signals) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def exit_code_of(status: int) -> int:
    """The exit code as shells report it: 128 plus the number of a signal."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _exec_shell(launch: ShellLaunch, slave: int, refusal: int) -> None:
    """Python ignores two signals, and the child would inherit that."""
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.login_tty(slave)
        os.execvpe(launch.program, launch.arguments, launch.environment)  # noqa: S606  running a shell is the purpose
    except OSError as error:
        os.write(refusal, b"!")
        _fail(launch, error, _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN)
    finally:
        os._exit(_CANNOT_RUN)


def _fail(launch: ShellLaunch, error: OSError, code: int) -> None:
    """Runs in the child and writes to the inner terminal; the wrapper shows it like all output."""
    os.write(2, os.fsencode(f"dragoman shell: {launch.program}: {error.strerror}\r\n"))
    os._exit(code)
