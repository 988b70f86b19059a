"""The shell inside: a terminal of its own, and the process that leads it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import termios

from dragoman.shell.launching import Launch

TYPE_CHECKING = False  # who starts a shell does not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.outer import Attributes

_CANNOT_RUN, _NOT_FOUND = 126, 127
_SHELLS = frozenset(
    ["ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "sh", "tcsh", "yash", "zsh"]
)
_ARGUMENTS_READ = 4096


class Child:
    def __init__(self, pid: int, master: int) -> None:
        self.pid = pid
        self.master = master
        self.runs = True
        """Whether the program could be executed at all."""
        self.status: int | None = None
        """As `waitpid` gives it, once it has ended."""
        self._hooked = b""
        """The arguments of the shell that has our hook, as the system lists them."""

    @classmethod
    def start(cls, launch: Launch, attributes: Attributes, size: bytes) -> Child:
        master, slave = os.openpty()
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        launch.enter(os.ttyname(slave))
        sys.stdout.flush()
        # Closed by the exec itself: what comes through it before is that it failed.
        refused, refusal = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become(launch, slave, refusal)
        for fd in (slave, refusal):
            os.close(fd)
        launch.close()
        child = cls(pid, master)
        child.runs = not os.read(refused, 1)
        os.close(refused)
        os.set_blocking(master, False)
        return child

    def resize(self, size: bytes) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def look(self) -> str:
        """`ended`, `stopped` or `` : what has become of it since the last look."""
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

    def note_hooked(self) -> None:
        """The shell that runs now has our hook."""
        self._hooked = self._hooked or self._arguments()

    def is_another_shell(self) -> bool:
        """Whether `exec` put a shell without our hook in the place of the one that has it."""
        try:
            if not self._hooked or os.tcgetpgrp(self.master) != self.pid:
                return False
        except OSError:
            return False
        arguments = self._arguments()
        name = os.fsdecode(arguments.split(b"\0")[0]).rpartition("/")[2].lstrip("-")
        return arguments != self._hooked and name in _SHELLS

    def _arguments(self) -> bytes:
        """Empty where the system does not tell."""
        try:
            with open(f"/proc/{self.pid}/cmdline", "rb") as file:  # noqa: PTH123  no pathlib in a wrapper
                return file.read(_ARGUMENTS_READ)
        except OSError:
            return b""

    def hang_up(self) -> None:
        """As a terminal does that is closed; a stopped shell must run to hear it."""
        if self.status is None:
            for number in (signal.SIGHUP, signal.SIGCONT):
                self.send(number)

    def send(self, number: signal.Signals) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def exit_code_of(status: int) -> int:
    """As a shell tells it: 128 and more for a signal."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _become(launch: Launch, slave: int, refusal: int) -> None:
    """Python ignores two signals, and whoever is started would inherit that."""
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.login_tty(slave)
        os.execvpe(launch.program, launch.arguments, launch.environment)  # noqa: S606  a shell is what is asked for
    except OSError as error:
        os.write(refusal, b"!")
        _fail(launch, error, _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN)
    finally:
        os._exit(_CANNOT_RUN)


def _fail(launch: Launch, error: OSError, code: int) -> None:
    """In the child, on the terminal inside: the wrapper shows it as it shows everything."""
    os.write(2, os.fsencode(f"dragoman shell: {launch.program}: {error.strerror}\r\n"))
    os._exit(code)
