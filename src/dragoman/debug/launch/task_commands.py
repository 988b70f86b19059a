"""What a task of tasks.json runs: its arguments, shell, folder and environment, and the output that shows that it is
ready.

Shell tasks are quoted as VS Code quotes them on Linux and macOS. A background task never ends, so the
`background.endsPattern` of its problem matcher must say when it is ready. Without one the task is refused: continuing
at once would debug what is not built yet, and waiting would never end.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from dragoman.core.localization import localize
from dragoman.debug.launch.config_node import ConfigNode, for_platform
from dragoman.debug.launch.environment import Additions, read_environment
from dragoman.debug.launch.errors import listed
from dragoman.debug.launch.variables import Expander, VariableScope

_MOST_PATTERN = 1000
_EXPANDED_KEYS = ("command", "args", "script", "path")

_QUOTED_PARTS = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


# Shells that support `-c` and this quoting; a user of another shell gets `sh`.
POSIX_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})


@dataclass(frozen=True, slots=True)
class QuotedWord:
    value: str
    quoting: str | None = None


def _strong_quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _weak_quoted(value: str) -> str:
    """The shell still expands `$` in it: that is what weak means."""
    return '"' + value.replace('"', '\\"') + '"'


def _escaped(value: str) -> str:
    return re.sub(r"([\s\"'])", r"\\\1", value)


QUOTINGS: Mapping[str, Callable[[str], str]] = {"strong": _strong_quoted, "weak": _weak_quoted, "escape": _escaped}


def read_word(node: ConfigNode) -> QuotedWord:
    if not isinstance(node.value, dict):
        return QuotedWord(node.string())
    quoting = node.text("quoting", "strong")
    if quoting not in QUOTINGS:
        raise node.child("quoting", quoting).wrong_type(localize("one of {choices}", choices=listed(QUOTINGS)))
    return QuotedWord(_joined(node), quoting)


def _joined(node: ConfigNode) -> str:
    """A value may be written as a list, to break a long one over lines."""
    value = node.get("value")
    if value is None:
        raise node.wrong_type(localize("an object with a value"))
    return " ".join(part.string() for part in value.one_or_more())


def shell_line(command: QuotedWord, args: list[QuotedWord]) -> str:
    if not args and command.quoting is None:
        return command.value
    return " ".join(_quoted(word) for word in [command, *args])


def shell_argv(named: ConfigNode | None, client_shell: str) -> tuple[str, ...]:
    """The shell that runs a command line: the task's, else the client's own if it is one of these, else `sh`."""
    executable = "" if named is None else named.text("executable")
    args = None if named is None else named.get("args")
    flags = ("-c",) if args is None else tuple(arg.string() for arg in args.items())
    own = client_shell if PurePath(client_shell).name in POSIX_SHELLS else "/bin/sh"
    return (executable or own, *flags)


def _quoted(word: QuotedWord) -> str:
    if word.quoting is not None:
        return QUOTINGS[word.quoting](word.value)
    return _strong_quoted(word.value) if not word.value or _has_bare_space(word.value) else word.value


def _has_bare_space(value: str) -> bool:
    return re.search(r"\s", _QUOTED_PARTS.sub("", value)) is not None


KNOWN_MATCHERS: Mapping[str, str] = {
    "$tsc-watch": r"(?:Compilation complete|Found \d+ errors?)\. Watching for file changes\.",
    "$ts-webpack-watch": r"(?:webpack|Compiled).*(?:compiled|successfully|warning|error)",
    "$ts-checker-webpack-watch": r"No (?:type )?errors? found|\d+ errors? (?:found|in)",
    "$esbuild-watch": r"\[watch\] build finished",
    "$lessc-watch": r"Successfully compiled|Error",
    "$gulp-tsc-watch": r"Finished '",
}


def read_ready_pattern(task: ConfigNode) -> re.Pattern[str] | None:
    """None for a task that ends by itself."""
    if not task.flag("isBackground"):
        return None
    matchers = task.get("problemMatcher")
    for matcher in [] if matchers is None else matchers.one_or_more():
        pattern = _ready_pattern(matcher)
        if pattern is not None:
            return pattern
    raise task.fault(
        localize("this background task does not say when it is ready"),
        code="background_task",
        hint=localize(
            "Set background.endsPattern in its problemMatcher, or remove isBackground if the task ends by itself."
        ),
    )


def _ready_pattern(matcher: ConfigNode) -> re.Pattern[str] | None:
    if isinstance(matcher.value, str):
        known = KNOWN_MATCHERS.get(matcher.value)
        return None if known is None else re.compile(known)
    background = matcher.get("background")
    ends = None if background is None else background.get("endsPattern")
    if ends is not None and isinstance(ends.value, dict):
        ends = ends.get("regexp")
    if ends is not None:
        return _compile_pattern(ends)
    base = matcher.get("base")
    return None if base is None else _ready_pattern(base)


def _compile_pattern(node: ConfigNode) -> re.Pattern[str]:
    """JavaScript's named groups are written differently; the rest of what people use is the same."""
    if len(node.string()) > _MOST_PATTERN:
        raise node.fault(localize("this pattern is longer than {limit} characters", limit=_MOST_PATTERN))
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", node.string()))
    except (re.error, RecursionError, OverflowError) as error:
        raise node.fault(localize("invalid pattern: {reason}", reason=error)) from error


@dataclass(frozen=True, slots=True)
class TaskCommand:
    argv: tuple[str, ...]
    line: str
    """The command as a person would type it."""
    cwd: str
    env: Mapping[str, str | None] = field(repr=False)
    """Changes to the client's environment; None removes a variable."""
    ready: re.Pattern[str] | None = None
    """A background task goes on; the line of its output that this finds says that it may be built upon."""
    builds: bool = False
    """By its own word: a failure is then a failed build."""


def _command_and_args(task: ConfigNode) -> list[QuotedWord]:
    command = task.get("command")
    if command is None:
        raise task.fault(localize("{key} is missing", key='"command"'))
    args = task.get("args")
    return [read_word(command), *(read_word(arg) for arg in ([] if args is None else args.items()))]


def _npm_script(task: ConfigNode) -> list[QuotedWord]:
    return [QuotedWord("npm"), QuotedWord("run"), QuotedWord(task.required_text("script"))]


# `cppbuild` is how the C and C++ extension writes a compiler's call; other extensions' types need the extension.
KINDS: Mapping[str, Callable[[ConfigNode], list[QuotedWord]]] = {
    "shell": _command_and_args,
    "process": _command_and_args,
    "cppbuild": _command_and_args,
    "npm": _npm_script,
}


def read_task_command(
    task: ConfigNode, file: ConfigNode, scope: VariableScope, expander: Expander
) -> TaskCommand | None:
    """None for a task that only gathers others."""
    written = for_platform(task, scope.platform)
    kind = written.text("type", "process")
    if kind not in KINDS:
        raise written.child("type", kind).wrong_type(localize("one of {choices}", choices=listed(KINDS)))
    if kind != "npm" and written.get("command") is None and written.get("dependsOn") is not None:
        return None
    expandable = {key: value for key, value in written.object().items() if key in _EXPANDED_KEYS}
    expanded = expander.expand(written.with_value(expandable))
    options = _TaskOptions.of(task, file, scope, expander)
    argv, line = _argv(kind, KINDS[kind](expanded), options)
    folder = options.cwd or (expanded.text("path") if kind == "npm" else "")
    cwd = os.path.normpath(scope.files.folder / folder)
    return TaskCommand(
        argv, line, cwd, options.env, read_ready_pattern(written), kind == "cppbuild" or _is_build_task(written)
    )


def _is_build_task(task: ConfigNode) -> bool:
    group = task.get("group")
    value = None if group is None else group.value
    return (value.get("kind") if isinstance(value, dict) else value) == "build"


def _argv(kind: str, words: list[QuotedWord], options: _TaskOptions) -> tuple[tuple[str, ...], str]:
    if kind == "shell":
        line = shell_line(words[0], words[1:])
        return (*options.shell, line), line
    argv = tuple(word.value for word in words)
    return argv, shlex.join(argv)


@dataclass(frozen=True, slots=True)
class _TaskOptions:
    cwd: str
    env: Additions
    shell: tuple[str, ...]

    @classmethod
    def of(cls, task: ConfigNode, file: ConfigNode, scope: VariableScope, expander: Expander) -> _TaskOptions:
        """The file's own options are every task's defaults, and an operating system's block goes before both."""
        holders = [task.get(scope.platform), task, file.get(scope.platform), file]
        written = [holder.get("options") for holder in holders if holder is not None]
        layers = [expander.expand(options) for options in written if options is not None]
        cwd = next((layer.text("cwd") for layer in layers if layer.text("cwd")), "")
        env: Additions = {}
        for layer in reversed(layers):
            env |= read_environment(layer.get("env"))
        named = next((shell for layer in layers if (shell := layer.get("shell")) is not None), None)
        return cls(cwd, env, shell_argv(named, scope.environment.get("SHELL", "")))
