"""A value of launch.json, tasks.json, settings.json or a tool's argument, with the place where it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dragoman.core.jsonc import JsoncDocument, PathStep
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.errors import LaunchError, quoted

# People write about four levels. The standard decoder has no limit, so a file could exhaust the stack.
MAX_LEVELS = 64
PLATFORMS = ("linux", "osx", "windows")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")
_UNUSABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ConfigOrigin:
    """Where a value was read: a file with its text, or an argument of a call, which has only a name."""

    name: str
    code: str
    document: JsoncDocument | None = None

    def fault(
        self,
        path: Sequence[PathStep],
        problem: LocalizedText,
        *,
        code: str = "",
        hint: LocalizedText | None = None,
        **details: Any,
    ) -> LaunchError:
        if self.document is None:
            whole_message = localize(
                "{path} of {argument}: {problem}.", path=format_path(path), argument=self.name, problem=problem
            )
            return LaunchError(code or self.code, whole_message, hint=hint, path=format_path(path), **details)
        line, column = self.document.place(path)
        place = {"file": self.name, "line": line, "column": column, "path": format_path(path)}
        message = self._message(line, column, _with_path(path, problem), malformed=not code)
        return LaunchError(code or self.code, message, hint=hint, **place, **details)

    def malformed(self, line: int, column: int, problem: str) -> LaunchError:
        """The text is not JSON: there is no path yet."""
        message = self._message(line, column, localize("{reason}", reason=problem), malformed=True)
        return LaunchError(self.code, message, file=self.name, line=line, column=column)

    def _message(self, line: int, column: int, problem: LocalizedText, *, malformed: bool) -> LocalizedText:
        if malformed and self.code == "bad_launch_json":
            return localize(
                "launch.json is malformed: {file}, line {line}, column {column}: {problem}.",
                file=self.name,
                line=line,
                column=column,
                problem=problem,
            )
        return localize(
            "{file}, line {line}, column {column}: {problem}.",
            file=self.name,
            line=line,
            column=column,
            problem=problem,
        )


@dataclass(frozen=True, slots=True)
class ConfigNode:
    """A JSON value with its path and its origin, so that an error can name file, line and column."""

    value: Any
    path: tuple[PathStep, ...]
    origin: ConfigOrigin
    moved: Mapping[str, tuple[PathStep, ...]] = field(default_factory=dict)
    """Where members are written that come from elsewhere: the block of an operating system."""

    def fault(
        self, problem: LocalizedText, *, code: str = "", hint: LocalizedText | None = None, **details: Any
    ) -> LaunchError:
        return self.origin.fault(self.path, problem, code=code, hint=hint, **details)

    def wrong_type(self, wanted: LocalizedText) -> LaunchError:
        return self.fault(localize("this must be {wanted}, not {found}", wanted=wanted, found=quoted(self.value)))

    def child(self, step: PathStep, value: Any) -> ConfigNode:
        return ConfigNode(value, self.moved.get(str(step), (*self.path, step)), self.origin)

    def with_value(self, value: Any) -> ConfigNode:
        return replace(self, value=value)

    def get(self, key: str) -> ConfigNode | None:
        """The member, or nothing; `null` is nothing too, as everywhere in these files."""
        value = self.object().get(key)
        return None if value is None else self.child(key, value)

    def object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong_type(localize("an object"))
        return self.value

    def items(self) -> Iterator[ConfigNode]:
        if not isinstance(self.value, list):
            raise self.wrong_type(localize("a list"))
        return (self.child(index, value) for index, value in enumerate(self.value))

    def one_or_more(self) -> Iterator[ConfigNode]:
        return self.items() if isinstance(self.value, list) else iter([self])

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong_type(localize("a string"))
        return self.value

    def text(self, key: str, default: str = "") -> str:
        member = self.get(key)
        return default if member is None else member.string()

    def flag(self, key: str) -> bool:
        member = self.get(key)
        if member is not None and not isinstance(member.value, bool):
            raise member.wrong_type(localize("true or false"))
        return member is not None and bool(member.value)

    def required_text(self, key: str) -> str:
        member = self.get(key)
        if member is None:
            raise self.fault(localize("{key} is missing", key=quoted(key)))
        if not member.string():
            raise member.fault(localize("{key} is empty", key=quoted(key)))
        return member.string()


def for_platform(node: ConfigNode, platform: str) -> ConfigNode:
    """Members of this operating system's block replace those beside it; the blocks of others are ignored."""
    common = {key: value for key, value in node.object().items() if key not in PLATFORMS}
    block = node.get(platform)
    if block is None:
        return node.with_value(common)
    moved = {key: (*block.path, key) for key in block.object()}
    return ConfigNode({**common, **block.object()}, node.path, node.origin, moved)


def require_usable(node: ConfigNode) -> ConfigNode:
    """Bound what recursion will meet, and refuse text that no system call and no pipe would take."""
    if len(node.path) > MAX_LEVELS:
        raise node.fault(localize("this is nested deeper than {limit} levels", limit=MAX_LEVELS))
    if isinstance(node.value, str) and _UNUSABLE.search(node.value):
        raise node.fault(localize("a NUL or an incomplete character cannot be passed to a program"))
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            require_usable(node.child(key, key))
            require_usable(node.child(key, value))
    elif isinstance(node.value, list):
        for item in node.items():
            require_usable(item)
    return node


def format_path(path: Sequence[PathStep]) -> str:
    """`configurations[2].args`, as one would write it."""
    text = "".join(_format_step(step) for step in path).removeprefix(".")
    return text or "$"


def _format_step(step: PathStep) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) and len(step) <= 60 else f"[{quoted(step)}]"


def _with_path(path: Sequence[PathStep], problem: LocalizedText) -> LocalizedText:
    return localize("{path}: {problem}", path=format_path(path), problem=problem) if path else problem
