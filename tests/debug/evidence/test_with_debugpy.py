"""The tools for evidence over debugpy: what only a real program can show, and what hostile ones do to it."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.clock import SystemClock
from dragoman.debug.evidence.run import EvidenceService, EvidenceSource
from dragoman.debug.evidence.trace import run_trace
from dragoman.debug.evidence.tracepoints import TraceLimits, Tracepoint
from dragoman.debug.model import LaunchRequest
from tests.daemons import PATIENCE
from tests.debug.evidence.evidence_tools import Agent, agent_in
from tests.tools.tool_fixture import Answer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

BILL = """\
def rate(n):
    return 0.1 if n % 4 else 0.25


def bill(prices):
    total, count, last = 0.0, 0, None
    for i, price in enumerate(prices):
        discount = price * rate(i)
        total += price - discount
        count += 1
        last = price
    return total


def main():
    total = bill([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    assert round(total, 2) == 702.0, f"total is {total}"


main()
"""
VALUES = ["i", "price", "discount", "total", "count"]


async def test_five_values_over_twelve_passes_and_the_failing_assertion_are_one_small_answer(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("bill.py", BILL)
        point = {"line_text": "total += price", "expressions": VALUES}
        answer = await agent.call("trace", program="bill.py", points=[point])
    assert len(answer.text) <= 1200
    assert answer["rows"][8]["values"] == {
        "i": "8", "price": "90", "discount": "22.5", "total": "315.0", "count": "8",
    }  # fmt: skip
    ended = answer["ended"]
    assert (answer["hits"], ended["how"], ended["exit_code"]) == (12, "exception", 1)
    assert ended["exception"] == {"type": "AssertionError", "message": "total is 679.5"}
    assert [(it["function"], it["line"]) for it in ended["frames"]] == [("main", 17), ("<module>", 20)]


async def test_functions_conditions_and_a_stopped_session_that_is_given_back(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("bill.py", BILL)
        await agent.call("set_breakpoint", file_path="bill.py", line_number=6)
        await agent.call("set_breakpoint", file_path="bill.py", line_number=10)
        started = await agent.call("start_debugging", program="bill.py")
        points = [
            {"function": "rate", "expressions": ["n"], "condition": "n > 9"},
            {"line_number": 9, "expressions": ["i"], "condition": "i > 9"},
        ]
        answer = await agent.call("trace", session_id=started["session_id"], points=points, max_hits=3)
        stopped = await agent.call("continue_debugging", session_id=started["session_id"])
    rows = [(it["point"], it["values"]) for it in answer["rows"]]
    assert rows == [(1, {"n": "10"}), (2, {"i": "10"}), (1, {"n": "11"})]
    assert (answer["ended"]["limit"], answer["state"]) == ("hits", "Stopped")
    assert stopped["stop_event_data"]["line"] == 10


async def test_a_claim_breaks_and_a_change_is_found_in_the_new_value(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("bill.py", BILL)
        broken = await agent.call("check", program="bill.py", line_number=10, claim="total < 300", stop=True)
        found = await agent.call(
            "find_change", session_id=broken["session_id"], expression="discount", invariant="discount != 11"
        )
    assert (broken["verdict"], broken["hits"]) == ("broken", 8)
    assert (broken["before"], broken["at_break"]) == ({"total": "243.0"}, {"total": "315.0"})
    assert (found["place"], found["old"], found["new"]) == ("bill.py:8", "10.0", "11.0")
    assert found["source"] == "discount = price * rate(i)"


SHOP = """\
import tax


class Item:
    def price(self, n):
        return n + 1


class Book(Item):
    pass


class Film(Item):
    def price(self, n):
        return n * 10


def total(numbers):
    doubled = [n * 2 for n in numbers]
    return sum(n for n in doubled)


for i in range(2):
    Book().price(i)
    Film().price(i)
print(total([1, 2, 3]), tax.rate(8))
"""


async def test_a_method_is_called_by_its_class_and_a_comprehension_is_not_a_hit_of_its_own(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        agent.write("tax.py", "def rate(n):\n    return n // 2\n")
        points = [
            {"function": "Film.price", "expressions": ["type(self).__name__, n"]},
            {"function": "tax.rate", "expressions": ["n"]},
            {"line_number": 19, "expressions": ["numbers"]},
            {"line_number": 20, "expressions": ["doubled"]},
        ]
        traced = await agent.call("trace", program="shop.py", points=points)
        inherited = await agent.call("check", program="shop.py", function="Book.price", claim="n >= 0")
        await agent.call("set_breakpoint", kind="function", function_name="Film.price", condition="n == 1")
        await agent.call("set_breakpoint", file_path="shop.py", line_number=19)
        stops = [await agent.call("start_debugging", program="shop.py")]
        stops += [await agent.call("continue_debugging") for _ in range(2)]
    assert [it["hits"] for it in traced["points"]] == [2, 1, 1, 1]
    assert traced["rows"][0]["values"] == {"type(self).__name__, n": "('Film', 0)"}
    assert (inherited["verdict"], inherited["hits"]) == ("holds", 2)
    places = [(it.data.get("stop_event_data") or {}).get("line") for it in stops]
    assert places == [14, 19, None]


@pytest.mark.parametrize(
    "subject",
    [
        {"program": "shop.py"},
        {"program": "python3", "args": ["shop.py"]},
        {"program": "pytest", "args": ["shop.py"]},
        {"configuration": {"type": "python", "request": "launch", "module": "shop"}},
        {"configuration_name": "Shop"},
    ],
)
async def test_a_function_that_does_not_exist_is_reported_as_that_however_the_program_is_named(
    tmp_path: Path, subject: dict[str, Any]
) -> None:
    async with agent_in(tmp_path) as agent:
        shop_in(agent)
        for function in ("prices", "Item.cost", "Film.cost", "tax.prices", "total.inner"):
            answer = await agent.call("check", **subject, function=function, claim="True")
            assert (function, answer.is_error, answer["code"]) == (function, True, "no_such_function")


async def test_a_session_of_python_says_which_functions_there_are(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        shop_in(agent)
        await agent.call("set_breakpoint", file_path="shop.py", line_number=19)
        started = await agent.call("start_debugging", program="shop.py")
        broken = await agent.call("set_breakpoint", kind="function", function_name="Film.cost")
        points = [{"function": "prices", "expressions": ["n"]}]
        traced = await agent.call("trace", session_id=started["session_id"], points=points)
        found = await agent.call("set_breakpoint", kind="function", function_name="Film.price")
    assert [(it.is_error, it["code"]) for it in (broken, traced)] == [(True, "no_such_function")] * 2
    assert not found.is_error


def shop_in(agent: Agent) -> None:
    """Beside something that is not Python."""
    agent.write("shop.py", SHOP)
    agent.write("tax.py", "def rate(n):\n    return n // 2\n")
    agent.write("page.js", "")
    named = {"name": "Shop", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/shop.py"}
    (agent.caller.workspace / ".vscode").mkdir()
    agent.write(".vscode/launch.json", json.dumps({"configurations": [named]}))


async def test_a_function_that_may_be_a_librarys_is_run_and_reported_as_not_found_where_it_is_not_reached(
    tmp_path: Path,
) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", f"import textwrap\n{SHOP}textwrap.fill('a')\n")
        agent.write("tax.py", "def rate(n):\n    return n // 2\n")
        points = [{"function": it, "expressions": ["1"]} for it in ("textwrap.fill", "Tape.price")]
        configuration = {"type": "python", "request": "launch", "program": "shop.py", "justMyCode": False}
        traced = await agent.call("trace", configuration=configuration, points=points)
    library, missing = traced["points"]
    assert (library["hits"], library.get("not_bound")) == (1, None)
    assert missing["not_bound"] == "No function in the workspace has this name."


DEEP = """\
def deep(n):
    left = n
    if n:
        deep(n - 1)
        left = -n
    return left

for start in (3, 1):
    deep(start)
"""


async def test_rows_asked_for_at_stops_are_those_that_the_program_writes_down(tmp_path: Path) -> None:
    """Frames below the one that stands there are alive with the same names: values must be those of the right one."""
    async with agent_in(tmp_path) as agent:
        file = str(agent.write("deep.py", DEEP))
        points = [Tracepoint(path=file, line=line, expressions=("n", "left", "[n for _ in 'ab']")) for line in (3, 6)]
        both = [
            await run_trace(
                EvidenceService(agent.service, SystemClock()),
                agent.caller,
                EvidenceSource(launch_request=LaunchRequest(program="deep.py")),
                points,
                TraceLimits(),
                by_stops=by_stops,
            )
            for by_stops in (True, False)
        ]
    stops, written = ([(row.point, row.cells) for row in trace.table.rows] for trace in both)
    assert stops == written
    assert len(stops) == 12
    assert [cells[1].text for point, cells in stops if point == 1] == ["0", "-1", "-2", "-3", "0", "-1"]


AT_ONCE = """\
import threading

together = threading.Barrier(4)

def work(me):
    for n in range(50):
        together.wait()
        seen = me, n

threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


async def test_of_threads_that_come_to_a_place_at_once_no_hit_is_lost(tmp_path: Path) -> None:
    """At stops debugpy would tell one of them, and send all on."""
    async with agent_in(tmp_path) as agent:
        agent.write("at_once.py", AT_ONCE)
        point = {"line_text": "seen = me, n", "expressions": ["(me, n)"]}
        limits = {"max_hits": 500, "max_chars": 20_000}
        answer = await agent.call("trace", program="at_once.py", points=[point], **limits)
    assert (answer["hits"], answer["ended"]["how"], len(answer["rows"])) == (200, "exited", 200)
    found = {row["values"]["(me, n)"] for row in answer["rows"]}
    assert found == {f"({me}, {n})" for me in range(4) for n in range(50)}


HOSTILE = """\
import os, sys, threading

class Loud:
    def __repr__(self):
        return "loud " * 100_000

def leave(n):
    big = list(range(1_000_000))
    loud, text = Loud(), "x" * 5_000_000
    if n == 2:
        os._exit(3)

def spin():
    n = 0
    while True:
        n += 1

def many():
    for n in range(1_000_000):
        pass
    print("done")

def crowd():
    gate = threading.Barrier(4)
    threads = [threading.Thread(target=lambda: [leave(0) for _ in range(3)] + [gate.wait()]) for _ in range(4)]
    [it.start() for it in threads]
    [it.join() for it in threads]

if sys.argv[1] == "leave":
    for n in range(9):
        leave(n)
else:
    globals()[sys.argv[1]]()
"""


async def hostile(agent: Agent, name: str, line: int, *expressions: str, **more: object) -> Answer:
    agent.write("hostile.py", HOSTILE)
    point = {"line_number": line, "expressions": expressions}
    return await agent.call("trace", program="hostile.py", args=[name], points=[point], **more)


async def test_a_program_that_leaves_in_the_middle_has_its_rows_and_huge_values_are_cut(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        answer = await hostile(agent, "leave", 10, "n", "big", "loud", "text", "nope")
    assert (answer["hits"], answer["ended"]) == (3, {"how": "exited", "exit_code": 3})
    first = answer["rows"][0]
    assert first["values"]["big"].endswith("… (1000000 in all)]")
    assert first["values"]["loud"].endswith("… (500000 long)")
    assert first["values"]["text"].endswith("… (5000000 long)")
    assert first["errors"] == {"nope": "NameError: name 'nope' is not defined"}
    assert len(answer.text) < 1500


async def test_of_a_million_hits_so_many_as_asked_for_are_reported_and_the_program_is_ended(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        answer = await hostile(agent, "many", 20, "n", max_hits=50)
        sessions = await agent.call("list_sessions")
    assert (answer["hits"], answer["ended"]["limit"]) == (50, "hits")
    assert answer["ended"]["frames"][0] == {"function": "many", "file_path": "hostile.py", "line": 20}
    assert [it["state"] for it in sessions["sessions"]] == ["Terminated"]


async def test_an_endless_loop_ends_with_the_time_and_says_where_it_was(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        answer = await hostile(agent, "spin", 14, "n", timeout_s=3)
    assert answer["hits"] == 1
    assert (answer["ended"]["how"], answer["ended"]["limit"]) == ("limit", "seconds")
    assert answer["ended"]["frames"][0]["function"] == "spin"


STUCK = """\
import threading

first, second, met = threading.Lock(), threading.Lock(), threading.Barrier(2)


def take(one, other):
    with one:
        met.wait()
        with other:
            pass


def test_transfer():
    value = 1
    worker = threading.Thread(target=take, args=(first, second), name="one", daemon=True)
    worker.start()
    take(second, first)


if __name__ == "__main__":
    test_transfer()
"""


async def test_whatever_times_out_says_where_each_thread_is_and_names_the_deadlock(tmp_path: Path) -> None:
    asked: dict[str, dict[str, object]] = {
        "trace": {"points": [{"line_number": 14, "expressions": ["met"]}]},
        "explain_crash": {},
        "explain_failure": {},
        "find_change": {"expression": "value", "line_number": 15},
    }
    answers: dict[str, Answer] = {}
    async with agent_in(tmp_path) as agent:
        agent.write("test_stuck.py", STUCK)

        async def ask(tool: str, **arguments: object) -> None:
            within_s = 8 if tool == "explain_failure" else 4  # which leaves a share for its second run
            answers[tool] = await agent.call(tool, timeout_s=within_s * PATIENCE, **arguments)

        async with anyio.create_task_group() as group:
            for tool, arguments in asked.items():
                group.start_soon(partial(ask, tool, program="test_stuck.py", **arguments))
            group.start_soon(partial(ask, "debug_test", command=f"{sys.executable} -m pytest test_stuck.py"))
    assert answers.keys() == {*asked, "debug_test"}
    for tool, answer in answers.items():
        ended = answer["ended"]
        assert (tool, ended["how"], ended["limit"]) == (tool, "limit", "seconds")
        assert ended["deadlock"].startswith("Deadlock: "), tool
        assert {it["line_number"] for it in ended["threads"]} == {9}, tool
        assert {it["file_path"] for it in ended["threads"]} == {"test_stuck.py"}, tool
        assert "one waits for a lock held by MainThread: test_stuck.py:9 take" in answer.text, tool


async def test_an_expression_that_never_ends_costs_the_time_that_was_given_and_no_more(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        began = anyio.current_time()
        answer = await hostile(agent, "many", 20, "exec('while True: pass')", timeout_s=3)
        assert anyio.current_time() - began < 30
        (session,) = (await agent.call("list_sessions"))["sessions"]
    assert answer["ended"]["limit"] == "expression"
    assert "never reached" not in answer.text
    assert answer["side_effects"] == ["exec('while True: pass')"]
    assert session["state"] == "Terminated"


async def test_hits_of_several_threads_are_all_reported_with_their_thread(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        answer = await hostile(agent, "crowd", 8, "n")
    assert answer["hits"] == 12
    assert {row["thread"] for row in answer["rows"]} == {1, 2, 3, 4}


CHILDREN = """\
import multiprocessing

def work(n):
    square = n * n
    return square

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(work, range(6))))
"""


async def test_children_say_their_rows_too_and_a_condition_that_fails_says_why(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("children.py", CHILDREN)
        points = [
            {"line_number": 5, "expressions": ["n", "square"]},
            {"line_number": 4, "expressions": ["n"], "condition": "nope > 1"},
        ]
        answer = await agent.call("trace", program="children.py", points=points)
    assert sorted(row["values"]["square"] for row in answer["rows"]) == ["0", "1", "16", "25", "4", "9"]
    assert answer["ended"] == {"how": "exited", "exit_code": 0, "output": "55\n"}
    assert answer["points"][1]["not_bound"] == "The condition failed: NameError: name 'nope' is not defined"


async def test_side_effects_happen_and_are_flagged(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("pop.py", "items = [1, 2, 3]\nfor _ in range(3):\n    pass\nprint(len(items))\n")
        point = {"line_number": 3, "expressions": ["items.pop()", "len(items)"]}
        answer = await agent.call("trace", program="pop.py", points=[point])
    assert answer["side_effects"] == ["items.pop()"]
    assert answer["ended"]["output"] == "0\n"
    assert "may have changed the program: items.pop()" in answer.text


async def test_nothing_is_run_in_a_workspace_that_nobody_trusts(tmp_path: Path) -> None:
    async with agent_in(tmp_path, trusted=False) as agent:
        agent.write("bill.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
        point = {"line_number": 1, "expressions": ["1"]}
        answers = [
            await agent.call("trace", program="bill.py", points=[point]),
            await agent.call("check", program="bill.py", line_number=1, claim="True"),
            await agent.call("find_change", program="bill.py", line_number=1, expression="x"),
        ]
    assert {it["code"] for it in answers} == {"needs_trust"}
    assert not [it for it in agent.caller.workspace.iterdir() if it.name == "ran"]
