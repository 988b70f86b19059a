"""The guides are true: every command and tool call in them runs, and prints what the guide shows."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.daemons import PATIENCE
from tests.e2e.guides import blocks_of, problems, reader
from tests.peers import missing_peers
from tests.support.ssh_machine import ssh_machine

pytestmark = pytest.mark.timeout(240)

ROOT = Path(__file__).parents[2]
GUIDES = [*sorted((ROOT / "docs/guides").glob("*.md")), *sorted((ROOT / "skills").rglob("*.md"))]
NEEDS = {"attach": ["gdb"], "lua-in-a-game": ["lua"], "other-machine": ["sshd"]}
# Needs a game, another person's editor or a terminal.
MOST_NOT_RUN = 12
_PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def you(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder for one person who reads all guides."""
    return tmp_path_factory.mktemp("y")


@pytest.fixture(scope="module")
def environment(you: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DRAGOMAN_", "XDG_", "VIRTUAL_"))}
    variables = {
        **kept,
        "HOME": str(you),
        "PATH": f"{_PROGRAMS}:{kept['PATH']}",
        "DRAGOMAN_PORT": "0",
        "LANG": "C.UTF-8",
        "COLUMNS": "120",
        # The plugins of our own tests take longer to import than a guide's program to run.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    variables.pop("LC_ALL", None)
    with contextlib.ExitStack() as stack:
        if not missing_peers(["sshd"]):
            machine = stack.enter_context(ssh_machine(tmp_path_factory.mktemp("m")))
            shutil.copytree(ROOT / "examples", machine.project, dirs_exist_ok=True)
            variables |= machine.variables(variables)
        yield from _with_daemon(variables, you)


def _with_daemon(variables: Mapping[str, str], you: Path) -> Iterator[Mapping[str, str]]:

    def dragoman(*words: str) -> None:
        command = [str(_PROGRAMS / "dragoman"), *words]
        subprocess.run(command, env=variables, cwd=you, timeout=40 * PATIENCE, check=True, capture_output=True)

    dragoman("up")
    try:
        yield variables
    finally:
        dragoman("down", "--yes")


def folder_for(guide: str, you: Path) -> Path:
    folder = you / guide
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    return folder


def problems_of(name: str, text: str, you: Path, environment: Mapping[str, str]) -> list[str]:
    folder = folder_for(name, you)
    shown_as = {
        str(folder): "/home/you",
        f"~/{folder.name}": "~",
        str(you): "/home/you",
        str(_PROGRAMS): "/home/you/.local/bin",
    }
    with reader(folder, environment, shown_as) as guide:
        return problems(guide, text)


@pytest.mark.parametrize(
    "guide",
    [
        pytest.param(guide, id=guide.stem, marks=[pytest.mark.needs(it) for it in NEEDS.get(guide.stem, ())])
        for guide in GUIDES
    ],
)
def test_a_guide_shows_what_its_commands_print(guide: Path, you: Path, environment: Mapping[str, str]) -> None:
    found = problems_of(guide.stem, guide.read_text(encoding="utf-8"), you, environment)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```console\n$ dragoman version\ndragoman 0.0\n```\n", "--- shown"),
        ("```console\n$ dragoman version\n…\n$ dragoman statsu\n…\n```\n", "exit code 2"),
        ("```console\n$ dragoman statsu\n…\n$ echo $?\n0\n```\n", "--- printed\n2"),
        ("```mcp\nlist_sessions {}\nA hundred sessions.\n```\n", "--- shown"),
    ],
    ids=["output", "command", "exit code", "tool"],
)
def test_a_wrong_guide_fails(text: str, complaint: str, you: Path, environment: Mapping[str, str]) -> None:
    found = problems_of("wrong", text, you, environment)
    assert len(found) == 1
    assert complaint in found[0]


def test_few_examples_are_not_run_and_each_says_why(record_property: Callable[[str, object], None]) -> None:
    excluded = [
        f"{guide.name}:{block.line}: {block.not_run}"
        for guide in GUIDES
        for block in blocks_of(guide.read_text(encoding="utf-8"))
        if block.not_run is not None
    ]
    record_property("not run", "\n".join(excluded))
    print(*excluded, sep="\n")
    assert len(excluded) <= MOST_NOT_RUN, excluded
    assert all(line.rpartition(": ")[2] for line in excluded)


def test_every_block_of_a_guide_names_its_language() -> None:
    """A block without one would be neither run nor excluded."""
    nameless = [
        f"{guide.name}:{block.line}"
        for guide in GUIDES
        for block in blocks_of(guide.read_text(encoding="utf-8"))
        if not block.kind
    ]
    assert nameless == []
