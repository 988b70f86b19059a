"""Test ids and command lines as something to debug. A test that is named without its file is searched."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.launch.commands.command_line import CommandTarget, read_command_line
from dragoman.debug.launch.commands.node import command_of_test
from dragoman.tools.agent_text import one_line
from dragoman.workspace.caller import Caller

MAX_TEST_ID = 2000
MAX_COMMAND_LINE = 8000
_MOST_FILES = 5000
_MOST_BYTES = 1 << 20
_CANDIDATES = 5
_NOT_OURS = frozenset({"node_modules", "__pycache__", "site-packages", "vendor", "target", "dist", "build"})

_OF_JAVASCRIPT = re.compile(r".+\.(?:test|spec)\.[cm]?[jt]sx?")
_DOTTED = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*?)\.(?P<test>[A-Z]\w*(?:\.\w+)?|test\w*)")
_BARE = re.compile(r"(?P<owner>[A-Za-z_]\w*(?:::|\.))?(?P<name>test\w*)(?P<parameters>\[.*\])?", re.DOTALL)
_PYTHON_TESTS = re.compile(r"(?:test_.*|.*_test|tests?)\.py")
_CLASS = re.compile(r"^class[ \t]+(\w+)[ \t]*[(:]", re.MULTILINE)
_UNITTEST = re.compile(r"\bTestCase\b")
# The test runner, from the form of a test id: the first match wins.
_BY_ID: Mapping[str, str] = {
    r".+\.py(::.+)?": "pytest {id}",
    r".+\.rb": "ruby {id}",
    r".+\.lua": "lua {id}",
    r"(Test|Example|Fuzz|Benchmark)\w+(/.+)?": "go test -run ^{id}$ .",
    r"[A-Za-z_]\w*(\.\w+)+": "python -m unittest {id}",
}


def command_target(
    caller: Caller, test: str, command: str, cwd: str, env: Mapping[str, str], more: Sequence[str] = ()
) -> CommandTarget:
    """What a test id or a command line runs. `more` are further words of that command."""
    if bool(test) == bool(command):
        raise DragomanError(
            "bad_arguments",
            localize("Pass either `test` or `command`."),
            hint=localize(
                "`test` is an id such as tests/test_app.py::test_it; `command` a line such as `go test ./...`."
            ),
        )
    folder = Path(caller.cwd) / Path(cwd).expanduser() if cwd else caller.cwd
    line = command or _command(test, folder)
    return read_command_line(line, folder, caller.environment, env, workspace=caller.workspace, more=more)


def _command(id: str, cwd: Path) -> str:
    if id.endswith("()"):
        id = id.removesuffix("()")
    if found := _python_id(id, cwd):
        return f"pytest {shlex.quote(found)}"
    template = command_of_test(id, cwd) if _OF_JAVASCRIPT.fullmatch(id) else ""
    template = template or next((it for pattern, it in _BY_ID.items() if re.fullmatch(pattern, id)), "")
    if not template:
        raise DragomanError(
            "unknown_test",
            localize("Cannot tell the test runner from this id."),
            hint=localize("Pass `command`, the full command line."),
        )
    return template.format(id=shlex.quote(id))


def _python_id(id: str, cwd: Path) -> str:
    """The id for pytest of a test that is named without its file, or in dots without unittest; empty for others."""
    if (dotted := _DOTTED.fullmatch(id)) and (found := _of_module(dotted["module"], dotted["test"], cwd)) is not None:
        return found
    if not (bare := _BARE.fullmatch(id)):
        return ""
    owner = (bare["owner"] or "").rstrip(":.")
    ids = [f"{it}{bare['parameters'] or ''}" for it in _tests_named(owner, bare["name"], cwd)]
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise DragomanError(
            "unknown_test",
            localize("No test of the folder {folder} has this name.", folder=one_line(str(cwd), 200)),
            hint=localize("Pass its file too, as in tests/test_app.py::test_it, or `command`, the full command line."),
        )
    raise DragomanError(
        "unknown_test",
        localize("Several tests have this name."),
        hint=localize("Pass one of them: {tests}.", tests=", ".join(one_line(it, 200) for it in ids[:_CANDIDATES])),
    )


def _of_module(module: str, test: str, cwd: Path) -> str | None:
    """Of `tests.test_app.TestTotal.test_sum`, where the class is one of pytest; None if unittest may run it."""
    file = Path(*module.split(".")).with_suffix(".py")
    text = _text(cwd / file)
    if text is None or _UNITTEST.search(text):
        return None
    return "::".join([file.as_posix(), *test.split(".")])


def _tests_named(owner: str, name: str, cwd: Path) -> list[str]:
    """Ids of pytest, which runs the tests of unittest as well."""
    defined = re.compile(rf"^(?P<indent>[ \t]*)(?:async[ \t]+)?def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    ids: list[str] = []
    for file in _test_files(cwd):
        text = _text(file)
        for found in defined.finditer(text or ""):
            classes = _CLASS.findall((text or "")[: found.start()]) if found["indent"] else []
            place = file.relative_to(cwd).as_posix()
            if not owner or owner in {*classes[-1:], file.stem}:
                ids.append("::".join([place, *classes[-1:], name]))
    return list(dict.fromkeys(ids))


def _test_files(cwd: Path) -> Iterator[Path]:
    left = _MOST_FILES
    for folder, folders, files in os.walk(cwd):
        folders[:] = sorted(it for it in folders if not it.startswith(".") and it not in _NOT_OURS)
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        for name in sorted(files):
            left -= 1
            if _PYTHON_TESTS.fullmatch(name):
                yield Path(folder, name)
        if left <= 0:
            return


def _text(file: Path) -> str | None:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
