"""The bench of what an answer is worth: its judge, its summary, and that each bug is one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.value.bugs import Bug, complaints, copy_to, load_all
from bench.value.judge import Condition, exposes, pattern_of
from bench.value.report import Row, published, rows_of, summarize
from bench.value.ways import BASELINE, MEASURED, arguments_for, why_section
from tests.bench.fixed_bugs import failures

ROOT = Path(__file__).parents[2]
BUGS = load_all()
PYTHON = [it for it in BUGS if it.language == "python"]
MOST_S = 40
KINDS = {
    "off by one", "wrong default", "aliasing", "wrong branch", "stale cache", "race", "unit mix-up", "encoding",
    "recursion", "hang", "deadlock",
}  # fmt: skip
CONDITION = Condition("page_total", r"(?<!\w)page_total(?!\w)|pages\.py:\d+", {"count": 23, "pages": 2})


@pytest.mark.parametrize(
    "answer",
    [
        "at pages.py:21 page_total: return pages\n  count = 23, size = 10, pages = 2",
        "page_total\ncount      = 23\npages      = 2",
        "call page_total:18  count=23 size=10\nline page_total:21  pages=2",
        '{"function": "page_total", "locals": {"count": 23, "pages": 2}}',
        "page_total: count (int): 23, pages (int): 1 → 2",
    ],
)
def test_a_condition_is_met_in_the_notation_of_any_tool(answer: str) -> None:
    assert CONDITION.matches(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "at pages.py:21 page_total: pages = count // size",
        "page_total: count = 23, pages = 20",
        "page_total: count = 23, pages = 2.5",
        "page_total: recount = 23, pages = 2",
        "other.py:3 f: count = 23, pages = 2",
        f"page_total: count = 23{' ' * 1200}pages = 2",
    ],
)
def test_a_condition_is_not_met_by_source_other_values_or_values_elsewhere(answer: str) -> None:
    assert not CONDITION.matches(answer)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([1, 2], "x = [1, 2]"),
        ([1, 2], "x: (2) [1, 2]"),
        ([1, 2], "x = []int len: 2, cap: 4, [1,2]"),
        ([1, 2], "x = {1, 2}"),
        ([1, 2], "x = ([0] = 1, [1] = 2)"),
        ("ab", "x = 'ab'"),
        ("ab", 'x = 0x55f0 "ab"'),
        ("ab", "x: ab"),
        ("<none>", "x = nil"),
        ("<none>", "x: undefined"),
        (True, "x = true"),
        ({"a": 1}, "x = {'a': 1, 'b': 2}"),
        (3, "x = 3.0"),
    ],
)
def test_a_value_is_known_in_several_languages(value: object, shown: str) -> None:
    assert re.search(pattern_of("x", value), shown)


@pytest.mark.parametrize(
    "shown",
    [
        "total(4) -> 7",
        "total(4) → sum = 7",
        "return shop.py:3 total -> 7",
        "total(4) = 7",
        "returned 7 from total",
        "total\n  returned 7",
    ],
)
def test_what_a_function_returned_is_known(shown: str) -> None:
    assert re.search(pattern_of("return", 7, "total"), shown)


def test_what_another_function_returned_or_a_line_of_source_does_not_count() -> None:
    assert not re.search(pattern_of("return", 7, "total"), "total(4)\nreturn shop.py:3 tax -> 7\n    return 7")


def test_values_in_order_belong_to_one_call() -> None:
    ordered = Condition("f", "f", {"currency": "CHF", "hit": 50}, in_order=True)
    assert ordered.matches("f currency='CHF'\nf hit=50")
    assert not ordered.matches("f hit=50\nf currency='CHF'\nf hit=47")


def test_there_are_bugs_of_many_kinds_in_every_language() -> None:
    assert Counter(it.language for it in BUGS) == {"python": 30, "javascript": 12, "go": 6, "c": 6, "lua": 6}
    assert {it.kind for it in BUGS} >= KINDS
    assert len({it.kind for it in BUGS}) >= 20
    assert Counter(it.name for it in BUGS).most_common(1)[0][1] == 1


@pytest.mark.parametrize("bug", BUGS, ids=lambda it: it.name)
def test_a_bug_is_complete_and_its_source_alone_does_not_expose_it(bug: Bug) -> None:
    assert list(complaints(bug)) == []


def test_tools_are_asked_as_an_agent_would_ask_them() -> None:
    schema: dict[str, Any] = {"properties": {"test": {}, "command": {}, "function": {}}}
    assert arguments_for(schema, PYTHON[0]) == {"test": PYTHON[0].test, "function": PYTHON[0].function}
    assert arguments_for({"properties": {"command": {}}}, PYTHON[0]) == {"command": PYTHON[0].command}


def test_a_tool_is_asked_for_the_call_that_the_assertion_is_about_and_waits_for_hangs() -> None:
    schema: dict[str, Any] = {"properties": {key: {} for key in ("test", "command", "call", "where", "timeout_s")}}
    asked = {it.name: arguments_for(schema, it) for it in BUGS}
    assert asked["py-cart-discounts"]["call"] == "last"
    assert asked["py-quote-cache"]["where"] == "currency == 'CHF'"
    assert asked["py-price-search"]["timeout_s"] == 50
    given = {tuple(it)[1:] for it in asked.values()}
    assert given == {(), ("call",), ("where",), ("timeout_s",), ("call", "timeout_s")}


def test_the_section_of_pytest_why_is_counted_by_itself() -> None:
    section = "total  shop.py:3\n-- 1\n"
    for rest in ("--- Captured stdout call ---\nx\n", "=== short test summary info ===\n", "___ test_b ___\n", ""):
        assert why_section(f"E  assert 1 == 2\n----- why -----\n{section}{rest}") == section
    assert why_section("E  assert 1 == 2\n") == ""


def test_a_way_is_worse_where_only_the_baseline_exposes() -> None:
    rows = [
        Row("a", "go", "race", way, "answered", 1, size, 0.1, exposed)
        for way, size, exposed in [(BASELINE, 300, True), ("debug_test", 200, False), ("trace_call", 900, True)]
    ]
    found = {it.way: (it.worse, it.dearer) for it in summarize(rows)}
    assert found == {BASELINE: (0, 0), "debug_test": (1, 0), "trace_call": (0, 1)}


def test_the_published_table_is_that_of_the_result_and_the_goals_are_met() -> None:
    rows = rows_of((ROOT / "bench/value/results.json").read_text())
    assert {(it.bug, it.way) for it in rows} == {(it.name, way) for it in BUGS for way in MEASURED}
    page = (ROOT / "docs/performance.md").read_text("utf-8")
    assert published(rows) in page, "make bench-value, and put its table into docs/performance.md"
    assert {it.way: it.misses() for it in summarize(rows) if it.way != BASELINE} == {key: [] for key in MEASURED[1:]}


@pytest.mark.parametrize("language", [pytest.param(it, marks=pytest.mark.needs(it)) for it in ("c", "lua")])
def test_a_bug_makes_its_test_fail_and_its_fix_makes_it_pass(language: str, tmp_path: Path) -> None:
    """Those of JavaScript and Go are in tests/programs, because their runners take seconds."""
    bugs = [it for it in BUGS if it.language == language]
    assert failures(bugs, tmp_path) == {it.name: (True, False) for it in bugs}


def test_the_judge_runs_on_any_folder_of_bugs(tmp_path: Path) -> None:
    own = tmp_path / "bugs" / "my-bug"
    shutil.copytree(PYTHON[0].folder, own)
    (tmp_path / "bugs" / "no-bug").mkdir()
    wanted = ["--bugs", str(own.parent), "--tools", BASELINE, "--json", str(tmp_path / "result.json")]
    command = [sys.executable, "-m", "bench.value", *wanted]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "result.json").read_text())
    assert [(it["bug"], it["way"], it["exposed"]) for it in data["rows"]] == [("my-bug", BASELINE, False)]


@pytest.mark.timeout(3 * MOST_S)
def test_python_bugs_fail_and_their_values_differ_from_those_of_the_fixes(tmp_path: Path) -> None:
    failed, shown, output = _run(tmp_path / "broken", fixed=False)
    assert failed == {it.name for it in PYTHON}, output
    assert [it.name for it in PYTHON if not exposes(it.conditions, shown[it.name])] == []
    # A test that hangs is ended by its timeout, which prints where each thread is: more than an assertion tells.
    assert [it.name for it in PYTHON if not it.hangs and exposes(it.conditions, output)] == []
    failed, shown, output = _run(tmp_path / "fixed", fixed=True)
    assert failed == set(), output
    assert [it.name for it in PYTHON if not it.hangs and exposes(it.conditions, shown[it.name])] == []


def _run(folder: Path, *, fixed: bool) -> tuple[set[str], dict[str, str], str]:
    """All of them in one run: the names of those that failed, each one's calls, and what pytest says."""
    folder.mkdir()
    for bug in PYTHON:
        copy_to(bug, folder, fixed=fixed)
    command = [
        sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider",
        "-p", "call_tracer", "-p", "no:xdist", "--tb=short", "-rf", "--timeout=2",
        *(f"{it.name}/{it.test}" for it in PYTHON),
    ]  # fmt: skip
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))},
        "PYTHONPATH": str(Path(__file__).parent),
        "CALL_TRACER_FOLDER": str(folder),
    }
    printed = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=MOST_S, check=False
    )
    failed = set(re.findall(r"(?m)^FAILED ([\w-]+)/", printed.stdout))
    shown = {it.name: _text(folder / f"{it.name}.trace") for it in PYTHON}
    return failed, shown, printed.stdout + printed.stderr


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""
