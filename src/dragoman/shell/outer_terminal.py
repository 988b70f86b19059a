"""The terminal that the person uses: raw while a shell is wrapped, and restored whatever happens."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import sys
import termios

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from typing import Any

    Attributes = list[Any]
    """In the form of `termios`."""

_SIZE = struct.Struct("HHHH")
_INPUT, _OUTPUT, _CONTROL, _LOCAL, _CHARACTERS = 0, 1, 2, 3, 6
# A wrapper that is killed cannot restore anything, so this shell waits until its pipe closes. Readline leaves ISIG on
# and we do not: if ISIG is on, an outer shell has already restored its terminal, and the guard leaves
# the settings alone.
_GUARD = """
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
while read -r word mode; do
  [ "$word" != restored ] || exit 0
  alternate=$mode
done
exec 3<&1  # inside $( ) the first is another
case $(stty -a <&3) in
  *-isig*) stty "$1" <&1 ;;
  *) [ -n "$alternate" ] || exit 0 ;;
esac
[ -z "$alternate" ] || printf '\\033[?%sl' "$alternate"
printf '\\033[?%sl' 1 6 9 1000 1001 1002 1003 1004 1005 1006 1015 1016 2004 2026
printf '\\033[?7h\\033[?25h\\033[4l\\033>\\033[>4m\\033[<u\\0337\\033[r\\0338\\033[0 q\\033(B\\017\\033[0m\\r\\n'
"""
# What it resets: the alternate screen, if a program used it; cursor keys, origin, all mouse reports, focus, paste and
# held output; wrapping, cursor, insert, keypad, the keyboards of xterm and kitty, the scroll region (which moves the
# cursor, so the position is saved), the cursor's shape, the character set and the style.


class OuterTerminal:
    """`fd` is an open file description of our own if possible, so that setting it non-blocking affects no other
    process."""

    def __init__(self, keys: int = 0, screen: int = 1, *, opening: bytes = b"", closing: bytes = b"") -> None:
        own = _reopened(keys, screen)
        self.keys = keys if own is None else own
        self.screen = screen if own is None else own
        self._saved = termios.tcgetattr(self.keys)
        self._raw = False
        self._guard: int | None = None
        self._opening, self._closing = opening, closing
        self._alternate = ""

    @property
    def attributes(self) -> Attributes:
        """The person's settings, for the terminal inside."""
        return self._saved

    def size(self) -> bytes:
        """As the kernel keeps it: rows, columns, and the size in pixels."""
        with contextlib.suppress(OSError):
            return fcntl.ioctl(self.keys, termios.TIOCGWINSZ, bytes(_SIZE.size))
        return _SIZE.pack(24, 80, 0, 0)

    def enter_raw(self) -> None:
        if self._guard is None:
            self._guard = _start_guard(self.screen, self._saved)
        termios.tcsetattr(self.keys, termios.TCSANOW, _raw_of(self._saved))
        self._raw = True
        self._write_notice(self._opening)

    def note_alternate(self, mode: str) -> None:
        """For the guard: a full-screen program cannot leave the alternate screen once we are killed."""
        if mode != self._alternate:
            self._alternate = mode
            if self._guard is not None:
                with contextlib.suppress(OSError):
                    os.write(self._guard, f"alternate {mode}\n".encode())

    def restore(self) -> None:
        """Restore without draining: a terminal that accepts nothing would block us forever."""
        if self._raw:
            self._raw = False
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self.keys, termios.TCSANOW, self._saved)

    def leave(self) -> None:
        """Leave for good: there is nothing left to guard."""
        self._write_notice(self._closing)
        self.restore()
        if self._guard is not None:
            with contextlib.suppress(OSError):
                os.write(self._guard, b"restored\n")
            os.close(self._guard)
            self._guard = None

    def _write_notice(self, words: bytes) -> None:
        if words:
            with contextlib.suppress(OSError):
                os.write(self.screen, words)


def rows_and_columns(size: bytes) -> tuple[int, int]:
    rows, columns, _, _ = _SIZE.unpack(size)
    return rows or 24, columns or 80


def _reopened(keys: int, screen: int) -> int | None:
    """O_NONBLOCK belongs to the open file description, which we share with our parent, so we open one of our own."""
    with contextlib.suppress(OSError):
        name = os.ttyname(keys)
        if name == os.ttyname(screen):
            return os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    return None


def _raw_of(saved: Attributes) -> Attributes:
    raw = list(saved)
    flags = saved[:4]
    raw[_INPUT] = flags[_INPUT] & ~(
        termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.ISTRIP
        | termios.INLCR | termios.IGNCR | termios.ICRNL | termios.IXON
    )  # fmt: skip
    raw[_OUTPUT] = flags[_OUTPUT] & ~termios.OPOST
    raw[_CONTROL] = flags[_CONTROL] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    raw[_LOCAL] = flags[_LOCAL] & ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    characters = list(saved[_CHARACTERS])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    raw[_CHARACTERS] = characters
    return raw


def _start_guard(screen: int, saved: Attributes) -> int | None:
    """Start the guard in its own process group, so that a signal to our group does not end it."""
    reading, writing = os.pipe()
    try:
        os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _GUARD, "dragoman-guard", _for_stty(saved)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_DUP2, screen, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(writing)
        return None
    finally:
        os.close(reading)
    return writing


def _for_stty(saved: Attributes) -> str:
    """The format of `stty -g` on Linux. Elsewhere the format differs, and sane settings are better than raw."""
    if not sys.platform.startswith("linux"):
        return "sane"
    flags = saved[:4]
    characters = [each if isinstance(each, int) else ord(each) for each in saved[_CHARACTERS]]
    return ":".join(f"{each:x}" for each in [*flags, *characters])
