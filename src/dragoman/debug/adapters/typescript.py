"""A file of TypeScript that node is to run: whether it can, or was built into something that it can."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from dragoman.debug.adapters.commands import output_of
from dragoman.debug.adapters.finding import on_path
from dragoman.debug.adapters.spec import Situation
from dragoman.errors import DragomanError
from dragoman.phrases import say

_TYPED = frozenset({".ts", ".mts", ".cts", ".tsx"})
_SCRIPTS = (".js", ".mjs", ".cjs")
# Whoever says one of these knows how the file is run, or where it was built to.
_SAYS_HOW = frozenset({"runtimeExecutable", "runtimeArgs", "outFiles"})
_NOT_BUILT_HERE = frozenset({"node_modules", ".git"})
_MOST_FILES = 20_000
_VERSION = re.compile(r"v(\d+)\.(\d+)\.")


def require_runnable(situation: Situation) -> None:
    """Else node ends with a SyntaxError at the first type, in a file of its own."""
    given, program = situation.arguments, Path(str(situation.arguments.get("program") or ""))
    is_plain = program.suffix in _TYPED and not any(given.get(key) for key in _SAYS_HOW)
    if situation.request != "launch" or not is_plain or situation.environment.get("NODE_OPTIONS"):
        return
    version = _node_version(situation.environment)
    if not _strips_types(version, program.suffix) and not _is_built(program, situation.workspace):
        raise _not_runnable(program, ".".join(map(str, version)))


def node_strips_types(environment: Mapping[str, str]) -> bool:
    """Whether the node of an environment runs TypeScript without being told to."""
    return _strips_types(_node_version(environment), ".ts")


def _node_version(environment: Mapping[str, str]) -> tuple[int, int]:
    node = on_path("node", environment)
    found = _VERSION.match(output_of([str(node), "--version"]))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _strips_types(version: tuple[int, int], suffix: str) -> bool:
    """One that does not say its version is left to try."""
    is_able = version >= (23, 6) or (22, 18) <= version < (23, 0)
    return version == (0, 0) or (is_able and suffix != ".tsx")


def _is_built(program: Path, workspace: Path) -> bool:
    """By a script of its name, or any source map; a workspace too large to look through counts as built."""
    wanted = {program.stem + suffix for suffix in _SCRIPTS}
    seen = 0
    for name in islice(_files(workspace), _MOST_FILES):
        if name in wanted or name.endswith("js.map"):
            return True
        seen += 1
    return seen == _MOST_FILES


def _files(folder: Path) -> Iterator[str]:
    for _, folders, files in os.walk(folder):
        folders[:] = [it for it in folders if it not in _NOT_BUILT_HERE]
        yield from folders  # they count against the limit too
        yield from files


def _not_runnable(program: Path, version: str) -> DragomanError:
    return DragomanError(
        "needs_build",
        say("{program} is TypeScript, which node {version} cannot run by itself.", program=program, version=version),
        hint=say(
            "Build it with source maps (`tsc --sourceMap`) and debug it again or the .js; or use node 22.18 or newer "
            "(from 22.6 with {flag}); or, where tsx is installed, write {loader} into the configuration.",
            flag='"runtimeArgs": ["--experimental-strip-types"]',
            loader='"runtimeArgs": ["--import", "tsx"]',
        ),
    )
