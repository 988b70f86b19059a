"""The commands of a target in a Makefile, as far as they can be read without running make."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.debug.launch.commands.shell_words import ASSIGNMENT, parse_assignment

_FILES = ("GNUmakefile", "makefile", "Makefile")
_MOST_BYTES = 1 << 20
_LEVELS = 8
_MOST_EXPANDED = 1 << 16  # characters; a variable that refers to itself twice doubles the text at each level
_VARIABLE = re.compile(r"^(?P<name>[\w.-]+)[ \t]*(?:::?:?|\?)?=[ \t]*(?P<value>.*)$", re.MULTILINE)
_RULE = re.compile(
    r"^(?P<targets>[^\s:#=][^:#=\n]*):(?![:=])(?P<needs>[^#\n;]*).*\n(?P<recipe>(?:\t.*\n|[ \t]*\n(?=\t))*)",
    re.MULTILINE,
)
_REFERENCE = re.compile(r"\$(?:\((?P<round>[\w.-]+)\)|\{(?P<curly>[\w.-]+)\})")
_SILENT = re.compile(r"(?:echo|printf|true|:|mkdir)\b")


class MakeTarget(NamedTuple):
    lines: tuple[str, ...]
    """What it runs, without what only prints."""
    is_whole: bool
    """Whether nothing that it needs runs commands of its own, and everything could be read."""


def make_target(cwd: Path, words: Sequence[str]) -> MakeTarget | None:
    """Of `make`, `make test` and `make test ARGS=-x`; None if there is no such target."""
    given = dict(parse_assignment(it) for it in words if ASSIGNMENT.fullmatch(it))
    targets = [it for it in words if not ASSIGNMENT.fullmatch(it)]
    text = next((found for name in _FILES if (found := _text(cwd / name))), "")
    if len(targets) > 1 or any(it.startswith("-") for it in targets) or not text:
        return None
    rules = {name: it for it in _RULE.finditer(text) for name in it["targets"].split() if not name.startswith(".")}
    rule = rules.get(targets[0]) if targets else next(iter(rules.values()), None)
    if rule is None:
        return None
    variables = {it["name"]: it["value"].strip() for it in _VARIABLE.finditer(text)} | given
    recipe = _expanded(rule["recipe"], variables)
    needs = _expanded(rule["needs"], variables)
    is_read = recipe is not None and needs is not None
    shown = rule["recipe"] if recipe is None else recipe
    lines = [line.strip().lstrip("@-+ ") for line in shown.splitlines() if line.strip()]
    lines = [it for it in lines if not _SILENT.match(it)]
    has_others = any(rules[it]["recipe"].strip() for it in (needs or "").split() if it in rules)
    return MakeTarget(tuple(lines), is_whole=is_read and not has_others and not any("$(" in it for it in lines))


def _expanded(text: str, variables: Mapping[str, str]) -> str | None:
    """None if it is too long."""

    def value(found: re.Match[str]) -> str:
        return variables.get(found["round"] or found["curly"], found[0])

    for _ in range(_LEVELS):
        if len(text) + sum(len(value(it)) for it in _REFERENCE.finditer(text)) > _MOST_EXPANDED:
            return None
        found = _REFERENCE.sub(value, text)
        if found == text:
            break
        text = found
    return text.replace("$$", "$")


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace").replace("\\\n", " ") + "\n"
    except OSError:
        return ""
