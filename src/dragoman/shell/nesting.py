"""A wrapper in the terminal of another: what it shows is its own to record, or not to, so the other one leaves it out.

The inner one says so on the screen, in its place among all that is shown, with a word that it has from its environment:
a file that is printed does not know the word. It ends with the command in which it was said, whatever becomes of the
inner one.

Inside tmux or screen no word reaches the terminal outside, so it is said to that terminal itself. There it is never
taken back: what has been shown is drawn again whenever a window changes, until the last of them is gone.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # who starts a shell does not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "DRAGOMAN_INSIDE"
RECORDED = "Recorded"
ELSEWHERE, HERE = "elsewhere", "here"


def offer(word: str, terminal: str, environment: Mapping[str, str]) -> str:
    """With the terminal's name: whoever inherits this in another window is in nobody's terminal."""
    return f"{word}@{terminal}@{_pane(environment)}"


def word_in(environment: Mapping[str, str], terminal: str) -> str:
    word, where, _ = _offered(environment)
    return word if where == terminal else ""


def tell_around(environment: Mapping[str, str], terminal: str) -> None:
    """Where tmux or screen stands between, which a window of another program's does not."""
    word, where, pane = _offered(environment)
    if not word or where == terminal or _pane(environment) in ("", pane):
        return
    try:
        around = os.open(where, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.isatty(around) and os.fstat(around).st_uid == os.getuid():
            os.write(around, saying(ELSEWHERE, word))
    except OSError:
        pass
    finally:
        os.close(around)


def saying(where: str, word: str) -> bytes:
    return f"\x1b]633;P;{RECORDED}={where};nonce={word}\x07".encode() if word else b""


def _offered(environment: Mapping[str, str]) -> tuple[str, str, str]:
    word, _, rest = environment.get(VARIABLE, "").partition("@")
    where, _, pane = rest.partition("@")
    is_terminal = where.startswith("/dev/") and "/.." not in where
    return (word, where, pane) if word.isalnum() and is_terminal else ("", "", "")


def _pane(environment: Mapping[str, str]) -> str:
    return environment.get("TMUX_PANE", "") + environment.get("STY", "")
