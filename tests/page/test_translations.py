"""Every phrase of the page has its Chinese."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "web" / "src"


def translated() -> set[str]:
    tables = "\n".join(path.read_text() for path in SOURCES.rglob("chinese.ts"))
    return {row[1] for row in re.finditer(r'^  "?((?:[^"\\]|\\.)*?)"?:\s+"', tables, re.MULTILINE)}


def texts() -> list[str]:
    return [path.read_text() for path in sorted(SOURCES.rglob("*.ts")) if path.name != "chinese.ts"]


def test_every_phrase_has_its_chinese() -> None:
    found = {match[1] for text in texts() for match in re.finditer(r'\bt\(\s*"((?:[^"\\]|\\.)*)"', text)}
    assert len(found) > 40
    assert found - translated() == set()


def of_tables(text: str) -> set[str]:
    """What is said by looking it up: `t(WORDS[state])`."""
    found: set[str] = set()
    for name in re.findall(r"\bt\((\w+)\[", text):
        table = re.search(rf"const {name}\b[^=]*= \{{(.*?)\n\}}", text, re.DOTALL)
        found |= set(re.findall(r':\s+"((?:[^"\\]|\\.)*)"', table[1] if table else ""))
    return found


def test_every_phrase_that_is_in_a_table_has_its_chinese() -> None:
    content = set().union(*(of_tables(text) for text in texts()))
    assert len(content) > 15
    assert content - translated() - {""} == set()


def test_no_phrase_has_two_translations() -> None:
    """The tables become one, as views are loaded: which of two would win depends on where a person looked first."""
    rows: dict[str, set[str]] = {}
    for path in SOURCES.rglob("chinese.ts"):
        for english, chinese in re.findall(
            r'^  "?((?:[^"\\]|\\.)*?)"?:\s+"((?:[^"\\]|\\.)*)"', path.read_text(), re.MULTILINE
        ):
            rows.setdefault(english, set()).add(chinese)
    assert len(rows) > 200
    assert {english: found for english, found in rows.items() if len(found) > 1} == {}
