"""docs/faults.md names tests that exist, and at least one in every row."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+|\*)`")


def rows() -> list[str]:
    lines = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("| ")][2:]


def exists(file: str, name: str) -> bool:
    wanted = re.compile(rf"^(async )?def {'test_' if name == '*' else name + '[(]'}", re.MULTILINE)
    return (ROOT / file).is_file() and wanted.search((ROOT / file).read_text(encoding="utf-8")) is not None


def test_every_fault_has_tests_and_every_test_that_is_named_exists() -> None:
    named = [NAMED.findall(row) for row in rows()]
    assert len(named) >= 16
    assert [row for row, found in zip(rows(), named, strict=True) if not found] == []
    assert [(file, name) for found in named for file, name in found if not exists(file, name)] == []
