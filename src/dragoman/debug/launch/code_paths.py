"""Which files and folders of the disk a start takes code from, as far as its configuration says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.debug.launch.resolving import Launch, Resolved
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.debug.suffixes import is_source
from dragoman.workspace.code_folders import CodeFolders

# Keys of the known debuggers whose value is run, or is a list of words of which some are.
_RUN = (
    *("python", "pythonPath", "pythonArgs", "runtimeExecutable", "runtimeArgs", "debugAdapterPath"),
    *("debugAdapterPython", "miDebuggerPath", "dlvToolPath", "rdbgPath", "command", "script", "luaPath"),
    *("debugLauncherPath", "debugLauncherPython", "bundlePath", "buildFlags"),
)
# Variables by which a program is told where more code is.
_LOADS_CODE = (
    *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "NODE_PATH", "NODE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH"),
    *("LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "RUBYLIB", "RUBYOPT", "PERL5LIB", "PERL5OPT"),
    *("LUA_PATH", "LUA_CPATH", "LUA_INIT", "GOFLAGS", "GOPATH", "CLASSPATH", "JAVA_TOOL_OPTIONS", "BASH_ENV", "ENV"),
    *("GCONV_PATH", "GIT_EXEC_PATH", "PATH"),
)
# `--import=file:///x.mjs`, `-r/x.js`, `-I../x`, `-ex=source /x`: what stands in front of a path, and between two.
_PARTS = re.compile(r"[=,:;\s]+|(?<=^-[A-Za-z])")
_LOOKED_AT = 200
"""Entries of a folder, to see whether there is code in it."""


def code_paths(launch: Launch, facts: Iterable[Mapping[str, str]], folders: CodeFolders) -> Iterator[Path]:
    yield from _of_tasks(launch.before)
    for session, told in zip(launch.sessions, facts, strict=True):
        yield from _of_tasks(session.before)
        yield from _of_tasks(session.after)
        yield from map(Path, session.env_files)
        yield from _of_variables(session.env, session.folder)
        if session.request == "launch":
            yield from _of_program(session, told, folders)


def _of_program(session: Resolved, told: Mapping[str, str], folders: CodeFolders) -> Iterator[Path]:
    given = session.arguments
    cwd = session.folder / str(given.get("cwd") or "")
    yield cwd
    for key in _RUN:
        yield from _named(given.get(key), cwd)
    yield from _named(told.get("interpreter", "").split(" "), cwd)
    program = cwd / str(given.get("program") or "")
    yield program
    if not folders.is_of_workspace(program) or not given.get("program"):
        # A program that is installed runs what it is given: `node x.js`, `pytest tests`. Data is not asked about.
        yield from (path for path in _named(given.get("args"), cwd) if _is_code(path))


def _is_code(path: Path) -> bool:
    try:
        if path.is_dir():
            with os.scandir(path) as entries:
                return any(is_source(entry.name) for entry in islice(entries, _LOOKED_AT))
        return path.is_file() and (is_source(path.name) or os.access(path, os.X_OK))
    except OSError:
        return False


def _of_tasks(plan: TaskPlan | None) -> Iterator[Path]:
    if plan is None:
        return
    for before in plan.depends_on:
        yield from _of_tasks(before)
    if plan.command is not None:
        cwd = Path(plan.command.cwd)
        yield cwd
        yield from (path for path in _named(list(plan.command.argv), cwd) if path.is_file())
        yield from _of_variables(plan.command.env, cwd)


def _of_variables(env: Mapping[str, str | None], folder: Path) -> Iterator[Path]:
    for name in _LOADS_CODE:
        words = (env.get(name) or "").replace(";", os.pathsep).replace(" ", os.pathsep).split(os.pathsep)
        yield from (path for path in _named(words, folder) if path.exists())


def _named(value: Any, folder: Path) -> Iterator[Path]:
    """Words that are paths; a bare name is looked for on PATH, which is the client's. An option may hold one too."""
    words = value if isinstance(value, list) else value.split() if isinstance(value, str) else ()
    for word in words:
        if not isinstance(word, str) or "\0" in word:
            continue
        if not word.startswith("-") and ("/" in word or (folder / word).is_file()):
            yield folder / word
        if word.startswith("-") or "=" in word:
            yield from (path for part in _PARTS.split(word) if "/" in part and (path := folder / part).exists())
