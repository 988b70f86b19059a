"""Shell integration marks, OSC 133 (FinalTerm) and OSC 633 (VS Code), as types, and their quoting.

Any program that can print can print a mark. `nonce` tells our hook's marks from forged ones; code that trusts a mark
compares it. VS Code's `E` carries it as its last field, every other mark as a parameter that terminals ignore.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

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


Dialect: TypeAlias = Literal[133, 633]


SUSPENDED = frozenset(128 + number for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU))
"""Exit codes by which a shell says that a command was stopped, as by Ctrl-Z: it has not ended, and did not fail."""
_EXIT_CODE = re.compile(r"-?[0-9]{1,10}")


@dataclass(slots=True, kw_only=True)
class Mark:
    """`raw` is the mark as it was in the stream; it is ignored in comparisons."""

    dialect: Dialect = 133
    nonce: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    raw: bytes = field(default=b"", compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class PromptStarted(Mark):
    """A: a prompt begins."""


@dataclass(slots=True, kw_only=True)
class InputStarted(Mark):
    """B: the prompt ends, what follows is typed."""


@dataclass(slots=True, kw_only=True)
class OutputStarted(Mark):
    """C: a command runs; kitty's hooks say which."""

    command_line: str | None = None


@dataclass(slots=True, kw_only=True)
class CommandFinished(Mark):
    """D: the command ended. No exit code is an aborted or empty command."""

    exit_code: int | None = None


@dataclass(slots=True, kw_only=True)
class CommandLineReported(Mark):
    """E: the exact command line."""

    dialect: Dialect = 633
    command_line: str


@dataclass(slots=True, kw_only=True)
class PropertyReported(Mark):
    """P: a property of the shell, of which `Cwd` matters most."""

    dialect: Dialect = 633
    key: str
    value: str


@dataclass(slots=True, kw_only=True)
class UnknownMark(Mark):
    """An unknown letter, with everything after the number of the dialect."""

    body: bytes


def parse_mark(dialect: Dialect, body: bytes, raw: bytes) -> Mark:
    letter, *fields = body.decode(errors="replace").split(";")
    parse = _PARSERS[dialect].get(letter)
    mark = parse(fields) if parse else UnknownMark(body=body)
    mark.dialect, mark.raw = dialect, raw
    return mark


def _parameters(fields: list[str]) -> dict[str, str]:
    return dict(each.split("=", 1) for each in fields if "=" in each)


def _prompt_started(fields: list[str]) -> Mark:
    return _with_nonce(PromptStarted(parameters=_parameters(fields)))


def _input_started(fields: list[str]) -> Mark:
    return _with_nonce(InputStarted(parameters=_parameters(fields)))


def _output_started(fields: list[str]) -> Mark:
    parameters = _parameters(_joined_command_line(fields))
    command_line = None
    if "cmdline_url" in parameters:
        command_line = percent_decode(parameters.pop("cmdline_url"))
    elif "cmdline" in parameters:
        command_line = shell_unquote(parameters.pop("cmdline"))
    return _with_nonce(OutputStarted(parameters=parameters, command_line=command_line))


def _joined_command_line(fields: list[str]) -> list[str]:
    """`cmdline=` is shell quoted, which leaves semicolons as they are: it goes on to the end."""
    for at, each in enumerate(fields):
        if each.startswith("cmdline="):
            return [*fields[:at], ";".join(fields[at:])]
    return fields


def _command_finished(fields: list[str]) -> Mark:
    code = fields[0] if fields and _EXIT_CODE.fullmatch(fields[0]) else None
    return _with_nonce(CommandFinished(parameters=_parameters(fields), exit_code=None if code is None else int(code)))


def _command_line_reported(fields: list[str]) -> Mark:
    command_line, nonce = [*fields, "", ""][:2]
    return CommandLineReported(command_line=deserialize(command_line), nonce=nonce or None)


def _property_reported(fields: list[str]) -> Mark:
    key, _, value = deserialize(fields[0] if fields else "").partition("=")
    return _with_nonce(PropertyReported(key=key, value=value, parameters=_parameters(fields[1:])))


def _with_nonce(mark: Mark) -> Mark:
    mark.nonce = mark.parameters.pop("nonce", None)
    return mark


_FINAL_TERM: dict[str, Callable[[list[str]], Mark]] = {
    "A": _prompt_started,
    "B": _input_started,
    "C": _output_started,
    "D": _command_finished,
}
_PARSERS: dict[int, dict[str, Callable[[list[str]], Mark]]] = {
    133: _FINAL_TERM,
    633: {**_FINAL_TERM, "E": _command_line_reported, "P": _property_reported},
}
