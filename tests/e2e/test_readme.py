"""The README is true: its commands run and print what it shows, and both languages say the same."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli, cli_with_home

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
MOST_LINES = 150
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
# What differs from run to run: ids of sessions, and numbers of frames and variables.
_RUN = re.compile(r"debug-[0-9a-f]{16}|#?\b10000\d\d\b")
# Needs a person or a terminal, or changes the machine: tested elsewhere.
_NOT_RUN = ("cd", "dragoman shell", "dragoman history", "dragoman ask")


def blocks(readme: Path) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def examples() -> Iterator[tuple[str, list[str]]]:
    """Each command behind a `$` that can be run here, with the lines that it prints."""
    for block in blocks(ENGLISH):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *printed = part.splitlines()
            if not command.startswith(_NOT_RUN):
                yield command, [line for line in printed if line.strip()]


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        yield cli


def test_the_commands_print_what_the_readme_shows(cli: Cli, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown = list(examples())
    assert len(shown) >= 4
    for command, printed in shown:
        done = cli(*shlex.split(command)[1:], cwd=folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        lines = [_RUN.sub("~", line) for line in done.stdout.splitlines()]
        missing = [line for line in printed if _RUN.sub("~", line) not in lines]
        assert missing == [], f"{command}\n{done.stdout}{done.stderr}"


def test_it_is_short() -> None:
    assert len(ENGLISH.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_both_languages_have_the_same_headings_code_links_and_pictures() -> None:
    english, chinese = ENGLISH.read_text(encoding="utf-8"), CHINESE.read_text(encoding="utf-8")
    assert [len(it) for it in re.findall(r"^#+ ", english, re.MULTILINE)] == [
        len(it) for it in re.findall(r"^#+ ", chinese, re.MULTILINE)
    ]
    assert blocks(ENGLISH) == blocks(CHINESE)
    links = [set(re.findall(r"\]\(([^)]+)\)", text)) - {"README.md", "README.zh-CN.md"} for text in (english, chinese)]
    assert links[0] == links[1]
