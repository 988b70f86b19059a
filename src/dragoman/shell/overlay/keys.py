"""Recognises keys in the bytes of a keyboard, where a key is complete in one read. Bytes are never held back.

A lone ESC at the end of a read is the Escape key: terminals send the bytes of one key together, and a timer would
delay every Escape in vim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PASTE_BEGINS = b"\x1b[200~"
_PASTE_ENDS = b"\x1b[201~"
_ONE_KEY = re.compile(
    rb"\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC and DCS: replies of the terminal
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1bO[ -~]"  # SS3
    rb"|\x1b[\x00-\x7f]"  # Alt and a key
    rb"|\x1b"
    rb"|[\x00-\x1f\x7f]"
    rb"|[^\x00-\x1f\x7f]+"  # a run of text
)
# A terminal's reply may arrive in two reads, and any program can provoke one: `ESC [ ? 1 ; 2 $` and then `y`. Or it is
# 8-bit, if a program switched the terminal; or a click, whose position is encoded in plain letters.
_CSI_INTRODUCER = rb"(?:\x1b\[|(?<![\x80-\xff])\x9b|\xc2\x9b)"
_STRING_INTRODUCER = rb"(?:\x1b[\]P]|(?<![\x80-\xff])[\x90\x9d]|\xc2[\x90\x9d])"
_UNFINISHED = re.compile(
    rb"(?:%b[^\x07\x1b]*(?:\x1b)?|%b(?:[0-?]*[ -/]*|M[^\x1b]{0,2})|\x1bO)\Z" % (_STRING_INTRODUCER, _CSI_INTRODUCER),
    re.DOTALL,
)
_LONGEST_REPLY = 4096
# Reports of the terminal between the keys: its identity, its cursor position, its focus.
_REPLY = re.compile(rb"\x1b(?:[\]P].*|\[\??[0-9;]*\$?[Rcny]|\[[>?][0-9;]*[cu]|\[[IO])", re.DOTALL)
# A key with Ctrl, or Escape alone, in the encoding of extended keyboards.
_EXTENDED = re.compile(rb"\x1b\[(?:(?P<code>\d+)(?:;(?P<modifiers>\d+))?u|27;(?P<xmodifiers>\d+);(?P<xcode>\d+)~)")
_CTRL = b"5"
# The traditional bytes for these with Ctrl; for the others it is the letter's last five bits.
_CONTROLS = {"/": b"\x1f", "?": b"\x7f"}
_NAMES: dict[bytes, str] = {
    b"\x1b": "escape", b"\r": "enter", b"\n": "enter", b"\t": "tab", b"\x7f": "backspace", b"\b": "backspace",
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left",
    b"\x1bOA": "up", b"\x1bOB": "down", b"\x1bOC": "right", b"\x1bOD": "left",
    b"\x1b[H": "home", b"\x1b[F": "end", b"\x1bOH": "home", b"\x1bOF": "end",
    b"\x1b[1~": "home", b"\x1b[4~": "end", b"\x1b[7~": "home", b"\x1b[8~": "end", b"\x1b[3~": "delete",
    b"\x01": "home", b"\x05": "end", b"\x02": "left", b"\x06": "right", b"\x10": "up", b"\x0e": "down",
    b"\x03": "interrupt", b"\x04": "delete", b"\x0b": "kill_to_end", b"\x15": "kill_to_start", b"\x17": "kill_word",
    b"\x1b\x7f": "kill_word",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyInput:
    """`name` is empty for a key that has no meaning here. `text` and `paste` carry their content in `raw`. A `reply`
    is not a key: the terminal answers a program."""

    name: str
    raw: bytes

    @property
    def is_text(self) -> bool:
        return self.name in {"text", "paste"}


class KeyReader:
    """One keyboard. Only whether a paste or a sequence continues is kept from one read to the next."""

    def __init__(self) -> None:
        self._pasting = False
        self._seen = self._begun = b""
        self.is_incomplete = False
        """Whether the last read continued a sequence that the one before had begun: its letters are not keys."""

    @property
    def is_pasting(self) -> bool:
        return self._pasting

    def keys(self, data: bytes) -> list[KeyInput]:
        self.is_incomplete = bool(self._begun)
        match = _UNFINISHED.search((self._begun + data)[-_LONGEST_REPLY:])
        self._begun = match[0] if match and not self._pasting else b""
        return list(self._keys(data))

    def _keys(self, data: bytes) -> Iterator[KeyInput]:
        while data:
            key = self._pasted(data) if self._pasting else self._next(data)
            data = data[len(key.raw) :]
            yield key

    def _next(self, data: bytes) -> KeyInput:
        if data.startswith(_PASTE_BEGINS):
            self._pasting, self._seen = True, b""
            return KeyInput("", _PASTE_BEGINS)
        match = _ONE_KEY.match(data)
        raw = match[0] if match else data[:1]
        if raw[0] >= 0x20 and raw[0] != 0x7F:
            return KeyInput("text", raw)
        return KeyInput("reply" if _REPLY.fullmatch(raw) else _NAMES.get(_classic(raw), ""), raw)

    def _pasted(self, data: bytes) -> KeyInput:
        """The end of a paste may arrive in pieces: what was seen of it is remembered, and not held back."""
        seen = self._seen + data
        at = seen.find(_PASTE_ENDS)
        if at < 0:
            self._seen = seen[1 - len(_PASTE_ENDS) :]
            return KeyInput("paste", data)
        text = at - len(self._seen)
        self._seen = b""
        if text > 0:
            return KeyInput("paste", data[:text])
        self._pasting = False
        return KeyInput("", data[: text + len(_PASTE_ENDS)])


def _classic(raw: bytes) -> bytes:
    """The byte that a traditional keyboard would have sent."""
    match = _EXTENDED.fullmatch(raw)
    if match is None:
        return raw
    code, modifiers = int(match["code"] or match["xcode"]), match["modifiers"] or match["xmodifiers"] or b"1"
    if modifiers == _CTRL and 0x40 <= code < 0x80:
        return bytes([code & 0x1F])
    return bytes([code]) if modifiers == b"1" and code < 0x80 else raw


LETTERS = frozenset(bytes([code]) for code in range(0x20, 0x7F))


def key_sequences(setting: str) -> frozenset[bytes]:
    """The bytes that terminals may send for a key such as `alt-/` or `ctrl-alt-p`: the traditional ones, and those
    of xterm's and kitty's extended keyboards."""
    *modifiers, key = re.fullmatch(r"(ctrl-)?(alt-)?(.)", setting, re.DOTALL).groups()  # type: ignore[union-attr]
    ctrl, alt = (each is not None for each in modifiers)
    if not (ctrl or alt):
        return frozenset({key.encode()})
    plain = _CONTROLS.get(key, bytes([ord(key.upper()) & 0x1F])) if ctrl else key.encode()
    number = 1 + 2 * alt + 4 * ctrl
    code = ord(key.lower() if ctrl else key)
    extended = {b"\x1b[%d;%du" % (code, number), b"\x1b[27;%d;%d~" % (number, code)}
    return frozenset({b"\x1b" * alt + plain, *extended})
