"""What explain_crash answers, over real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.debug.evidence import python_evaluation
from dragoman.debug.evidence.expressions import line_parts
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

ORDERS = """\
import json


class Item:
    def __init__(self, kind, price):
        self.kind, self.price = kind, price


def charge(item, rates):
    try:
        return item.price * rates[item.kind]
    except KeyError as missing:
        raise ValueError("no rate") from missing


def main():
    rates = {"book": 0.07}
    items = [Item("book", 10), Item("film", 20)]
    total = 0
    for item in items:
        total += (
            charge(item, rates) + rates["book"] - items[0].price
        )
    return json.dumps(total)


main()
"""


async def test_a_crash_is_reported_with_its_causes_and_what_each_own_frame_held(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("orders.py", ORDERS)
        answer = await agent.call("explain_crash", program="orders.py")
    assert (answer["crashed"], answer["ended"]["exit_code"]) == (True, 1)
    assert answer["ended"]["exception"] == {"type": "ValueError", "message": "no rate"}
    (led,) = answer["caused_by"]
    assert (led["type"], led["message"], led["at"]) == ("KeyError", "'film'", "orders.py:11 charge")
    failing, caller, module = answer["frames"]
    assert (failing["function"], failing["line"], failing["source"]) == (
        "charge",
        13,
        'raise ValueError("no rate") from missing',
    )
    assert failing["locals"] == {"item": "Item(kind='film', price=20)", "rates": "{'book': 0.07}"}
    assert (caller["function"], caller["locals"]["total"], module["function"]) == ("main", "-9.23", "<module>")
    assert "caused by: KeyError: 'film'" in answer.text
    assert led["locals"] == failing["locals"]
    assert answer.text.count("item = Item(kind='film', price=20), rates = {'book': 0.07}") == 1
    assert len(answer.text) < 1200


async def test_the_values_in_the_line_that_failed_are_reported(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write(
            "app.py",
            "class A:\n    n = 2\na, b = A(), [1, 2]\nc = {'a': [{'b': {'c': 1}}]}\nprint(b[0] / (a.n - b[1]))\n",
        )
        answer = await agent.call("explain_crash", program="app.py")
    values = answer["frames"][0]["values"]
    assert (values["a.n"], values["b[1]"], values["a.n - b[1]"]) == ("2", "2", "0")
    assert values["b[0] / (a.n - b[1])"].startswith("!ZeroDivisionError")
    assert answer["frames"][0]["locals"]["c"] == "{'a': [{'b': {'c': 1}}]}"


async def test_names_that_the_line_binds_for_itself_are_not_reported_as_missing(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("app.py", "items, by = [{'n': 0}], [0]\nprint(by[0] / sum(i['n'] for i in items))\n")
        answer = await agent.call("explain_crash", program="app.py")
    assert answer["frames"][0]["values"] == {"by[0]": "0"}
    assert "NameError" not in answer.text


async def test_a_session_that_stopped_at_an_exception_is_explained_and_left_there(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("app.py", "def f(x):\n    return x['b']\n\nf({'a': 1})\n")
        started = await agent.call("start_debugging", program="app.py")
        answer = await agent.call("explain_crash", session_id=started["stop_event_data"]["session_id"])
        assert (answer["frames"][0]["locals"], answer["state"]) == ({"x": "{'a': 1}"}, "Stopped")
        assert (await agent.call("evaluate_expression", expression="x"))["result"] == "{'a': 1}"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("print('all is well')\n", (False, "exited", 0, None)),
        ("raise SystemExit(3)\n", (True, "exited", 3, None)),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", (True, "exited", -11, "SIGSEGV")),
        ("while True:\n    pass\n", (False, "limit", None, None)),
    ],
    ids=["calm", "exit code", "signal", "endless"],
)
async def test_other_ends_are_reported_as_what_they_are(
    tmp_path: Path, text: str, result: tuple[bool, str, int | None, str | None]
) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("app.py", text)
        answer = await agent.call("explain_crash", program="app.py", timeout_s=4)
    ended = answer["ended"]
    assert (answer["crashed"], ended["how"], ended.get("exit_code"), ended.get("signal")) == result


TASKS = """\
import asyncio

async def work(kind):
    rates = {"book": 1}
    return rates[kind]

async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(work("book"))
        group.create_task(work("film"))

asyncio.run(main())
"""
WORKERS = """\
from concurrent.futures import ProcessPoolExecutor

def work(n):
    return 10 // (n - 2)

if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(list(pool.map(work, [2])))
"""
ENDLESS = """\
def depth(node):
    return 1 + depth(node["next"])

print("begins")
loop = {}
loop["next"] = loop
depth(loop)
"""


async def test_what_a_group_of_tasks_holds_is_reported_with_where_it_was_raised(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("tasks.py", TASKS)
        answer = await agent.call("explain_crash", program="tasks.py")
    assert answer["ended"]["exception"]["type"] == "ExceptionGroup"
    (cause,) = answer["caused_by"]
    assert (cause["type"], cause["message"], cause["at"]) == ("KeyError", "'film'", "tasks.py:5 work")
    assert cause["locals"] == {"kind": "'film'", "rates": "{'book': 1}"}
    assert "caused by: KeyError: 'film' at tasks.py:5 work" in answer.text


async def test_what_a_worker_process_raised_is_reported_with_its_place_there(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("workers.py", WORKERS)
        answer = await agent.call("explain_crash", program="workers.py")
    (cause,) = answer["caused_by"]
    assert (cause["type"], cause["at"]) == ("ZeroDivisionError", "workers.py:4 work")
    assert (answer["frames"][0]["function"], answer["frames"][0]["line"]) == ("<module>", 8)


async def test_at_the_recursion_limit_what_the_program_prints_is_reported(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("endless.py", ENDLESS)
        answer = await agent.call("explain_crash", program="endless.py")
    assert (answer["crashed"], answer["ended"]["exception"]["type"]) == (True, "RecursionError")
    seen = [(it["function"], it["line"]) for it in answer["frames"]]
    assert ("depth", 2) in seen
    assert seen[-1] == ("<module>", 7)
    assert len(seen) < 5
    assert (answer["ended"]["exit_code"], answer["ended"]["output"]) == (1, "begins\n")


def test_of_what_an_exception_holds_every_link_is_reported_and_a_circle_ends() -> None:
    """As the debugger has it evaluate: in a frame with the exception."""

    def raised() -> Exception:
        try:
            try:
                raise KeyError("a")
            except KeyError as error:
                raise ValueError("b") from error
        except ValueError as error:
            return error

    first, second = raised(), OSError("c")
    second.__context__ = first
    first.__context__ = second
    group = ExceptionGroup("all", [first, ExceptionGroup("inner", [second])])
    shown = repr(eval(python_evaluation.build_causes_query(8), {"__exception__": (type(group), group, None)}))
    entries = [(type, text) for type, text, _, _ in python_evaluation.parse_causes(shown)]
    assert entries == [
        ("ValueError", "b"),
        ("ExceptionGroup", "inner (1 sub-exception)"),
        ("KeyError", "'a'"),
        ("OSError", "c"),
    ]


LINES = [
    "total += (",
    "    charge(item, rates) + rates['book']",
    "    - items[0].price)",
    "if a.b > f(c.d):",
    "    x = 1",
]


@pytest.mark.parametrize(
    ("line", "parts"),
    [(2, {"rates['book']", "items[0].price", "items[0]"}), (4, {"a.b", "c.d"}), (5, set()), (9, set())],
)
def test_of_a_python_statement_the_parts_that_do_nothing_when_evaluated_again(line: int, parts: set[str]) -> None:
    assert set(line_parts(LINES, line, "a.py")) == parts


def test_of_another_language_members_and_elements_by_their_looks() -> None:
    line = 'sum += order.lines[i].price * rates[order.kind]; // not.this "nor.that"'
    assert line_parts([line], 1, "a.js") == (
        "order.lines[i].price",
        "order.lines[i]",
        "order.lines",
        "rates[order.kind]",
        "order.kind",
    )
    assert line_parts(["found += p->next->value;"], 1, "a.c") == ("p->next->value", "p->next")


def test_of_ruby_elements_alone_because_a_member_there_is_a_call() -> None:
    assert line_parts(["list[at].drop + queue.pop + rates[order.kind]"], 1, "a.rb") == ("list[at]",)
