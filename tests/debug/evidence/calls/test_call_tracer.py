"""The tracer inside the program, on every Python that is installed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.debug.evidence.calls import call_text
from dragoman.debug.evidence.calls.call_text import call_lines
from dragoman.tools.evidence import calls
from tests.debug.evidence.calls import scenarios


def installed_pythons() -> list[str]:
    """From 3.8 on, one of each version, the oldest first. Of this version the one that runs this."""
    found: list[str] = []
    for minor in range(8, 16):
        version = f"3.{minor}"
        installed = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*"))
        path = str(installed[-1] / "bin" / "python") if installed else shutil.which(f"python{version}")
        if minor == sys.version_info.minor:
            path = sys.executable
        if path:
            found.append(path)
    return found


@pytest.mark.timeout(120)
@pytest.mark.parametrize("python", installed_pythons())
def test_every_installed_python_records_the_same(python: str) -> None:
    """In a process of its own: pytest-xdist's worker has threads, which the scenarios would count."""
    text = subprocess.run([python, scenarios.__file__], capture_output=True, text=True, timeout=100, check=False)
    if "No version is set" in text.stderr:
        pytest.skip("a name without an interpreter")
    assert text.returncode == 0, text.stderr[-3000:]
    assert text.stdout.count("scenario_") == len(scenarios.SCENARIOS)


def test_an_answer_never_has_more_than_its_limit() -> None:
    long = "v" * 400
    row = {
        "line": 1,
        "changes": [[f"name{it}", long] for it in range(20)],
        "calls": [["f", [["a", long]], long, "", 0]] * 4,
    }
    record = {
        "function": "f", "file": "/a/b.py", "first": 1, "call": 1, "calls": 1, "lines": 200, "args": [["a", long]] * 20,
        "rows": [{**row, "line": it} for it in range(200)], "source": [[it, long] for it in range(1, 300)],
        "end": {"how": "returned", "line": 3, "value": long}, "deepest": 9,
        "all": [[1, 1, [["a", long]], long, ""]] * 24,
    }  # fmt: skip
    for limit in (4000, 1500, 600):
        lines = call_lines(record, limit=limit)
        assert sum(len(it) + 1 for it in lines) <= limit


def test_words_go_through_the_translator() -> None:
    found = call_lines({"calls": 0}, lambda template, **values: template.upper())
    assert found == ["THE FUNCTION WAS NEVER CALLED."]


def test_every_word_has_a_translation() -> None:
    """`trace_call` looks each up by its template, so that the catalogue holds it."""
    tree = ast.parse(Path(call_text.__file__).read_text(encoding="utf-8"))
    entries = [it for it in ast.walk(tree) if isinstance(it, ast.Call) and ast.unparse(it.func) == "say"]
    assert {ast.literal_eval(it.args[0]) for it in entries} == set(calls._TEXTS)
