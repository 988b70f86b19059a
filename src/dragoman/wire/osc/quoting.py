"""The three ways in which shells write a command line or a path inside a mark."""

from __future__ import annotations

import re

_SERIALIZED = re.compile(r"\\(?:(\\)|x([0-9a-fA-F]{2}))")
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")
_UNSAFE = re.compile(r"[\x00-\x20;\\]")
_SHELL = re.compile(
    r"""\$'(?P<ansi>(?:[^'\\]|\\.)*)'"""
    r"""|'(?P<single>[^']*)'"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)\""""
    r"""|\\(?P<escaped>.)""",
    re.DOTALL,
)
_IN_DOUBLE = re.compile(r'\\([$`"\\])')
_IN_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))


def serialize(text: str) -> str:
    """VS Code's form: `\\xAB` for a semicolon and for all up to the space, `\\\\` for a backslash."""
    return _UNSAFE.sub(lambda found: r"\\" if found[0] == "\\" else f"\\x{ord(found[0]):02x}", text)


def deserialize(text: str) -> str:
    return _SERIALIZED.sub(lambda found: found[1] or chr(int(found[2], 16)), text)


def percent_encode(text: str) -> str:
    return "".join(
        chr(byte) if chr(byte).isalnum() and byte < 0x80 else f"%{byte:02x}" for byte in text.encode(errors="replace")
    )


def percent_decode(text: str) -> str:
    raw = _PERCENT.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())
    return raw.decode(errors="replace")


def shell_unquote(text: str) -> str:
    """What `printf %q` and zsh's `(q)` write: backslashes, quotes, and `$'…'` for control characters."""
    return _SHELL.sub(_unquoted, text)


def _unquoted(found: re.Match[str]) -> str:
    kind, inner = next((kind, inner) for kind, inner in found.groupdict().items() if inner is not None)
    if kind == "ansi":
        return _IN_ANSI.sub(_ansi_character, inner)
    return _IN_DOUBLE.sub(r"\1", inner) if kind == "double" else inner


def _ansi_character(found: re.Match[str]) -> str:
    byte, short, long, octal, letter = found.groups()
    if letter is not None:
        return _ANSI_LETTERS.get(letter, letter)
    code = int(octal, 8) & 0xFF if octal else int(byte or short or long, 16)
    return chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else "\N{REPLACEMENT CHARACTER}"
