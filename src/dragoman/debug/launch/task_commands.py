"""What a task of tasks.json runs: its words, its shell, its folder, its environment."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dragoman.debug.launch.environment import Additions, read_environment
from dragoman.debug.launch.faults import listed
from dragoman.debug.launch.nodes import Node, for_platform
from dragoman.debug.launch.quoting import Word, read_word, shell_argv, shell_line
from dragoman.debug.launch.readiness import read_readiness
from dragoman.debug.launch.variables import Expander, Scope
from dragoman.phrases import say


@dataclass(frozen=True, slots=True)
class TaskCommand:
    argv: tuple[str, ...]
    line: str
    """The command as a person would type it."""
    cwd: str
    env: Mapping[str, str | None] = field(repr=False)
    """What it gets on top of the client's environment; None takes a variable away."""
    ready: re.Pattern[str] | None = None
    """A background task goes on; the line of its output that this finds says that it may be built upon."""
    builds: bool = False
    """By its own word: what fails then is the compiling."""


def _command_and_args(task: Node) -> list[Word]:
    command = task.get("command")
    if command is None:
        raise task.fault(say("{key} is missing", key='"command"'))
    args = task.get("args")
    return [read_word(command), *(read_word(arg) for arg in ([] if args is None else args.items()))]


def _npm_script(task: Node) -> list[Word]:
    return [Word("npm"), Word("run"), Word(task.required_text("script"))]


# `cppbuild` is how the C and C++ extension writes a compiler's call; other extensions' types need the extension.
KINDS: Mapping[str, Callable[[Node], list[Word]]] = {
    "shell": _command_and_args,
    "process": _command_and_args,
    "cppbuild": _command_and_args,
    "npm": _npm_script,
}
_EXPANDED = ("command", "args", "script", "path")


def read_command(task: Node, file: Node, scope: Scope, expander: Expander) -> TaskCommand | None:
    """None for a task that only gathers others."""
    written = for_platform(task, scope.platform)
    kind = written.text("type", "process")
    if kind not in KINDS:
        raise written.child("type", kind).wrong(say("one of {choices}", choices=listed(KINDS)))
    if kind != "npm" and written.get("command") is None and written.get("dependsOn") is not None:
        return None
    told = {key: value for key, value in written.object().items() if key in _EXPANDED}
    expanded = expander.expand(written.with_value(told))
    options = _Options.of(task, file, scope, expander)
    argv, line = _argv(kind, KINDS[kind](expanded), options)
    folder = options.cwd or (expanded.text("path") if kind == "npm" else "")
    cwd = os.path.normpath(scope.files.folder / folder)
    return TaskCommand(argv, line, cwd, options.env, read_readiness(written), kind == "cppbuild" or _builds(written))


def _builds(task: Node) -> bool:
    group = task.get("group")
    value = None if group is None else group.value
    return (value.get("kind") if isinstance(value, dict) else value) == "build"


def _argv(kind: str, words: list[Word], options: _Options) -> tuple[tuple[str, ...], str]:
    if kind == "shell":
        line = shell_line(words[0], words[1:])
        return (*options.shell, line), line
    argv = tuple(word.value for word in words)
    return argv, shlex.join(argv)


@dataclass(frozen=True, slots=True)
class _Options:
    cwd: str
    env: Additions
    shell: tuple[str, ...]

    @classmethod
    def of(cls, task: Node, file: Node, scope: Scope, expander: Expander) -> _Options:
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
