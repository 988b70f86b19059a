"""Detects a wrapper inside the terminal of another one, so that only the inner one records.

The inner wrapper announces itself on the screen with a token from its environment; a file that is printed does not
know the token. The announcement ends with the command in which it was made. Inside tmux or screen, marks do not reach
the outer terminal, so the announcement is written to that terminal directly. There it is never taken back: what has
been shown is drawn again whenever a window changes.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "DRAGOMAN_INSIDE"
RECORDED = "Recorded"
ELSEWHERE, HERE = "elsewhere", "here"


def encode_offer(word: str, terminal: str, environment: Mapping[str, str]) -> str:
    """The offer includes the terminal's name, so that a program that inherits it in another window does not use it."""
    return f"{word}@{terminal}@{_pane(environment)}"


def nesting_token_in(environment: Mapping[str, str], terminal: str) -> str:
    word, where, _ = _decoded_offer(environment)
    return word if where == terminal else ""


def notify_enclosing_terminal(environment: Mapping[str, str], terminal: str) -> None:
    """Announce the recording directly if tmux or screen is in between. Another program's window does not count."""
    word, where, pane = _decoded_offer(environment)
    if not word or where == terminal or _pane(environment) in ("", pane):
        return
    try:
        around = os.open(where, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.isatty(around) and os.fstat(around).st_uid == os.getuid():
            os.write(around, recorded_mark(ELSEWHERE, word))
    except OSError:
        pass
    finally:
        os.close(around)


def recorded_mark(where: str, word: str) -> bytes:
    return f"\x1b]633;P;{RECORDED}={where};nonce={word}\x07".encode() if word else b""


def _decoded_offer(environment: Mapping[str, str]) -> tuple[str, str, str]:
    word, _, rest = environment.get(VARIABLE, "").partition("@")
    where, _, pane = rest.partition("@")
    is_terminal = where.startswith("/dev/") and "/.." not in where
    return (word, where, pane) if word.isalnum() and is_terminal else ("", "", "")


def _pane(environment: Mapping[str, str]) -> str:
    return environment.get("TMUX_PANE", "") + environment.get("STY", "")
