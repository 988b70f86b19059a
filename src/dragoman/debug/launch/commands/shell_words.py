"""Splits a shell line into the words of its commands, and knows prefixes such as `uv run`, `env` and `timeout`. What
a shell would compute is refused.
"""

from __future__ import annotations

import glob
import io
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

_OPERATORS = "();<>|&"

_SHELL_EXPANSION = re.compile(r"\$[\w({]|`")
_SINGLE_QUOTED = re.compile(r"'[^']*'")
# Commands that only display another program's output.
_VIEWERS = frozenset({"tail", "head", "grep", "less", "more", "cat", "tee", "sort", "uniq", "wc", "rg", "sed", "awk"})


def cannot_debug(why: LocalizedText, hint: LocalizedText) -> DragomanError:
    return DragomanError(
        "cannot_debug", localize("Cannot run this command under the debugger: {why}", why=why), hint=hint
    )


def unsupported_flag(flag: str) -> DragomanError:
    return cannot_debug(
        localize("The debugger does not support the flag {flag}.", flag=ascii(flag)[:80]),
        localize("Pass the command without it."),
    )


def split_commands(line: str) -> list[list[str]]:
    """The words of commands joined by `&&` or `;`; of the last, without what only shows or redirects its output."""
    if _SHELL_EXPANSION.search(_SINGLE_QUOTED.sub("", line)):
        raise cannot_debug(localize("It uses shell expansion."), localize("Pass the expanded command."))
    words, streams = _words(line)
    parts: list[list[str]] = [[]]
    at = 0
    while at < len(words):
        word = words[at]
        if word in {"&&", ";"}:
            parts.append([])
        elif word == "|":
            _require_viewers(words[at + 1 :])
            break
        elif word == "&" and at + 1 == len(words):
            break
        elif word not in {"", "&"} and set(word) <= set("<>&"):
            if at - 1 in streams:
                parts[-1].pop()
            at += 1  # the redirection and its target are dropped
            _require_no_input(word, words[at : at + 1])
        elif word and set(word) <= set(_OPERATORS):
            raise cannot_debug(localize("It contains several commands."), localize("Pass only the one that fails."))
        else:
            parts[-1].append(word)
        at += 1
    return [part for part in parts if part] or [[]]


def _words(line: str) -> tuple[list[str], set[int]]:
    """The words, and the indices of those that are stream numbers (the 2 of `2>&1`)."""
    read = io.StringIO(line)
    reader = shlex.shlex(read, posix=True, punctuation_chars=_OPERATORS)
    reader.whitespace_split = True
    reader.commenters = ""
    words, streams = list[str](), set[int]()
    try:
        for word in reader:
            if word.isdigit() and line[: read.tell()].endswith((f" {word}<", f" {word}>")):
                streams.add(len(words))
            words.append(word)
    except ValueError as error:
        raise cannot_debug(localize("Unclosed quote."), localize("Close the quote.")) from error
    return words, streams


def _require_no_input(operator: str, named: Sequence[str]) -> None:
    if "<" in operator and named != ["/dev/null"]:
        raise cannot_debug(
            localize("Its input is redirected."),
            localize("Call explain_crash with its program, and its input in `stdin`."),
        )


def _require_viewers(words: Sequence[str]) -> None:
    commands = [words[0], *(words[at + 1] for at, word in enumerate(words[:-1]) if word == "|")] if words else [""]
    if not _VIEWERS.issuperset(commands):
        raise cannot_debug(
            localize("Its output is piped to another command."),
            localize("Pass only the first command, with its input in `stdin`."),
        )


ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_UV_WITH_VALUE = frozenset(
    {"--with", "-w", "--with-editable", "--with-requirements", "--extra", "--no-extra", "--group", "--no-group"}
    | {"--only-group", "--python", "-p", "--env-file", "--directory", "--project", "--package", "--index"}
    | {"--default-index", "--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--index-strategy"}
    | {"--keyring-provider", "--allow-insecure-host", "--cache-dir", "--config-file", "--color", "--resolution"}
    | {"--prerelease", "--fork-strategy", "--exclude-newer", "--link-mode", "--config-setting", "-C"}
    | {"--upgrade-package", "-P", "--reinstall-package", "--refresh-package", "--no-build-package"}
    | {"--no-binary-package", "--no-build-isolation-package", "--python-platform"}
)


@dataclass(frozen=True, slots=True)
class CommandPrefix:
    """Programs that may precede a command: how many words belong to each, and which of its options take one more."""

    words: int = 0
    with_value: frozenset[str] = frozenset()
    module: str = ""
    """Its option for a module of Python, which is then the command."""
    folder: frozenset[str] = frozenset()
    """Options that say where the command runs."""
    env_file: str = ""
    unset: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    """Words that would change the meaning of the command."""


PREFIXES: Mapping[tuple[str, ...], CommandPrefix] = {
    ("uv", "run"): CommandPrefix(
        with_value=_UV_WITH_VALUE,
        module="-m",
        folder=frozenset({"--directory"}),
        env_file="--env-file",
        refused=frozenset({"--package", "--project"}),
    ),
    **dict.fromkeys(
        (("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run")), CommandPrefix()
    ),
    **dict.fromkeys(
        (("time",), ("nohup",), ("exec",), ("command",), ("cross-env",), ("c8",), ("nyc",)), CommandPrefix()
    ),
    ("env",): CommandPrefix(
        with_value=frozenset({"-u", "--unset", "-C", "--chdir"}),
        folder=frozenset({"-C", "--chdir"}),
        unset=frozenset({"-u", "--unset"}),
        refused=frozenset({"-", "-i", "--ignore-environment", "-S", "--split-string"}),
    ),
    ("timeout",): CommandPrefix(1, frozenset({"-s", "--signal", "-k", "--kill-after"})),
    ("nice",): CommandPrefix(with_value=frozenset({"-n", "--adjustment"})),
}
"""Chosen by the first words."""


def parse_assignment(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What precedes the command, as far as it matters: folder, variables, interpreter."""

    cwd: Path
    workspace: Path
    environment: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    python: str = ""
    python_flags: tuple[str, ...] = ()
    scripts: int = 0
    """How many package scripts led here."""
    before: tuple[Mapping[str, str], ...] = ()
    """Tasks: what a package manager runs before those scripts."""


def with_setup(context: CommandContext, words: Sequence[str]) -> CommandContext:
    """`cd`, `export` and the activation of an environment, which stand before many a command."""
    match words:
        case ["cd", folder]:
            return replace(context, cwd=context.cwd / Path(folder).expanduser())
        case ["export", *pairs] if all(ASSIGNMENT.fullmatch(it) for it in pairs):
            return replace(context, env={**context.env, **dict(parse_assignment(it) for it in pairs)})
        case ["source" | ".", file] if Path(file).name.startswith("activate"):
            return replace(context, python=str(context.cwd / Path(file).parent / "python"))
        case _:
            raise cannot_debug(localize("It contains several commands."), localize("Pass only the one that fails."))


def strip_prefixes(context: CommandContext, words: list[str]) -> tuple[CommandContext, list[str]]:
    while words:
        if ASSIGNMENT.fullmatch(words[0]):
            context = replace(context, env={**context.env, **dict([parse_assignment(words[0])])})
            words = words[1:]
            continue
        named = (Path(words[0]).name, *words[1:2])
        found = next((it for it in PREFIXES if named[: len(it)] == it), None)
        if found is None:
            return context, words
        context, words = _strip_options(context, PREFIXES[found], words[len(found) :])
    return context, words


def _strip_options(
    context: CommandContext, prefix: CommandPrefix, words: list[str]
) -> tuple[CommandContext, list[str]]:
    """The command, from what follows a word that stands before one."""
    while words and words[0].startswith("-"):
        flag, equals, value = words[0].partition("=")
        if flag in prefix.refused:
            raise unsupported_flag(flag)
        if flag in {prefix.module, "--module"} and prefix.module:
            return context, ["python", "-m", *words[1:]]
        if flag == "--":
            words = words[1:]
            break
        takes_one = flag in prefix.with_value and not equals
        context = _with_option(context, prefix, flag, "".join(words[1:2]) if takes_one else value)
        words = words[2 if takes_one else 1 :]
    return context, words[prefix.words :]


def _with_option(context: CommandContext, prefix: CommandPrefix, flag: str, value: str) -> CommandContext:
    if flag in prefix.folder:
        return replace(context, cwd=context.cwd / value)
    if flag in prefix.unset:
        return replace(context, unset=(*context.unset, value))
    if flag == prefix.env_file:
        return replace(context, env_files=(*context.env_files, str(context.cwd / value)))
    return context


def expand_globs(words: Sequence[str], cwd: Path) -> list[str]:
    """Expands file patterns like a shell; a pattern that matches nothing stays as it is."""
    found = [sorted(glob.glob(word, root_dir=cwd)) or [word] if "*" in word else [word] for word in words]  # noqa: PTH207
    return [word for some in found for word in some]
