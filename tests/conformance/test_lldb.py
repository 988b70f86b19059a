"""Debugging real C, C++ and Rust programs through the engine, by lldb-dap and by CodeLLDB."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dragoman.debug.adapters import CODELLDB, LLDB
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

C = Language("c", LLDB, "c/main.c", computes=4, calls=15, prints=16)
RUST = Language("rust", LLDB, "rust/main.rs", computes=4, calls=16, prints=17)
C_BY_CODELLDB = Language("c-codelldb", CODELLDB, "c/main.c", computes=4, calls=15, prints=16)
RUST_BY_CODELLDB = Language("rust-codelldb", CODELLDB, "rust/main.rs", computes=4, calls=16, prints=17)

LANGUAGES = [
    pytest.param(it, id=it.name, marks=pytest.mark.needs(it.spec.name, it.source.partition("/")[0]))
    for it in (C, RUST, C_BY_CODELLDB, RUST_BY_CODELLDB)
]
BUILD = {".c": ("gcc", "-g", "-O0"), ".cpp": ("g++", "-g", "-O0"), ".rs": ("rustc", "-g")}


def built(source: Path) -> Path:
    binary = source.with_suffix("")
    subprocess.run([*BUILD[source.suffix], str(source), "-o", str(binary)], check=True, capture_output=True)
    return binary


def staged(language: Language, folder: Path, home: Path) -> Stage:
    if language.spec is CODELLDB:
        give_adapters(home)
    source = Path(shutil.copy(PROGRAMS / language.source, folder))
    return Stage(language, folder, built(source))


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Stage:
    return staged(request.param, tmp_path, home)


@pytest.mark.parametrize("stage", LANGUAGES, indirect=True)
class TestLldb(Behaviours):
    """What every language does."""
