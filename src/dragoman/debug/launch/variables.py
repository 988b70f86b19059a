"""`${…}` variables, `${input:ID}` and `${config:KEY}`: what each stands for, and how a text is expanded.

Expansion is one pass. Text from the workspace's own files (a setting, the default of an input) may contain variables
in turn, once and without settings or inputs. Text from outside (the environment, the caller) is never expanded. An
unknown name stays as written, as in VS Code: `${HOME}` in a shell task belongs to the shell, `${webRoot}` to the
adapter.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.config_node import ConfigNode, require_usable
from dragoman.debug.launch.errors import UnresolvableError, listed, nearest, quoted, quoted_path, suggestion
from dragoman.debug.launch.workspace_files import WorkspaceFiles

_INPUT_TYPES = ("promptString", "pickString", "command")
_MOST_KNOWN = 200
# Without this limit, a file of one megabyte that repeats a long variable would expand to gigabytes.
MAX_EXPANDED = 16 << 20


def input_value(name: str, declared: list[ConfigNode], given: Mapping[str, str]) -> tuple[str, bool]:
    """The value, and whether it is text of the file, which may name variables itself."""
    node = next((node for node in declared if node.text("id") == name), None)
    if name in given:
        return _allowed_input(given[name], name, node), False
    if node is None:
        raise _undeclared_input(name, declared)
    if node.required_text("type") not in _INPUT_TYPES:
        raise node.child("type", node.text("type")).wrong_type(
            localize("one of {choices}", choices=listed(_INPUT_TYPES))
        )
    default = node.get("default")
    if default is None or node.text("type") == "command":
        raise _missing_input(name, node)
    return default.string(), True


def _allowed_input(value: str, name: str, node: ConfigNode | None) -> str:
    options = _input_options(node) if node is not None else []
    if options and value not in options:
        raise UnresolvableError(
            "bad_input",
            localize("{value} is not an option of the input {name}", value=quoted(value), name=quoted(name)),
            suggestion(value, options),
            id=name,
            known=options,
        )
    return value


def _input_options(node: ConfigNode) -> list[str]:
    """Options are strings, or objects with a label for people and the value that counts."""
    options = node.get("options") if node.text("type") == "pickString" else None
    if options is None:
        return []
    return [o.string() if isinstance(o.value, str) else o.required_text("value") for o in options.items()]


def _undeclared_input(name: str, declared: list[ConfigNode]) -> UnresolvableError:
    known = [node.text("id") for node in declared]
    return UnresolvableError(
        "missing_input",
        localize("the input {name} is neither declared in this file nor given", name=quoted(name)),
        suggestion(name, known),
        id=name,
        known=known,
    )


def _missing_input(name: str, node: ConfigNode) -> UnresolvableError:
    details: dict[str, Any] = {"id": name, "description": node.text("description"), "options": _input_options(node)}
    details["variable"] = f"input:{name}"
    return UnresolvableError("missing_input", _why_missing(name, node), _how_to_give(name), **details)


def _why_missing(name: str, node: ConfigNode) -> LocalizedText:
    if node.text("type") == "command":
        command = quoted(node.text("command"))
        return localize("the input {name} runs the VS Code command {command}", name=quoted(name), command=command)
    return localize("the input {name} was not given and has no default", name=quoted(name))


def _how_to_give(name: str) -> LocalizedText:
    example = f'{{"inputs": {{{quoted(name)}: …}}}}'
    return localize("Pass {example}; see `description` and `options`.", example=example)


def setting_text(settings: ConfigNode | None, key: str) -> str:
    values = {} if settings is None else settings.object()
    found = next(_setting_values(values, key), None)
    if found is None:
        raise UnresolvableError(
            "unresolved_variable",
            localize("the workspace's settings.json has no {key}; other settings are not read", key=quoted(key)),
            suggestion(key, _setting_keys(values)),
            key=key,
            known=[*islice(_setting_keys(values), _MOST_KNOWN)],
        )
    if isinstance(found, dict | list):
        raise UnresolvableError(
            "unresolved_variable",
            localize("the setting {key} is not a single value", key=quoted(key)),
            suggestion(key, (name for name in _setting_keys(values) if name != key)),
            key=key,
            known=[*islice((name for name in _setting_keys(values) if name != key), _MOST_KNOWN)],
        )
    return found if isinstance(found, str) else json.dumps(found)


def _setting_values(values: dict[str, Any], key: str) -> Iterator[Any]:
    """Every way to read the key: `a.b.c` may be one name, or `a` that holds `b.c`, and so on."""
    if values.get(key) is not None:
        yield values[key]
    for end in (index for index, char in enumerate(key) if char == "."):
        inner = values.get(key[:end])
        if isinstance(inner, dict):
            yield from _setting_values(inner, key[end + 1 :])


def _setting_keys(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _setting_keys(value, f"{prefix}{name}.")


Platform = Literal["linux", "osx", "windows"]


@dataclass(frozen=True, slots=True)
class VariableInputs:
    """What only the caller knows. In an editor these values come from the open file and from questions to the user."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    selected_text: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    process_id: int | None = None
    from_editor: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class VariableScope:
    """Everything that a variable can be looked up in. The environment is the client's and never appears in a repr."""

    files: WorkspaceFiles
    platform: Platform
    home: str
    environment: Mapping[str, str] = field(repr=False)
    folders: Mapping[str, Path]
    caller: VariableInputs
    default_build_task: Callable[[], str]


class Expander:
    """Expands the values of one file, whose `inputs` section resolves `${input:…}`."""

    def __init__(self, scope: VariableScope, declared_inputs: list[ConfigNode]) -> None:
        self._scope = scope
        self._inputs = declared_inputs
        self._remaining = MAX_EXPANDED
        self.unknown_variables: list[str] = []

    def expand(self, node: ConfigNode) -> ConfigNode:
        """The result may hold what a file may not contain, such as a NUL from an input."""
        return require_usable(node.with_value(self._value(node)))

    def _value(self, node: ConfigNode) -> Any:
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

    def _text(self, node: ConfigNode) -> str:
        try:
            text = "".join(self._part(*part) for part in split_variables(node.value))
        except UnresolvableError as error:
            raise node.fault(error.problem, code=error.code, hint=error.hint, **error.details) from error
        self._remaining -= len(text)
        if self._remaining < 0:
            raise node.fault(localize("its variables expand to more than {limit} characters", limit=MAX_EXPANDED))
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
            self.unknown_variables.append(variable)
            return f"${{{variable}}}"
        return meaning(self._scope, argument)

    def _own_text(self, text: str) -> str:
        return "".join(literal if name is None else self._simple(name) for literal, name in split_variables(text))


def split_variables(text: str) -> Iterator[tuple[str, str | None]]:
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


def _folder(scope: VariableScope, name: str) -> Path:
    if not name:
        return scope.files.folder
    if name not in scope.folders:
        raise UnresolvableError(
            "unresolved_variable",
            localize("this workspace has no folder {name}", name=quoted(name)),
            suggestion(name, scope.folders),
            known=list(scope.folders),
        )
    return scope.folders[name]


def _file(scope: VariableScope) -> Path:
    if scope.caller.file is None:
        raise UnresolvableError(
            "unresolved_variable",
            localize("this needs a current file, which was not given"),
            localize("Pass `file`, the path to use as the editor's current file."),
            needs="file",
        )
    return Path(os.path.normpath(scope.files.folder / scope.caller.file))


def _file_folder(scope: VariableScope) -> Path:
    """The workspace folder that holds the file; of nested ones, the innermost."""
    file = _file(scope)
    holding = [folder for folder in scope.folders.values() if file.is_relative_to(folder)]
    if not holding:
        raise UnresolvableError(
            "unresolved_variable",
            localize("{file} is not in a folder of this workspace", file=quoted_path(file)),
            localize("Available: {known}.", known=listed(map(str, scope.folders.values()))),
        )
    return max(holding, key=lambda folder: len(folder.parts))


def _environment(scope: VariableScope, name: str) -> str:
    if not name:
        raise _name_missing("env")
    return scope.environment.get(name, "")


def _name_missing(kind: str) -> UnresolvableError:
    return UnresolvableError(
        "unresolved_variable",
        localize("the name after {kind} is missing", kind=quoted(f"{kind}:")),
        localize("Write it as {example}.", example=f"${{{kind}:NAME}}"),
    )


def _caller_value(attribute: str) -> Callable[[VariableScope, str], str]:
    """A fact of the editor that only the caller can know."""

    def meaning(scope: VariableScope, _: str) -> str:
        value = getattr(scope.caller, attribute)
        if value is None:
            raise _not_given(attribute)
        return str(value)

    return meaning


def _not_given(attribute: str, **details: str) -> UnresolvableError:
    return UnresolvableError(
        "unresolved_variable",
        localize("this needs `{argument}`, which was not given", argument=attribute),
        localize("Pass `{argument}`, or put the value in an inline `configuration`.", argument=attribute),
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


def _command(scope: VariableScope, name: str) -> str:
    if (resolved := scope.caller.from_editor.get(f"command:{name}")) is not None:
        return resolved
    if name in PROCESS_PICKERS and scope.caller.process_id is not None:
        return str(scope.caller.process_id)
    if name in PROCESS_PICKERS:
        raise _not_given("process_id", variable=f"command:{name}")
    raise UnresolvableError(
        "unresolved_variable",
        localize("{command} is a VS Code command and cannot run here", command=quoted(name)),
        localize("Use an inline `configuration` with the value itself."),
        command=name,
        variable=f"command:{name}",
    )


def _vscode_path(scope: VariableScope, _: str) -> str:  # noqa: ARG001
    raise UnresolvableError(
        "unresolved_variable",
        localize("this is a path of VS Code, which is not running here"),
        localize("Use an inline `configuration` with the value itself."),
    )


VARIABLES: Mapping[str, Callable[[VariableScope, str], str]] = {
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
    "lineNumber": _caller_value("line"),
    "columnNumber": _caller_value("column"),
    "selectedText": _caller_value("selected_text"),
    "env": _environment,
    "userHome": lambda scope, _: scope.home,
    "pathSeparator": lambda scope, _: "\\" if scope.platform == "windows" else "/",
    "/": lambda scope, _: "\\" if scope.platform == "windows" else "/",
    "command": _command,
    "defaultBuildTask": lambda scope, _: scope.default_build_task(),
    "execPath": _vscode_path,
    "execInstallFolder": _vscode_path,
    "extensionInstallFolder": _vscode_path,
}
