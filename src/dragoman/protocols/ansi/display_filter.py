"""Filter a recorded or foreign stream for a person's own terminal: only sequences that draw pass.

The filter is an allow-list. A sequence that queries the terminal (which would answer as if the person had typed),
sets the clipboard or the title, prints, resizes, or changes what keys and the mouse send is not on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.protocols.ansi.tokens import Csi, Escape, SequenceParser, Text, Token

_CONTROLS = frozenset("\b\t\n\x0b\x0c\r\x0e\x0f")
_ESCAPES: Mapping[tuple[str, str], bytes] = {
    **{("", final): b"\x1b" + final.encode() for final in "78DEMH"},
    **{(slot, final): f"\x1b{slot}{final}".encode() for slot in "()" for final in "0B"},
    ("#", "8"): b"\x1b#8",
    ("", "c"): b"\x1b[0m\x1b[r\x1b[2J\x1b[H",  # a reset would erase the viewer's own scrollback and modes
}
_FINALS = frozenset("@ABCDEFGHIJKLMPSTXZ`abdefgmrsu")
# By the highest number of parameters: with more, the same letter means something else.
_MOST_PARAMETERS = {"T": 1, "s": 0, "u": 0}
_MODES = frozenset({4})
# Origin, wrapping, the cursor, the alternate screen and synchronized updates; neither the mouse nor the keyboard.
_PRIVATE_MODES = frozenset({6, 7, 12, 25, 47, 1047, 1048, 1049, 2026})
_MOST_NUMBERS = 32
_MOST_COUNT = 9999
_SCROLLBACK = 3

_OTHER_SCREEN = frozenset({47, 1047, 1049})
_ORIGIN = 6
_RESTORED = b"\x1b[0m\x1b(B\x0f\x1b[4l\x1b[?7h\x1b[?2026l\x1b[?25h"
# When its region is reset, a terminal moves its cursor home, where it would overwrite text.
_WITHOUT_REGION = b"\x1b[?6l\x1b[r\x1b[9999;1H"


class DisplayFilter:
    """Filters one stream.

    `feed` returns what is shown; `restored` returns what resets the terminal, wherever the stream ended.
    """

    def __init__(self) -> None:
        self._sequences = SequenceParser()
        self._is_covered = False
        self._has_region = False

    def feed(self, data: bytes) -> bytes:
        return b"".join(map(self._passed, self._sequences.feed(data)))

    def restored(self) -> bytes:
        """Only what was changed is reset: some terminals move their cursor for it."""
        region = _WITHOUT_REGION if self._has_region else b""
        return region + (b"\x1b[?1049l" if self._is_covered else b"") + _RESTORED

    def _passed(self, token: Token) -> bytes:
        if isinstance(token, Csi):
            self._note(token)
        return _passed(token)

    def _note(self, token: Csi) -> None:
        if token.prefix == "?" and token.final in "hl":
            self._is_covered = token.final == "h" if _OTHER_SCREEN & {*token.parameters} else self._is_covered
            self._has_region = self._has_region or _ORIGIN in token.parameters
        elif token.final == "r" and not token.prefix:
            self._has_region = True


def _passed(token: Token) -> bytes:
    if isinstance(token, Text):
        return _letters(token)
    if isinstance(token, Escape):
        return _ESCAPES.get((token.intermediates, token.final), b"")
    return _csi(token)


def _letters(token: Text) -> bytes:
    """In UTF-8 the C1 controls are characters of two bytes, and some terminals obey them."""
    if token.is_control:
        return token.text.encode() if token.text in _CONTROLS else b""
    return "".join(char for char in token.text if not "\x80" <= char <= "\x9f").encode()


def _csi(token: Csi) -> bytes:
    if token.intermediates or len(token.parameters) > _MOST_NUMBERS:
        return b""
    if token.final in "hl":
        return _modes(token)
    if token.prefix or token.final not in _FINALS or max(token.parameters, default=0) > _MOST_COUNT:
        return b""
    if len(token.parameters) > _MOST_PARAMETERS.get(token.final, _MOST_NUMBERS):
        return b""
    if token.final == "J" and _SCROLLBACK in token.parameters:
        return b""
    return token.raw


def _modes(token: Csi) -> bytes:
    allowed = {"": _MODES, "?": _PRIVATE_MODES}.get(token.prefix, frozenset())
    kept = [str(mode) for mode in token.parameters if mode in allowed]
    return f"\x1b[{token.prefix}{';'.join(kept)}{token.final}".encode() if kept else b""
