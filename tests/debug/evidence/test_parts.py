"""The parts: rows as Python itself says them, what is suspected of changing a program, and what a claim is about."""

from __future__ import annotations

import ast
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.evidence import javascript_evaluation, python_evaluation
from dragoman.debug.evidence.evaluation import is_true
from dragoman.debug.evidence.evidence_probe import EvidenceProbe
from dragoman.debug.evidence.expressions import impure_expressions, names_in
from dragoman.debug.evidence.tracepoints import Cell, TraceLimits, Tracepoint, TraceTable, WrittenRecord
from dragoman.tools.evidence.target import first_line_of


def in_python(*expressions: str, **names: Any) -> list[Cell]:
    """As a debugger does it: by one expression in a frame, and shown as that shows a string."""
    return python_evaluation.parse_result(repr(eval(python_evaluation.build_query(expressions), {}, names)))


def test_python_expressions_are_answered_together_and_fail_each_by_itself() -> None:
    assert in_python("a + 1", "a.nope", "a +", "[a for _ in range(2)]", a=1) == [
        Cell("2"),
        Cell("AttributeError: 'int' object has no attribute 'nope'", failed=True),
        Cell("SyntaxError: invalid syntax (<evidence>, line 1)", failed=True),
        Cell("[1, 1]"),
    ]


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("{'a': {1, 2}, 'b': (1,), 'c': [()]}", "{'a': {1, 2}, 'b': (1,), 'c': [()]}"),
        ("set(), frozenset(), frozenset([1])", "(set(), frozenset(), frozenset({1}))"),
        ("'}{%s'", "'}{%s'"),
        ("'ü\u2028'", repr("ü\u2028")),
        ("[1] * 100", f"[{', '.join('1' * 40)}, … (100 in all)]"),
        ("'x' * 1000", f"'{'x' * 400}'… (1000 long)"),
        ("[[[[[[[1]]]]]]]", "[[[[[[…]]]]]]"),
        ("1 << 5000", f"0x{1 << 127:x}… (5001 bits)"),
    ],
)
def test_a_python_value_is_shown_whole_or_says_how_much_there_is(expression: str, shown: str) -> None:
    assert in_python(expression) == [Cell(shown)]


def test_a_huge_value_is_not_turned_into_text_as_a_whole() -> None:
    class Greedy:
        def __repr__(self) -> str:
            raise MemoryError("of all of them")

    (cell,) = in_python("many", many=[1] * 40 + [Greedy()] * 10_000_000)
    assert cell.text.endswith("… (10000040 in all)]")


def hits(file: Path, count: int, *expressions: str, **more: Any) -> list[bool]:
    """Whether a breakpoint with this condition stops, hit by hit."""
    condition = python_evaluation.build_row_condition(file, more.pop("most", 100), 7, expressions, **more)

    def stops(at: int) -> bool:  # in a frame that is no comprehension's, which would not be a hit
        return bool(eval(condition, {}, {"n": at}))

    return [stops(at) for at in range(count)]


def rows_in(file: Path) -> list[WrittenRecord]:
    return [python_evaluation.parse_row(line) for line in file.read_text().splitlines()]


def test_a_condition_writes_its_rows_and_stops_where_there_are_more_than_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.touch()
    assert hits(file, 5, "n", "'{}%'", most=3) == [False, False, False, True, True]
    rows = rows_in(file)
    assert [it.kind for it in rows] == ["begun", "row"] * 3
    assert rows[3] == WrittenRecord("row", 7, threading.get_ident(), [Cell("1"), Cell("'{}%'")], rows[3].fault)


def test_a_condition_stops_where_its_claim_is_false(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.touch()
    assert hits(file, 3, "bool(n < 2)", claims=True) == [False, False, True]
    assert hits(file, 1, "bool(nope)", claims=True) == [True]


def test_a_condition_counts_what_its_own_condition_lets_through_and_says_once_that_it_fails(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.touch()
    assert hits(file, 6, "n", only_if="n % 3 == 0") == [False] * 6
    assert [it.cells for it in rows_in(file) if it.kind == "row"] == [[Cell("0")], [Cell("3")]]
    assert hits(file, 3, "n", only_if="nope > 1") == [False] * 3
    faults = [it.fault for it in rows_in(file) if it.kind == "condition"]
    assert faults == ["NameError: name 'nope' is not defined"]


def test_a_condition_that_cannot_write_stops_so_that_it_can_be_asked(tmp_path: Path) -> None:
    assert hits(tmp_path / "nowhere", 3, "n", only_if="n == 1") == [False, True, False]
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.needs("javascript")
def test_javascript_expressions_are_answered_together_and_fail_each_by_itself() -> None:
    expressions = [
        "a", "nope", "[1, 'x', undefined, null, -0, NaN, 10n]", "new Map([[1, {b: 2}]])", "new Set([1])", "() => 1",
        "new Error('no')", "Array(100).fill(0)", "'y'.repeat(1000)", "(() => { throw 5 })()", "{a: {b: {c: 1}}}",
    ]  # fmt: skip
    asked = javascript_evaluation.build_query(expressions)
    program = f"const a = {{ n: 1, get g() {{ return 2 }} }}; console.log({asked})"
    node = shutil.which("node")
    assert node is not None
    printed = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True).stdout.strip()
    shown = javascript_evaluation.parse_result(f"'{printed}'")
    assert shown[:7] == [
        Cell("{n: 1, g: [getter]}"),
        Cell("ReferenceError: nope is not defined", failed=True),
        Cell('[1, "x", undefined, null, -0, NaN, 10n]'),
        Cell("Map {1 => {b: 2}}"),
        Cell("Set {1}"),
        Cell("[Function ]"),
        Cell("Error: no"),
    ]
    assert shown[7].text.endswith("… (100 in all)]")
    assert shown[8].text.endswith('"… (1000 long)')
    assert shown[9:] == [Cell("5", failed=True), Cell("{a: {b: {c: 1}}}")]


@pytest.mark.parametrize(
    ("expression", "is_one"),
    [
        ("n", False),
        ("len(items) + sum(x for x in items)", False),
        ("names.get('a', [])[0].upper()", False),
        ("items.pop()", True),
        ("(n := 3)", True),
        ("save(n)", True),
        ("n++", True),
        ("total = 4", True),
        ("a === b && c.includes('=')", False),
        ("items.map(it => it.n)", False),
        ("await load()", True),
        ("readings[i] - readings[i - 1]", False),
        ("p->next != 0", False),
        ("(double) total / count", False),
    ],
)
def test_what_may_change_the_program_is_recognised_by_its_text(expression: str, is_one: bool) -> None:
    assert impure_expressions([expression, expression]) == ([expression] if is_one else [])


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("total == sum(prices)", ("total", "prices")),
        ("a.n < len(a.items) and a.items[0] != b.name", ("a.n", "a.items", "a.items[0]", "b.name")),
        ("all(x > 0 for x in rows)", ()),
        ("done", ()),
        ("item !== undefined && item.n > 'x'", ("item", "item.n")),
        ("p->next != NULL", ("p->next",)),
        ("len(first) <= cap(first)", ("first",)),
    ],
)  # fmt: skip
def test_a_claim_is_about_the_values_in_it(claim: str, names: tuple[str, ...]) -> None:
    assert names_in(claim) == names


@pytest.mark.parametrize(
    "shown", ["False", "false", "0", "0x00000000", "(bool) false", "nil", "None", "undefined", "-0.0"]
)
def test_what_debuggers_show_for_false_is_false(shown: str) -> None:
    assert not is_true(Cell(shown))
    assert not is_true(Cell("true", failed=True))
    assert is_true(Cell(f"{shown}1"))


def test_what_a_program_writes_into_the_file_of_its_rows_can_only_spoil_its_own_rows() -> None:
    probe = EvidenceProbe([Tracepoint(path="/a.py", line=1, expressions=("n",))], TraceTable(TraceLimits(hits=3)))
    probe.set_adapter("debugpy")
    row = '["row", 0, 1, [[0, "1"]]]\n'
    with probe.writing_rows():
        (condition,) = [it.condition for it in probe.breakpoints]
        file = Path(ast.literal_eval(condition.rpartition(".stops(")[2].partition(",")[0]))
        file.write_text(f'{row}no json\n[]\n["row", 9, 1, []]\n["row", 0, 1, 5]\n{{"a": 1}}\n\xff\n{row}["row", 0')
        probe.read()
        assert [it.cells for it in probe.table.rows] == [(Cell("1"),)] * 2
        file.unlink()
        probe.read()
    assert not file.exists()
    assert probe.table.hits == 2


SCRIPT = """\
class Shop {
  async open(day) {
    return day;
  }
  static #count = 0;
}
const add = (a, b) => a + b;
const later = async (x) => {

  // comes first
  await x;
};
function total(
  items,
) {
  let sum = 0;
}
exports.run = function () {
  total([]);
};
later(total);
"""


@pytest.mark.parametrize(
    ("function", "line"),
    [("open", 3), ("Shop.open", 3), ("add", 7), ("later", 11), ("total", 16), ("run", 19), ("nothing", None)],
)
def test_a_function_of_javascript_is_found_in_its_source(function: str, line: int | None) -> None:
    assert first_line_of(function, SCRIPT.splitlines()) == line


def test_rows_of_several_points_are_compared_with_those_of_their_own_point() -> None:
    table = TraceTable(TraceLimits())
    for point, text in ((0, "a"), (1, "b"), (0, "a"), (1, "c")):
        table.add(point, 5, [Cell(text)])
    assert [row.changed for row in table.rows] == [(Cell("a"),), (Cell("b"),), (None,), (Cell("c"),)]
    assert [table.hits_of(0), table.hits_of(1), table.threads] == [2, 2, 1]


def test_the_function_inside_a_class_is_found() -> None:
    lines = "class A {\n  run() {\n    a();\n  }\n}\nexport class B {\n  run() {\n    b();\n  }\n}".splitlines()
    assert [first_line_of(it, lines) for it in ("A.run", "B.run", "run", "B.go")] == [3, 8, 3, None]
