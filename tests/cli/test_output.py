"""What is printed reaches whoever reads it, in every locale, and ends quietly when nobody does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import pytest

COMMAND = [sys.executable, "-m", "dragoman.cli.main"]

# As most people have it: buffered, with the encoding that the locale says.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
LATIN = {"PYTHONIOENCODING": "latin-1"}


def dragoman(
    *arguments: str, output: int | IO[bytes] = subprocess.PIPE, variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[bytes]:
    own = {name: os.environ[name] for name in ("DRAGOMAN_HOME", "DRAGOMAN_LANG")}
    return subprocess.run(
        [*COMMAND, *arguments],
        check=False,
        stdout=output,
        stderr=subprocess.PIPE,
        env=BUFFERED | own | dict(variables),
        timeout=60,
    )


@pytest.mark.parametrize("arguments", [("config", "list"), ("--help",), ("doctor",), ("client-config", "cursor")])
def test_a_locale_without_chinese_shows_numbers_instead_of_ending(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = dragoman(*arguments, variables={**LATIN, "DRAGOMAN_LANG": "zh", "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert rb"\u" in done.stdout + done.stderr


def test_json_is_the_same_in_every_locale() -> None:
    chinese = {"DRAGOMAN_LANG": "zh"}
    latin, unicode = (dragoman("config", "list", "--json", variables={**chinese, **more}) for more in (LATIN, {}))
    assert latin.stdout == unicode.stdout
    assert "端口" in json.loads(latin.stdout)[0]["about"]


@pytest.mark.parametrize("arguments", [("--version",), ("config", "list"), ("config", "list", "--json")])
def test_a_reader_that_closed_is_not_an_error(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = dragoman(*arguments, output=nobody)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [("--version",), ("config", "list"), ("config", "list", "--json")])
def test_a_full_disk_under_the_output_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = dragoman(*arguments, output=full)
    assert done.returncode == 1
    assert done.stderr.startswith(b"dragoman: The disk is full")
    assert b"Exception" not in done.stderr


def test_a_value_of_others_is_shown_and_never_moves_the_cursor() -> None:
    done = dragoman("client-config", "\x1b[2J\x9b31m")
    assert (done.returncode, done.stderr.count(b"\x1b")) == (1, 0)
    assert rb"\x1b[2J\x9b31m" in done.stderr


@pytest.mark.parametrize("command", ["config list", "page", "wire decode", "wire encode", "journal tail", "setup"])
def test_every_option_says_what_it_does(command: str) -> None:
    """An option without a word of help shows its default right behind its name."""
    shown = " ".join(dragoman(*command.split(), "--help", variables={"COLUMNS": "200"}).stdout.decode().split())
    assert "--no-json" not in shown
    options = [part.split("│")[0] for part in shown.split("│ --")[1:]]
    assert options
    assert [option for option in options if not re.search(r" [A-Za-z]+: | [A-Z][a-z]+ ", option)] == []
