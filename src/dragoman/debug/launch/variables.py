"""`${…}`: what each variable stands for, and how a text that holds some is expanded.

One pass. Text that the workspace's own files hold (a setting, the default of an input) may name variables in turn, once
and without settings or inputs in it; what comes from outside (the environment, the caller) is never looked into.
A name that is not ours stays as written, as in VS Code: `${HOME}` in a shell task is the shell's, `${webRoot}` the
adapter's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dragoman.debug.launch.faults import UnresolvableError, choice, listed, nearest, quoted, quoted_path
from dragoman.debug.launch.files import WorkspaceFiles
from dragoman.debug.launch.inputs import input_value
from dragoman.debug.launch.nodes import Node, require_usable
from dragoman.debug.launch.settings import setting_text
from dragoman.phrases import say

Platform = Literal["linux", "osx", "windows"]
# A file of a megabyte that names a long variable everywhere would otherwise become gigabytes.
MOST_EXPANDED = 16 << 20


@dataclass(frozen=True, slots=True)
class Caller:
    """What only the caller knows. In an editor these come from the open file and from questions to the user."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    selected_text: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    process_id: int | None = None
    from_editor: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything a variable can be looked up in. The environment is the client's, and stays out of every repr."""

    files: WorkspaceFiles
    platform: Platform
    home: str
    environment: Mapping[str, str] = field(repr=False)
    folders: Mapping[str, Path]
    caller: Caller
    default_build_task: Callable[[], str]


class Expander:
    """Expands values of one file, whose `inputs` section the variables named `input` are looked up in."""

    def __init__(self, scope: Scope, declared_inputs: list[Node]) -> None:
        self._scope = scope
        self._inputs = declared_inputs
        self._room = MOST_EXPANDED
        self.left_as_written: list[str] = []

    def expand(self, node: Node) -> Node:
        """What comes out may hold what only a file was kept from holding: a NUL out of an input, say."""
        return require_usable(node.with_value(self._value(node)))

    def _value(self, node: Node) -> Any:
        if isinstance(node.value, str):
            return self._text(node)
        if isinstance(node.value, list):
            return [self._value(item) for item in node.items()]
        if isinstance(node.value, dict):
            return {
                self._text(node.child(key, key)): self._value(node.child(key, value))
                for key, value in node.value.items()
            }
        return node.value

    def _text(self, node: Node) -> str:
        try:
            text = "".join(self._part(*part) for part in split(node.value))
        except UnresolvableError as error:
            raise node.fault(error.problem, code=error.code, hint=error.hint, **error.details) from error
        self._room -= len(text)
        if self._room < 0:
            raise node.fault(say("its variables expand to more than {limit} characters", limit=MOST_EXPANDED))
        return text

    def _part(self, literal: str, variable: str | None) -> str:
        return literal if variable is None else self._variable(variable)

    def _variable(self, variable: str) -> str:
        name, _, argument = variable.partition(":")
        if name == "config":
            return self._own_text(setting_text(self._scope.files.settings, argument))
        if name == "input" and variable in self._scope.caller.from_editor:
            return self._scope.caller.from_editor[variable]
        if name == "input":
            value, is_ours = input_value(argument, self._inputs, self._scope.caller.inputs)
            return self._own_text(value) if is_ours else value
        return self._simple(variable)

    def _simple(self, variable: str) -> str:
        name, _, argument = variable.partition(":")
        meaning = VARIABLES.get(name)
        if meaning is None:
            self.left_as_written.append(variable)
            return f"${{{variable}}}"
        return meaning(self._scope, argument)

    def _own_text(self, text: str) -> str:
        return "".join(literal if name is None else self._simple(name) for literal, name in split(text))


def split(text: str) -> Iterator[tuple[str, str | None]]:
    """Pieces of plain text and of variables, in order; one that encloses another stays plain, as in VS Code."""
    position = 0
    while (start := text.find("${", position)) >= 0 and (end := text.find("}", start)) >= 0:
        yield text[position:start], None
        inner = text[start + 2 : end]
        yield (text[start : end + 1], None) if "${" in inner else ("", inner)
        position = end + 1
    yield text[position:], None


def likely_variable(variable: str) -> str | None:
    return nearest(variable.partition(":")[0], [*VARIABLES, "config", "input"])


def _folder(scope: Scope, name: str) -> Path:
    if not name:
        return scope.files.folder
    if name not in scope.folders:
        raise UnresolvableError(
            "unresolved_variable",
            say("this workspace has no folder {name}", name=quoted(name)),
            choice(name, scope.folders),
            known=list(scope.folders),
        )
    return scope.folders[name]


def _file(scope: Scope) -> Path:
    if scope.caller.file is None:
        raise UnresolvableError(
            "unresolved_variable",
            say("this needs a current file, and none was given"),
            say("Give `file`, the path that stands for the file open in an editor."),
            needs="file",
        )
    return Path(os.path.normpath(scope.files.folder / scope.caller.file))


def _file_folder(scope: Scope) -> Path:
    """The workspace folder that holds the file; of nested ones, the innermost."""
    file = _file(scope)
    holding = [folder for folder in scope.folders.values() if file.is_relative_to(folder)]
    if not holding:
        raise UnresolvableError(
            "unresolved_variable",
            say("{file} lies in no folder of this workspace", file=quoted_path(file)),
            say("There is: {known}.", known=listed(map(str, scope.folders.values()))),
        )
    return max(holding, key=lambda folder: len(folder.parts))


def _environment(scope: Scope, name: str) -> str:
    if not name:
        raise _nameless("env")
    return scope.environment.get(name, "")


def _nameless(kind: str) -> UnresolvableError:
    return UnresolvableError(
        "unresolved_variable",
        say("no name is given after {kind}", kind=quoted(f"{kind}:")),
        say("Write it as {example}.", example=f"${{{kind}:NAME}}"),
    )


def _given(attribute: str) -> Callable[[Scope, str], str]:
    """A fact of the editor that only the caller can know."""

    def meaning(scope: Scope, _: str) -> str:
        value = getattr(scope.caller, attribute)
        if value is None:
            raise _not_given(attribute)
        return str(value)

    return meaning


def _not_given(attribute: str, **details: str) -> UnresolvableError:
    return UnresolvableError(
        "unresolved_variable",
        say("this needs `{argument}`, which was not given", argument=attribute),
        say("Give `{argument}`, or write the value into an inline `configuration`.", argument=attribute),
        needs=attribute,
        **details,
    )


# The names under which debug extensions ask their user to pick a process.
PROCESS_PICKERS = frozenset(
    {
        "pickProcess",
        "PickProcess",
        "pickMyProcess",
        "pickNativeProcess",
        "pickGoProcess",
        "pickNodeProcess",
        "extension.pickProcess",
        "extension.pickNativeProcess",
        "extension.pickNodeProcess",
        "extension.js-debug.pickNodeProcess",
        "extension.node-debug.pickNodeProcess",
    }
)


def _command(scope: Scope, name: str) -> str:
    if (told := scope.caller.from_editor.get(f"command:{name}")) is not None:
        return told
    if name in PROCESS_PICKERS and scope.caller.process_id is not None:
        return str(scope.caller.process_id)
    if name in PROCESS_PICKERS:
        raise _not_given("process_id", variable=f"command:{name}")
    raise UnresolvableError(
        "unresolved_variable",
        say("{command} is a command of VS Code, which is not here to run it", command=quoted(name)),
        say("Start an inline `configuration` with the value itself in its place."),
        command=name,
        variable=f"command:{name}",
    )


def _of_vscode(scope: Scope, _: str) -> str:  # noqa: ARG001
    raise UnresolvableError(
        "unresolved_variable",
        say("this is a path of VS Code itself, which is not running here"),
        say("Start an inline `configuration` with the value itself in its place."),
    )


VARIABLES: Mapping[str, Callable[[Scope, str], str]] = {
    "workspaceFolder": lambda scope, name: str(_folder(scope, name)),
    "workspaceRoot": lambda scope, name: str(_folder(scope, name)),
    "cwd": lambda scope, name: str(_folder(scope, name)),
    "workspaceFolderBasename": lambda scope, name: _folder(scope, name).name,
    "workspaceRootFolderName": lambda scope, name: _folder(scope, name).name,
    "file": lambda scope, _: str(_file(scope)),
    "fileBasename": lambda scope, _: _file(scope).name,
    "fileBasenameNoExtension": lambda scope, _: _file(scope).stem,
    "fileExtname": lambda scope, _: _file(scope).suffix,
    "fileDirname": lambda scope, _: str(_file(scope).parent),
    "fileDirnameBasename": lambda scope, _: _file(scope).parent.name,
    "fileWorkspaceFolder": lambda scope, _: str(_file_folder(scope)),
    "fileWorkspaceFolderBasename": lambda scope, _: _file_folder(scope).name,
    "relativeFile": lambda scope, name: os.path.relpath(_file(scope), _folder(scope, name)),
    "relativeFileDirname": lambda scope, name: os.path.relpath(_file(scope).parent, _folder(scope, name)),
    "lineNumber": _given("line"),
    "columnNumber": _given("column"),
    "selectedText": _given("selected_text"),
    "env": _environment,
    "userHome": lambda scope, _: scope.home,
    "pathSeparator": lambda scope, _: "\\" if scope.platform == "windows" else "/",
    "/": lambda scope, _: "\\" if scope.platform == "windows" else "/",
    "command": _command,
    "defaultBuildTask": lambda scope, _: scope.default_build_task(),
    "execPath": _of_vscode,
    "execInstallFolder": _of_vscode,
    "extensionInstallFolder": _of_vscode,
}
