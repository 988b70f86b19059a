"""The bugs: a folder each, with its program, its failing test, `bug.toml` and `fix.patch`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.value.judge import Condition

FOLDER = Path(__file__).parent / "bugs"
LANGUAGES = ("python", "javascript", "go", "c", "lua")
ABOUT = "bug.toml"
FIX = "fix.patch"
_DEADLINE_S = 60.0
_BUILD_S = 120


class BadBugError(Exception):
    """A bug folder that cannot be judged: incomplete, or its test does not tell the bug from its fix."""


@dataclass(frozen=True, slots=True)
class Bug:
    """`test` is an id that a runner knows, where the language has one; `command` runs the same test.

    `program` is what the command starts, for tools that take a program. `hangs`: the test does not end by itself.
    `traced`: where its values show the bug, if not in the function with the cause. `call` or `where`: which call
    of it the failed assertion is about, as its text shows it.
    """

    name: str
    folder: Path
    language: str
    kind: str
    cause: str
    function: str
    file: str
    command: str
    conditions: tuple[Condition, ...]
    test: str = ""
    program: str = ""
    build: str = ""
    traced: str = ""
    call: str = ""
    where: str = ""
    hangs: bool = False
    timeout_s: float = _DEADLINE_S

    def sources(self) -> list[Path]:
        return [it for it in sorted(self.folder.rglob("*")) if it.is_file() and it.name not in {ABOUT, FIX}]

    def source_text(self) -> str:
        return "\n".join(it.read_text("utf-8", "replace") for it in self.sources())


def load(folder: Path) -> Bug:
    about = tomllib.loads((folder / ABOUT).read_text("utf-8"))
    try:
        function, file = about["function"], about["file"]
        place = rf"(?<!\w){re.escape(function)}(?!\w)|{re.escape(Path(file).name)}:\d+"
        alternatives = about.pop("exposes")
        conditions = tuple(
            Condition(**{"function": function, "place": place, "values": {}, **it}) for it in alternatives
        )
        return Bug(name=folder.name, folder=folder, conditions=conditions, **about)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadBugError(f"{folder.name}/{ABOUT}: {error!r}") from error


def load_all(folder: Path = FOLDER, only: Sequence[str] = ()) -> list[Bug]:
    found = [load(it.parent) for it in sorted(folder.glob(f"*/{ABOUT}"))]
    chosen = [it for it in found if not only or any(one in it.name for one in only)]
    if not chosen:
        raise BadBugError(f"no bug in {folder}")
    return chosen


def complaints(bug: Bug) -> Iterator[str]:
    """What is wrong with a bug's folder, by its text alone."""
    source = bug.source_text()
    if bug.language not in LANGUAGES:
        yield f"unknown language {bug.language!r}"
    if not (bug.folder / bug.file).is_file():
        yield f"{bug.file} does not exist"
    elif bug.function.rpartition(".")[2] not in (bug.folder / bug.file).read_text("utf-8", "replace"):
        yield f"{bug.function} is not in {bug.file}"
    if not (bug.folder / FIX).is_file():
        yield "no fix"
    if bug.call and bug.where:
        yield "both call and where"
    if not bug.conditions:
        yield "no condition"
    for condition in bug.conditions:
        yield from _weaknesses(condition, source)


def _weaknesses(condition: Condition, source: str) -> Iterator[str]:
    if not condition.values and not condition.text:
        yield "a condition without values"
    if condition.matches(source):
        yield f"the source alone satisfies {dict(condition.values)}"
    for pattern in condition.value_patterns:
        if found := pattern.search(source):
            yield f"the source has {found[0]!r}"


def copy_to(bug: Bug, folder: Path, *, fixed: bool = False) -> Path:
    """The bug's program in a new folder, without what would give it away; built where it has to be."""
    place = folder / bug.name
    shutil.copytree(bug.folder, place, ignore=shutil.ignore_patterns(ABOUT, FIX, "__pycache__"))
    if fixed:
        _patch(bug, place)
    if bug.build:
        built = subprocess.run(
            bug.build, shell=True, cwd=place, capture_output=True, text=True, timeout=_BUILD_S, check=False
        )
        if built.returncode:
            raise BadBugError(f"{bug.name}: {bug.build}: {built.stderr}")
    return place


def _patch(bug: Bug, place: Path) -> None:
    command = ["git", "apply", "-p1", str(bug.folder / FIX)]
    # Outside any repository: else git would look for the files in the one around.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(place.parent)}
    applied = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    if applied.returncode:
        raise BadBugError(f"{bug.name}/{FIX}: {applied.stderr}")
