"""A value of a launch.json, tasks.json, settings.json or of a tool's argument, that knows where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dragoman.debug.launch.faults import LaunchError, quoted
from dragoman.jsonc import Document, Step
from dragoman.phrases import Phrase, say

# People write four levels; the standard decoder would let a file exhaust our stack.
MOST_LEVELS = 64
PLATFORMS = ("linux", "osx", "windows")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")
_UNUSABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was read: a file with its text, or an argument of a call, which has a name alone."""

    name: str
    code: str
    document: Document | None = None

    def fault(
        self, path: Sequence[Step], problem: Phrase, *, code: str = "", hint: Phrase | None = None, **details: Any
    ) -> LaunchError:
        if self.document is None:
            told = say("{path} of {argument}: {problem}.", path=spelled(path), argument=self.name, problem=problem)
            return LaunchError(code or self.code, told, hint=hint, path=spelled(path), **details)
        line, column = self.document.place(path)
        place = {"file": self.name, "line": line, "column": column, "path": spelled(path)}
        message = self._message(line, column, _at(path, problem), misformed=not code)
        return LaunchError(code or self.code, message, hint=hint, **place, **details)

    def misformed(self, line: int, column: int, problem: str) -> LaunchError:
        """The text is not JSON: there is no path yet."""
        message = self._message(line, column, say("{reason}", reason=problem), misformed=True)
        return LaunchError(self.code, message, file=self.name, line=line, column=column)

    def _message(self, line: int, column: int, problem: Phrase, *, misformed: bool) -> Phrase:
        if misformed and self.code == "bad_launch_json":
            return say(
                "launch.json is malformed: {file}, line {line}, column {column}: {problem}.",
                file=self.name,
                line=line,
                column=column,
                problem=problem,
            )
        return say(
            "{file}, line {line}, column {column}: {problem}.",
            file=self.name,
            line=line,
            column=column,
            problem=problem,
        )


@dataclass(frozen=True, slots=True)
class Node:
    value: Any
    path: tuple[Step, ...]
    origin: Origin
    moved: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    """Where members are written that were taken from elsewhere: the block of an operating system."""

    def fault(self, problem: Phrase, *, code: str = "", hint: Phrase | None = None, **details: Any) -> LaunchError:
        return self.origin.fault(self.path, problem, code=code, hint=hint, **details)

    def wrong(self, wanted: Phrase) -> LaunchError:
        return self.fault(say("this must be {wanted}, not {found}", wanted=wanted, found=quoted(self.value)))

    def child(self, step: Step, value: Any) -> Node:
        return Node(value, self.moved.get(str(step), (*self.path, step)), self.origin)

    def with_value(self, value: Any) -> Node:
        return replace(self, value=value)

    def get(self, key: str) -> Node | None:
        """The member, or nothing; `null` is nothing too, as everywhere in these files."""
        value = self.object().get(key)
        return None if value is None else self.child(key, value)

    def object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong(say("an object"))
        return self.value

    def items(self) -> Iterator[Node]:
        if not isinstance(self.value, list):
            raise self.wrong(say("a list"))
        return (self.child(index, value) for index, value in enumerate(self.value))

    def one_or_more(self) -> Iterator[Node]:
        return self.items() if isinstance(self.value, list) else iter([self])

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(say("a string"))
        return self.value

    def text(self, key: str, default: str = "") -> str:
        member = self.get(key)
        return default if member is None else member.string()

    def flag(self, key: str) -> bool:
        member = self.get(key)
        if member is not None and not isinstance(member.value, bool):
            raise member.wrong(say("true or false"))
        return member is not None and bool(member.value)

    def required_text(self, key: str) -> str:
        member = self.get(key)
        if member is None:
            raise self.fault(say("{key} is missing", key=quoted(key)))
        if not member.string():
            raise member.fault(say("{key} is empty", key=quoted(key)))
        return member.string()


def for_platform(node: Node, platform: str) -> Node:
    """What an operating system's block says replaces what stands beside it; the blocks of others say nothing."""
    common = {key: value for key, value in node.object().items() if key not in PLATFORMS}
    block = node.get(platform)
    if block is None:
        return node.with_value(common)
    moved = {key: (*block.path, key) for key in block.object()}
    return Node({**common, **block.object()}, node.path, node.origin, moved)


def require_usable(node: Node) -> Node:
    """Bound what recursion will meet, and refuse text that no system call and no pipe would take."""
    if len(node.path) > MOST_LEVELS:
        raise node.fault(say("this is nested deeper than {limit} levels", limit=MOST_LEVELS))
    if isinstance(node.value, str) and _UNUSABLE.search(node.value):
        raise node.fault(say("this holds a NUL or half of a character, which no program can be given"))
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            require_usable(node.child(key, key))
            require_usable(node.child(key, value))
    elif isinstance(node.value, list):
        for item in node.items():
            require_usable(item)
    return node


def spelled(path: Sequence[Step]) -> str:
    """`configurations[2].args`, as one would write it."""
    text = "".join(_step(step) for step in path).removeprefix(".")
    return text or "$"


def _step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) and len(step) <= 60 else f"[{quoted(step)}]"


def _at(path: Sequence[Step], problem: Phrase) -> Phrase:
    return say("{path}: {problem}", path=spelled(path), problem=problem) if path else problem
