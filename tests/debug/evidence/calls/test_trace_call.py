"""`trace_call` over debugpy: which call, what to run, secrets, and that its answers stay small."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.debug.evidence.calls.test_call_tracer import installed_pythons
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SHOP = """\
class Item:
    def __init__(self, name, cost):
        self.name = name
        self.cost = cost

    def __repr__(self):
        open("touched", "w").close()
        return "item"


def price(item):
    return item.cost


def total(items, rate, password="hunter2hunter2"):
    found = 0
    for item in items:
        found += price(item)
    token = "sk-live-canary-0123456789abcdef"
    return found * (1 - rate)


def fails(n):
    return 10 // n


def spin():
    count = 0
    while True:
        count += 1
"""
APP = """\
import sys
from shop import *

print(total([Item("a", 20), Item("b", 30)], 3))
total([], 0)
if "spin" in sys.argv:
    spin()
for n in (2, 1, 0):
    fails(n)
"""
TESTS = """\
from shop import *


def test_total():
    assert total([Item("a", 20)], 0.5) == 20


def test_fails():
    fails(5)
    fails(0)
"""


def write_shop(agent: Any) -> None:
    agent.write("shop.py", SHOP)
    agent.write("app.py", APP)
    agent.write("test_shop.py", TESTS)


async def test_each_way_to_choose_the_call_and_what_to_run(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        first = await agent.call("trace_call", program="app.py", function="total")
        where = await agent.call("trace_call", program="app.py", function="shop.py:24", where="n < 2")
        failing = await agent.call("trace_call", test="test_shop.py::test_fails", function="fails", call="failing")
        last = await agent.call("trace_call", command="python app.py", function="shop.total", call="last")
    assert (first["call_ended"], first["value"], first["call"]) == ("returned", "-100", 1)
    assert "price(item=Item(name='a', cost=20)) → found = 20" in first.text
    assert first["ended"]["exception"]["type"].endswith("ZeroDivisionError")
    assert first["ended"]["exit_code"] == 1
    assert (where["call"], where["value"]) == (2, "10")
    assert failing["call_ended"] == "raised"
    assert "arguments: n = 0" in failing.text
    assert "raised ZeroDivisionError" in failing.text
    assert "on the stack" not in failing.text
    assert (last["call"], last["value"]) == (2, "0")
    answers = [first, where, failing, last]
    assert all(len(it.text) <= 4000 for it in answers)
    assert statistics.median(len(it.text) for it in answers) <= 1000
    whole = "".join(json.dumps(it.data) + it.text for it in answers)
    assert "hunter2" not in whole
    assert "canary" not in whole
    assert not (tmp_path / "touched").exists()  # which `__repr__` would leave


@pytest.mark.parametrize("python", installed_pythons()[-1:])
async def test_the_newest_python_is_traced_beside_its_debugger(tmp_path: Path, python: str) -> None:
    """From Python 3.12 by `sys.monitoring`, with a tool of its own beside debugpy's."""
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        configuration = {"type": "debugpy", "request": "launch", "name": "x", "python": python}
        configuration["program"] = str(tmp_path / "app.py")
        found = await agent.call("trace_call", configuration=configuration, function="fails", call="failing")
    assert (found["call"], found["call_ended"]) == (3, "raised")
    assert found["error"].startswith("ZeroDivisionError")
    assert found["ended"]["exit_code"] == 1


async def test_a_call_that_never_returns_is_shown_where_it_is(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        found = await agent.call("trace_call", program="app.py", args=["spin"], function="spin", timeout_s=3)
    assert found["call_ended"] == "running"
    assert "still running at line" in found.text
    assert "count = " in found.text


async def test_a_stopped_session_continues_to_the_end_of_the_call(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        agent.write("waits.py", "import time\nfrom shop import *\nx = 1\nfails(5)\ntime.sleep(60)\n")
        point = await agent.call("set_breakpoint", file_path="waits.py", line_number=3)
        assert not point.is_error
        started = await agent.call("start_debugging", program="waits.py")
        found = await agent.call("trace_call", session_id=started["session_id"], function="fails", timeout_s=20)
        await agent.call("stop_debugging", session_id=started["session_id"])
    assert (found["value"], found["session_id"]) == ("2", started["session_id"])


THREADS = """\
import threading
import time
from concurrent.futures import ThreadPoolExecutor


def tick(n):
    return n * 2


def work(n):
    return n + 1


def ticks():
    for n in range(3000):
        tick(n)
        time.sleep(0.01)


threading.Thread(target=ticks, daemon=True).start()
time.sleep(0.1)
with ThreadPoolExecutor(2) as pool:
    pool.submit(work, 41)
time.sleep(1)
"""


async def test_calls_in_threads_are_traced_also_those_that_ran_before(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("threads.py", THREADS)
        new = await agent.call("trace_call", program="threads.py", function="work")
        point = await agent.call("set_breakpoint", file_path="threads.py", line_number=22)
        assert not point.is_error
        started = await agent.call("start_debugging", program="threads.py")
        before = await agent.call("trace_call", session_id=started["session_id"], function="tick")
        await agent.call("stop_debugging", session_id=started["session_id"])
    assert (new["value"], new["call_ended"]) == ("42", "returned"), new.text
    assert before["call_ended"] == "returned", before.text


async def test_a_function_is_found_however_it_is_written_and_what_is_misspelt_is_not_run(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        (tmp_path / "lib").mkdir()
        agent.write("lib/cart.py", "class Cart:\n    def total(self):\n        return 7\n\n\nLIMIT = 5\n")
        agent.write("runs.py", "from lib.cart import Cart\n\nopen('ran', 'w').close()\nCart().total()\n")
        for function in ("lib/cart.py::Cart::total", "cart.py:total()", "def total(self):", "Cart.total(items)"):
            found = await agent.call("trace_call", program="runs.py", function=function)
            assert found["value"] == "7", (function, found.text)
        (tmp_path / "ran").unlink()
        whole = await agent.call("trace_call", program="runs.py", function="totl")
        method = await agent.call("trace_call", program="runs.py", function="lib/cart.py::Cart.totals")
        outside = await agent.call("trace_call", program="runs.py", function="lib/cart.py:6")
        file = await agent.call("trace_call", program="runs.py", function="lib/crt.py::total")
    refused = [whole, method, outside]
    assert [it["code"] for it in refused] == ["no_such_function"] * 3, [it.text for it in refused]
    assert [it["details"]["nearest"][0] for it in refused] == ["total", "total", "Cart.total"]
    assert all("nearest" in it.text and "total" in it.text for it in refused), [it.text for it in refused]
    assert (file["code"], file["details"]["nearest"]) == ("file_not_found", ["lib/cart.py"]), file.text
    assert not (tmp_path / "ran").exists()


async def test_a_misspelt_function_is_refused_in_other_languages_too(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("cart.js", "class Cart {\n  total() {\n    return 1;\n  }\n}\nnew Cart().total();\n")
        agent.write("other.js", "function rate() {\n  return 1;\n}\n")
        whole = await agent.call("trace_call", program="cart.js", function="totl")
        elsewhere = await agent.call("trace_call", program="cart.js", function="cart.js::rate()")
        outside = await agent.call("trace_call", program="cart.js", function="cart.js:6")
    assert [it["code"] for it in (whole, elsewhere, outside)] == ["no_such_function"] * 3
    assert whole["details"]["nearest"] == ["Cart.total"]
    assert elsewhere["details"]["nearest"] == ["rate"]
    assert "in no function" in outside.text


async def test_arguments_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        write_shop(agent)
        for arguments in ({"call": "third"}, {"test": "test_shop.py"}, {"command": "pytest", "session_id": "x"}):
            found = await agent.call("trace_call", program="app.py", function="total", **arguments)
            assert found["code"] == "bad_arguments"
