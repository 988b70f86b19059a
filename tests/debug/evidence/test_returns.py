"""Rows at each return of a function: by a tracer in Python, at `return` statements in other languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SHOP = """\
import asyncio
import threading

calls = []


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        calls.append("compared")
        return True


def total(price):
    calls.append(price)
    if price > 100:
        return price * 0.9
    if price < 0:
        raise ValueError(price)
    rest = Money(price)


def numbers(count):
    yield from range(count)
    return "done"


async def later(value):
    await asyncio.sleep(0)
    return value + 1


def main():
    for price in (10, 200):
        total(price)
    try:
        total(-1)
    except ValueError:
        pass
    thread = threading.Thread(target=total, args=(500,))
    thread.start()
    thread.join()
    list(numbers(2))
    asyncio.run(later(4))
    print(calls)


main()
"""
CART = """\
let asked = 0;
function rate(codes) {
  asked += 1;
  return codes.length * 0.1;
}
function total(price, codes) {
  const each = [1].map((it) => { return it + 1; });
  if (price < 0) { return 0; }
  if (price > 100) {
    return price * (1 - rate(codes));
  }
}
total(10, []);
total(200, ["a"]);
total(-1, []);
console.log(asked);
"""


async def test_python_shows_each_returned_value_and_runs_nothing_of_the_program_for_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        found = await agent.call("trace", program="shop.py", points=[{"returns": "total"}])
        narrow = await agent.call(
            "trace",
            program="shop.py",
            points=[{"returns": "total", "expressions": ["price"], "condition": "__return__ is None"}],
        )
    assert found.text.splitlines() == [
        "total (return): __return__ | price | rest",
        "1 t1 | None | 10 | Money(cents=10)",
        "2 t1 | 180.0 | 200 | -",
        "3 t2 | 450.0 | 500 | =",
        "exit code: 0",
        "| [10, 200, -1, 500]",
    ]
    assert [it["values"] for it in narrow["rows"]] == [{"__return__": "None", "price": "10"}]


async def test_a_generator_and_a_coroutine_return_once_when_they_end(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        found = await agent.call("trace", program="shop.py", points=[{"returns": "numbers"}, {"returns": "later"}])
    assert [(it["point"], it["values"]["__return__"]) for it in found["rows"]] == [(1, "'done'"), (2, "5")]


async def test_a_claim_about_what_is_returned_is_checked(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        broken = await agent.call("check", program="shop.py", returns="total", claim="__return__ is None")
        holds = await agent.call("check", program="shop.py", returns="total", claim="__return__ != 0")
        staying = await agent.call("check", program="shop.py", returns="total", claim="__return__", stop=True)
        unknown = await agent.call("check", program="shop.py", returns="totl", claim="__return__")
    assert (broken["verdict"], broken["hits"], broken["at_break"]) == ("broken", 2, {"__return__": "180.0"})
    assert broken["place"] == "total (return)"
    assert (holds["verdict"], holds["hits"]) == ("holds", 3)
    assert (staying["code"], unknown["code"]) == ("bad_arguments", "no_such_function")


async def test_a_limit_counts_lines_and_returns_together(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        points = [{"returns": "total"}, {"line_text": "calls.append(price)", "expressions": ["price"]}]
        found = await agent.call("trace", program="shop.py", points=points, max_hits=3)
    assert [it["point"] for it in found["rows"]] == [2, 1, 2]
    assert found["ended"]["limit"] == "hits"


@pytest.mark.needs("javascript")
async def test_a_return_that_calls_a_function_is_not_computed_twice(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("cart.js", CART)
        found = await agent.call("trace", program="cart.js", points=[{"returns": "total"}])
        rates = await agent.call("trace", program="cart.js", points=[{"returns": "rate"}])
        refused = await agent.call("check", program="cart.js", returns="total", claim="__return__ >= 0")
    assert [(it["point"], it["values"]["price"]) for it in found["rows"]] == [(3, "10"), (2, "200"), (1, "-1")]
    assert found["rows"][2]["values"]["0"] == "0"
    assert found["ended"]["output"] == "1\n"
    assert rates["rows"][0]["values"]["codes.length * 0.1"] == "0.1"
    assert (refused["code"], "cart.js:10" in refused.text) == ("bad_arguments", True)
