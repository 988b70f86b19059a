"""A wrapper in the terminal of another: what it shows is its own to record, or not to, so the other one leaves it out.

The inner one says so on the screen, in its place among all that is shown, with a word that it has from its environment:
a file that is printed does not know the word. It ends with the command in which it was said, whatever becomes of the
inner one.
"""

from __future__ import annotations

from collections.abc import Mapping

VARIABLE = "DRAGOMAN_INSIDE"
RECORDED = "Recorded"
ELSEWHERE, HERE = "elsewhere", "here"


def offer(word: str, terminal: str) -> str:
    """With the terminal's name: whoever inherits this in another window is in nobody's terminal."""
    return f"{word}@{terminal}"


def word_in(environment: Mapping[str, str], terminal: str) -> str:
    word, _, where = environment.get(VARIABLE, "").partition("@")
    return word if where == terminal and word.isalnum() else ""


def saying(where: str, word: str) -> bytes:
    return f"\x1b]633;P;{RECORDED}={where};nonce={word}\x07".encode() if word else b""
