"""The command line of a shell task, quoted as VS Code does for the shells of Linux and macOS.

A command without arguments is a line of shell. With arguments, each is a word that is quoted only where it has a space
outside of quotes of its own; an object `{value, quoting}` says how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from dragoman.debug.launch.faults import listed
from dragoman.debug.launch.nodes import Node
from dragoman.phrases import say

_QUOTED_PARTS = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)

# What `-c` and this quoting work with; a user of another shell gets `sh`.
POSIX_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})


@dataclass(frozen=True, slots=True)
class Word:
    value: str
    quoting: str | None = None


def _strong(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _weak(value: str) -> str:
    """The shell still expands `$` in it: that is what weak means."""
    return '"' + value.replace('"', '\\"') + '"'


def _escaped(value: str) -> str:
    return re.sub(r"([\s\"'])", r"\\\1", value)


QUOTINGS: Mapping[str, Callable[[str], str]] = {"strong": _strong, "weak": _weak, "escape": _escaped}


def read_word(node: Node) -> Word:
    if not isinstance(node.value, dict):
        return Word(node.string())
    quoting = node.text("quoting", "strong")
    if quoting not in QUOTINGS:
        raise node.child("quoting", quoting).wrong(say("one of {choices}", choices=listed(QUOTINGS)))
    return Word(_joined(node), quoting)


def _joined(node: Node) -> str:
    """A value may be written as a list, to break a long one over lines."""
    value = node.get("value")
    if value is None:
        raise node.wrong(say("an object with a value"))
    return " ".join(part.string() for part in value.one_or_more())


def shell_line(command: Word, args: list[Word]) -> str:
    if not args and command.quoting is None:
        return command.value
    return " ".join(_quoted(word) for word in [command, *args])


def shell_argv(named: Node | None, client_shell: str) -> tuple[str, ...]:
    """What a line is handed to: the shell the task names, else the client's own if it is of these, else `sh`."""
    executable = "" if named is None else named.text("executable")
    args = None if named is None else named.get("args")
    flags = ("-c",) if args is None else tuple(arg.string() for arg in args.items())
    own = client_shell if PurePath(client_shell).name in POSIX_SHELLS else "/bin/sh"
    return (executable or own, *flags)


def _quoted(word: Word) -> str:
    if word.quoting is not None:
        return QUOTINGS[word.quoting](word.value)
    return _strong(word.value) if not word.value or _has_bare_space(word.value) else word.value


def _has_bare_space(value: str) -> bool:
    return re.search(r"\s", _QUOTED_PARTS.sub("", value)) is not None
