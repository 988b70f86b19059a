"""A tracepoint without expressions: arguments at a function's entry, locals elsewhere, in each language."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.debug.evidence.tracepoints import UNSET, Cell, FrameColumns, parameters_of
from dragoman.debug.model import FrameInfo, VariableInfo
from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SHOP = """\
import os


class Item:
    def __init__(self, name, cost):
        self.name, self.cost = name, cost


class Odd:
    def __repr__(self):
        raise RuntimeError("not yet")


def total(items, rate=0.5):
    found = 0
    for item in items:
        found += item.cost
        if found > 20:
            large = Odd()
    return found * rate


print(total([Item("a", 20), Item("b", 30)]))
"""


async def test_python_shows_arguments_at_the_entry_and_locals_elsewhere(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        entry = await agent.call("trace", program="shop.py", points=["total"])
        inside = await agent.call("trace", program="shop.py", points=[{"line_text": "found += item.cost"}])
        returned = await agent.call("trace", program="shop.py", points=[{"line_text": "return found"}])
        outside = await agent.call("trace", program="shop.py", points=[{"line_text": "print(total"}])
    items = "[Item(name='a', cost=20), Item(name='b', cost=30)]"
    assert entry.text.splitlines()[:2] == ["total: items | rate", f"1 | {items} | 0.5"]
    assert [it["values"] for it in inside["rows"]] == [
        {"items": items, "rate": "0.5", "found": "0", "item": "Item(name='a', cost=20)"},
        {"found": "20", "item": "Item(name='b', cost=30)"},
    ]
    assert returned["points"][0]["expressions"] == ["items", "rate", "found", "item", "large"]
    assert returned["rows"][0]["values"]["large"] == "<Odd>"
    assert (outside["points"][0]["expressions"], outside["hits"]) == ([], 1)


async def test_a_name_that_a_hit_does_not_have_is_shown_as_not_set(tmp_path: Path) -> None:
    text = "def f(n):\n    if n:\n        extra = n\n    return n\n\n\nfor n in (0, 5, 0):\n    f(n)\n"
    async with agent_in(tmp_path) as agent:
        agent.write("a.py", text)
        answer = await agent.call("trace", program="a.py", points=["a.py:4"])
    assert answer.text.splitlines()[:4] == ["a.py:4: n | extra", "1 | 0 | -", "2 | 5 | 5", "3 | 0 | -"]
    assert answer["rows"][2] == {"hit": 3, "values": {"n": "0"}, "errors": {"extra": "not set"}}


async def test_two_runs_are_compared_by_the_names_that_each_has(tmp_path: Path) -> None:
    text = (
        "import sys\n\n\ndef f(n):\n    if n > 1:\n        big = n\n    small = 1\n    return small\n\n\n"
        "for it in sys.argv[1:]:\n    f(int(it))\n"
    )
    async with agent_in(tmp_path) as agent:
        agent.write("a.py", text)
        run = {"program": "a.py", "points": ["a.py:8"]}
        same = await agent.call("compare_runs", args=["1", "2"], **run, against={"env": {"A": "1"}})
        other = await agent.call("compare_runs", args=["1", "2"], **run, against={"args": ["1", "1"]})
    assert (same["verdict"], same["hits"]) == ("same", [2, 2])
    assert (other["verdict"], other["hit"]) == ("different", 2)
    assert (other["one"], other["other"]) == ({"n": "2", "big": "2"}, {"n": "1", "big": "!not set"})


@pytest.mark.needs("javascript")
async def test_javascript_shows_arguments_at_the_entry_and_locals_elsewhere(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    text = (
        "function total(items, rate) {\n  let found = 0;\n  for (const item of items) {\n    found += item.cost;\n  }\n"
        "  const result = found * rate;\n  return result;\n}\nconsole.log(total([{ cost: 20 }, { cost: 30 }], 0.5));\n"
    )
    async with agent_in(tmp_path) as agent:
        agent.write("shop.js", text)
        entry = await agent.call("trace", program="shop.js", points=[{"function": "total"}])
        inside = await agent.call("trace", program="shop.js", points=["shop.js:4"])
    assert entry["points"][0]["expressions"] == ["items", "rate"]
    assert entry["rows"][0]["values"]["rate"] == "0.5"
    assert {"item", "found"} <= set(inside["points"][0]["expressions"])
    assert inside["rows"][1]["values"]["found"] == "20"


@pytest.mark.needs("go")
async def test_go_shows_arguments_at_the_entry_and_locals_elsewhere(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    text = (
        "package main\n\nfunc total(items []int, rate int) int {\n\tfound := 0\n\tfor _, item := range items {\n"
        "\t\tfound += item\n\t}\n\treturn found * rate\n}\n\nfunc main() {\n\tprintln(total([]int{20, 30}, 2))\n}\n"
    )
    async with agent_in(tmp_path) as agent:
        agent.write("go.mod", "module shop\n\ngo 1.19\n")
        agent.write("main.go", text)
        entry = await agent.call("trace", program="main.go", points=[{"function": "main.total"}])
        inside = await agent.call("trace", program="main.go", points=["main.go:6"])
    assert entry["points"][0]["expressions"] == ["items", "rate"]
    assert {"found", "item"} <= set(inside["points"][0]["expressions"])
    assert inside["rows"][1]["values"] == {"found": "20", "item": "30"}


def variables(*names: str) -> list[VariableInfo]:
    return [VariableInfo(name=it, value="0") for it in names]


@pytest.mark.parametrize(
    ("name", "line", "source", "shown"),
    [
        ("pay(long)", 2, ["static void pay(long amount) {", "    long before = balance;"], ["amount"]),
        ("f", 1, ["int f(int amount) { int before = amount; return before; }"], ["amount"]),
        ("Cart.total", 4, ["  total(", "    amount,", "  ) {", "    const before = amount;"], ["amount"]),
        ("elsewhere", 2, ["static void pay(long amount) {", "    long before = 1;"], ["amount", "before"]),
        ("", 9, [], ["amount", "before"]),
    ],
)
def test_the_head_of_a_function_names_its_arguments(name: str, line: int, source: list[str], shown: list[str]) -> None:
    frame = FrameInfo(id=1, name=name, path="/a.c", line=line)
    assert [it.name for it in parameters_of(frame, variables("amount", "before"), source)] == shown


def test_columns_grow_with_the_names_and_have_a_limit() -> None:
    columns = FrameColumns()
    assert columns.cells([("a", Cell("1")), ("b", Cell("broken", failed=True))]) == [Cell("1")]
    assert columns.cells([("b", Cell("2"))]) == [UNSET, Cell("2")]
    columns.cells([(f"n{at}", Cell("0")) for at in range(100)])
    assert len(columns.names) == 20
