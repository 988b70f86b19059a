"""The names of keys, and the bytes that xterm sends for them."""

from __future__ import annotations

import string
from collections.abc import Sequence

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize

# These depend on the cursor key mode (DECCKM): CSI by default, SS3 in application mode.
_CURSOR = {"up": b"A", "down": b"B", "right": b"C", "left": b"D", "home": b"H", "end": b"F"}
_FIXED = {
    "enter": b"\r",
    "tab": b"\t",
    "shift-tab": b"\x1b[Z",
    "escape": b"\x1b",
    "space": b" ",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "ctrl-space": b"\0",
    "ctrl-[": b"\x1b",
    "ctrl-\\": b"\x1c",
    "ctrl-]": b"\x1d",
    "ctrl-_": b"\x1f",
}
_FUNCTIONS = dict(
    zip(
        (f"f{number}" for number in range(1, 13)),
        (
            b"\x1bOP",
            b"\x1bOQ",
            b"\x1bOR",
            b"\x1bOS",
            *(b"\x1b[%d~" % code for code in (15, 17, 18, 19, 20, 21, 23, 24)),
        ),
        strict=True,
    )
)
_CONTROL = {f"ctrl-{letter}": bytes([ord(letter) & 0x1F]) for letter in string.ascii_lowercase}
_ALT = {f"alt-{letter}": b"\x1b" + letter.encode() for letter in string.ascii_lowercase + string.digits + ".,/<>-_"}
# xterm encodes modifiers as 1 plus shift 1, alt 2, ctrl 4.
_MODIFIED = {
    f"{modifier}-{name}": b"\x1b[1;%d" % number + final
    for modifier, number in (("shift", 2), ("alt", 3), ("ctrl", 5))
    for name, final in _CURSOR.items()
}
_BYTES = {**_FIXED, **_FUNCTIONS, **_CONTROL, **_ALT, **_MODIFIED}
_ALIASES = {"return": "enter", "esc": "escape", "del": "delete", "pageup": "page-up", "pagedown": "page-down"}
KEY_CHOICES = (
    "enter, tab, shift-tab, escape, space, backspace, delete, insert, up, down, left, right, home, end, page-up, "
    "page-down, f1 to f12, ctrl-a to ctrl-z, alt-a to alt-z, ctrl-up, shift-left …, or one character"
)


def key_bytes(names: Sequence[str], *, application: bool = False) -> bytes:
    return b"".join(_key(name, application=application) for name in names)


def _key(name: str, *, application: bool) -> bytes:
    if len(name) == 1 and name.isprintable():
        return name.encode(errors="replace")
    known = name.strip().lower().replace("+", "-")
    known = _ALIASES.get(known, known)
    if known in _CURSOR:
        return (b"\x1bO" if application else b"\x1b[") + _CURSOR[known]
    if known not in _BYTES:
        raise DragomanError(
            "unknown_key",
            localize("Unknown key {name}.", name=ascii(name[:40])),
            hint=localize("Keys: {names}.", names=KEY_CHOICES),
        )
    return _BYTES[known]
