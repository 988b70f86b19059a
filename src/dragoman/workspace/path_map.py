"""The same folder under two names: here, and on the machine of `--on`. Translates paths in messages, without I/O.

What comes from the other machine is untrusted. A path is translated only if it visibly stays below a mapped folder, and
everything else is left as it is: a wrong translation would send an agent to another file.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_MAX_DEPTH = 64
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# A name that is not UTF-8 has surrogates in it. It cannot be written as a URI.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_URI = "file://"
# Behind these, a slash is in the middle of a path, a pattern or a URL; behind a colour code it is not.
_BEFORE = r"(?:(?<![\w.~+%$})\]*?/-])|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)|(?<=\x1b\[\d;\d\dm))"
# What may follow the name of a folder: the rest of its path, or what ends a path in a text.
_AFTER = r"(?=/|\Z|[\s\x00-\x1f\x7f-\x9f\"'`<>|:;,()\[\]{}&!?，。；：、）】」”]|\.(?:[\s\"')\]]|\Z))"
_PARENT = re.compile(r"/\.\.(?=/|\Z|[\s'`<>|:;,)\]}])")
_LINE_OR_QUOTE = re.compile(r"([\n\r\"])")
_ENCODED = re.compile(r"%(?:2[ef]|5c|7f|[01][0-9a-f])", re.IGNORECASE)
_URI_END = re.compile(r"[\s\"'<>]")

# Parameters that hold paths, also in the spellings that the tools accept for them, in snake case. A dictionary below
# them is looked into by the same names.
_PATH_NAMES = frozenset(
    {
        *(
            "file_path",
            "file",
            "path",
            "filename",
            "filepath",
            "file_name",
            "source",
            "source_file",
            "script_path",
            "uri",
        ),
        *("program", "script", "entry", "entrypoint", "entry_point", "executable", "target", "binary", "file_of_test"),
        *("cwd", "working_directory", "working_dir", "workdir", "work_dir", "directory", "dir", "folder", "root"),
        *(
            "test",
            "test_name",
            "test_id",
            "test_path",
            "test_case",
            "testcase",
            "nodeid",
            "node_id",
            "tests",
            "test_file",
        ),
        *("place", "location", "at", "point", "breakpoint", "position", "function"),
        *("command", "cmd", "command_line", "commandline", "shell", "run", "exec"),
        *("args", "arguments", "argv", "arg", "params", "program_args"),
    }
)
# Everything below them may hold paths.
_WHOLE_NAMES = frozenset(
    {
        *("configuration", "configuration_name", "config", "launch_config", "launch_configuration"),
        *("env", "environment", "envs", "env_vars", "environment_variables", "inputs"),
    }
)
# In answers, these hold one path and nothing else.
_ONE_PATH = frozenset({"path", "file", "file_path", "uri", "cwd", "workspace", "folder"})
# Chosen by the client, and compared when they come back.
_IDS = frozenset({"id", "requestId", "progressToken"})


@dataclass(frozen=True, slots=True)
class PathPair:
    """Two absolute folders, neither of them the root folder, without `..` and control characters."""

    local: str
    far: str

    def __post_init__(self) -> None:
        if not (is_mappable(self.local) and is_mappable(self.far)):
            raise ValueError("not a folder that can be mapped")


def is_mappable(folder: str) -> bool:
    """Whether it can be one side of a pair: absolute, in its shortest form, and not `/`."""
    is_short = posixpath.normpath(folder) == folder and not folder.startswith("//")
    return len(folder) > 1 and folder.startswith("/") and is_short and _UNFIT.search(folder) is None


class PathMap:
    """Translates messages between the near side and the far side. The longest folder that contains a path decides.

    Several pairs may share a folder, as for one that links to another: the first of them says how it is written on the
    other side. A path is left alone where the way back would lead elsewhere. `to_far` and `to_near` take any message of
    JSON and return it translated; the argument is not changed.
    """

    def __init__(self, pairs: Iterable[PathPair]) -> None:
        self.pairs = tuple(dict.fromkeys(pairs))
        self._to_far = _Direction([(it.local, it.far) for it in self.pairs])
        self._to_near = _Direction([(it.far, it.local) for it in self.pairs])

    def __bool__(self) -> bool:
        return bool(self.pairs)

    # Messages.

    def to_far(self, message: Any) -> Any:
        """An MCP message of the client, or a batch. Only parameters that hold paths are translated."""
        if isinstance(message, list):
            return [self.to_far(it) for it in message]
        if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
            return message
        if message.get("method") == "resources/read":
            return {**message, "params": self.arguments_to_far(message["params"])}
        params = message["params"]
        if message.get("method") != "tools/call" or not isinstance(params.get("arguments"), dict):
            return message
        return {**message, "params": {**params, "arguments": self.arguments_to_far(params["arguments"])}}

    def to_near(self, message: Any) -> Any:
        """Any message of the far side: every string in it, except ids."""
        return _every(self._to_near, message, "", 0)

    def arguments_to_far(self, arguments: Any) -> Any:
        """The arguments of a tool or of a DAP request, by the names of parameters."""
        return _named(self._to_far, arguments, "", 0)

    def values_to_far(self, value: Any) -> Any:
        """Every string, for what may hold paths anywhere, such as a launch configuration."""
        return _every(self._to_far, value, "", 0)

    # Lines of JSON. A line without any of the folders is not parsed.

    def line_to_far(self, line: bytes) -> bytes:
        return _line(line, self.to_far) if self.may_concern_far(line) else line

    def line_to_near(self, line: bytes) -> bytes:
        return _line(line, self.to_near) if self.may_concern_near(line) else line

    def may_concern_far(self, line: bytes) -> bool:
        """Whether a line may hold a path to translate on its way there."""
        return self._to_far.may_concern(line)

    def may_concern_near(self, line: bytes) -> bool:
        return self._to_near.may_concern(line)

    # One path, or a text.

    def path_to_far(self, path: str) -> str | None:
        """The path there; None if it is not below a mapped folder."""
        return self._to_far.path(posixpath.normpath(path) if path.startswith("/") else path)

    def path_to_near(self, path: str) -> str | None:
        """The path here; None for any that is not below a mapped folder, has `..` or control characters."""
        return self._to_near.path(path)

    def text_to_far(self, text: str) -> str:
        return self._to_far.text(text)

    def text_to_near(self, text: str) -> str:
        return self._to_near.text(text)


class _Direction:
    """One way. Each folder excludes the deeper ones that belong to another pair, on either side."""

    def __init__(self, roots: Iterable[tuple[str, str]]) -> None:
        self._targets: dict[str, str] = {}
        for source, target in roots:
            self._targets.setdefault(source, target)
        self._encoded = {quote(source): quote(target) for source, target in self._targets.items()}
        self._pattern = re.compile("|".join(self._alternatives()) or "(?!)")
        written = {*self._targets, *self._encoded}
        self._hints = tuple(it.encode() for it in written | {it.replace("/", "\\/") for it in written})
        self._has_hints = all(_is_plain(it) for it in self._targets)

    def _alternatives(self) -> Iterator[str]:
        for source in self._targets:
            others = "".join(f"(?!{re.escape(it)}{_AFTER})" for it in self._foreign(source))
            yield f"{_BEFORE}{re.escape(source)}{_AFTER}{others}"
            yield f"(?<={_URI}){re.escape(quote(source))}{_AFTER}{others}"

    def _foreign(self, source: str) -> Iterator[str]:
        """The rests of paths below this folder that belong to another pair. They are the same on both sides."""
        target = self._targets[source]
        for other_source, other_target in self._targets.items():
            if other_source.startswith(source + "/"):
                yield other_source.removeprefix(source)
            if other_target.startswith(target + "/"):
                yield other_target.removeprefix(target)

    def may_concern(self, line: bytes) -> bool:
        return not self._has_hints or any(hint in line for hint in self._hints)

    def path(self, path: str) -> str | None:
        if not path.startswith("/") or _CONTROL.search(path) or ".." in path.split("/"):
            return None
        sources = [it for it in self._targets if path == it or path.startswith(it + "/")]
        if not sources:
            return None
        source = max(sources, key=len)
        rest = path.removeprefix(source)
        if any(rest == it or rest.startswith(it + "/") for it in self._foreign(source)):
            return None
        return self._targets[source] + rest

    def text(self, text: str) -> str:
        if "/.." not in text:
            return self._translated(text)
        # A path that leaves its folder again is not translated. Names may have blanks and apostrophes in them, so
        # nothing in front of it, on its line or in its quotes, is.
        pieces = _LINE_OR_QUOTE.split(text)
        return "".join(self._translated(it, max((at.end() for at in _PARENT.finditer(it)), default=0)) for it in pieces)

    def _translated(self, text: str, start: int = 0) -> str:
        encoded = _EncodedPlaces(text)
        return self._pattern.sub(lambda found: self._replacement(found, start, encoded), text)

    def _replacement(self, found: re.Match[str], start: int, encoded: _EncodedPlaces) -> str:
        if found.start() < start:
            return found[0]
        if not found.string.endswith(_URI, 0, found.start()):
            return self._targets[found[0]]
        return found[0] if encoded.has_one_in_uri(found.end()) else self._encoded[found[0]]


class _EncodedPlaces:
    """Where a text has encoded dots, slashes and control characters. Asked from left to right, it reads the text
    once, however many URIs are in it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._encoded = self._end = -1

    def has_one_in_uri(self, at: int) -> bool:
        """Whether one is in the rest of the URI that goes on there."""
        if self._encoded < at:
            self._encoded = self._next(_ENCODED, at)
        if self._end < at:
            self._end = self._next(_URI_END, at)
        return self._encoded < self._end

    def _next(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.search(self._text, at)
        return found.start() if found else len(self._text)


def _is_plain(text: str) -> bool:
    """Whether it is written the same in any JSON."""
    return text.isascii() and json.dumps(text) == f'"{text}"'


def _line(line: bytes, translate: Callable[[Any], Any]) -> bytes:
    try:
        message = json.loads(line)
        translated = translate(message)
        return line if translated == message else json.dumps(translated, separators=(",", ":")).encode()
    except (ValueError, RecursionError):  # whoever reads the line refuses it
        return line


def _every(direction: _Direction, value: Any, name: str, depth: int) -> Any:
    if isinstance(value, str) and name not in _IDS:
        return _one_path(direction, value) if name in _ONE_PATH else direction.text(value)
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_every(direction, it, name, depth + 1) for it in value]
    if isinstance(value, Mapping):
        return {direction.text(key): _every(direction, it, key, depth + 1) for key, it in value.items()}
    return value


def _one_path(direction: _Direction, text: str) -> str:
    if text.startswith("/"):
        return direction.path(text) or text
    return text if _CONTROL.search(text) else direction.text(text)


def _named(direction: _Direction, value: Any, name: str, depth: int) -> Any:
    if name in _WHOLE_NAMES:
        return _every(direction, value, "", depth)
    if isinstance(value, str):
        if name == "where":  # a place, or an expression, which does not begin with a slash
            return direction.text(value) if value.startswith("/") else value
        return direction.text(value) if name in _PATH_NAMES else value
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_named(direction, it, name, depth + 1) for it in value]
    if isinstance(value, Mapping):
        return {key: _named(direction, it, _snake(key), depth + 1) for key, it in value.items()}
    return value


def _snake(name: str) -> str:
    """As the tools compare names: `filePath` and `file-path` are `file_path`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
