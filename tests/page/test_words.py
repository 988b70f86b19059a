"""Every phrase of the page has its Chinese."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "web" / "src"


def translated() -> set[str]:
    tables = "\n".join(path.read_text() for path in SOURCES.rglob("chinese.ts"))
    return {row[1] for row in re.finditer(r'^  "?((?:[^"\\]|\\.)*?)"?: "', tables, re.MULTILINE)}


def texts() -> list[str]:
    return [path.read_text() for path in sorted(SOURCES.rglob("*.ts")) if path.name != "chinese.ts"]


def test_every_phrase_that_is_said_has_its_chinese() -> None:
    said = {match[1] for text in texts() for match in re.finditer(r'\bt\(\s*"((?:[^"\\]|\\.)*)"', text)}
    assert len(said) > 40
    assert said - translated() == set()
