"""Runs the table and writes docs/conformance.md from what it found: `python -m tests.conformance.report`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conformance.table.column import RESULTS
from tests.conformance.table.rows import BEHAVIOURS

_HERE = Path(__file__).parent
_PAGE = _HERE.parents[1] / "docs" / "conformance.md"
_ORDER = ("python", "javascript", "typescript", "go", "c", "cpp", "rust", "codelldb", "rustbycodelldb", "ruby", "lua")
_LONGEST = 160
_HEAD = """\
# What every debugger does

Each row is one behaviour, tested through the tools that an agent calls. Each column is a language with its real debug
adapter. `yes` means that the test passes. A number means that the adapter cannot do it; the note below quotes what it
returned or did. `make test` runs the table, and fails if a cell is empty, or if an adapter can do what is noted here as
impossible. Written by `python -m tests.conformance.report`.
"""

Column = dict[str, Any]


def ran(folder: str) -> list[Column]:
    files = sorted(str(path) for path in _HERE.glob("test_table_*.py"))
    command = [sys.executable, "-m", "pytest", "-n", "3", "--dist", "loadfile", *files]
    subprocess.run(command, check=True, env={**os.environ, RESULTS: folder, "CI": "true"})
    return [json.loads((Path(folder) / f"{name}.json").read_text()) for name in _ORDER]


def page(columns: Sequence[Column]) -> str:
    notes: list[str] = []
    heads = [f"{column['language']}<br>{column['adapter']}" for column in columns]
    rows = [_row(title, columns, notes) for title in BEHAVIOURS]
    table = [_line(["", *heads]), _line(["---"] * (len(columns) + 1)), *rows]
    return "\n".join([_HEAD, *table, "", "## What the adapters cannot do", "", *notes, ""])


def _row(title: str, columns: Sequence[Column], notes: list[str]) -> str:
    cells = [_cell(title, column, notes) for column in columns]
    return _line([title, *cells])


def _cell(title: str, column: Column, notes: list[str]) -> str:
    found = column["cells"][title]
    if found == "pass":
        return "yes"
    result = found if len(found) <= _LONGEST else f"{found[:_LONGEST]}…"
    notes.append(f"{len(notes) + 1}. {column['language']} ({column['adapter']}), {title}: `` {result} ``")
    return str(len(notes))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _PAGE.write_text(page(ran(folder)))


if __name__ == "__main__":
    main()
