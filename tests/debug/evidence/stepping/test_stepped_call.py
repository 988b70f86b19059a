"""`trace_call` in languages without a tracer: by single steps, with the same text."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

MAIN_GO = """\
package main

import "fmt"

func total(prices []int, rate int) int {
	found := 0
	for _, price := range prices {
		found += price
	}
	return found * (1 - rate)
}

func spin() int {
	count := 0
	for count < 100000 {
		count++
	}
	return count
}

func main() {
	fmt.Println(total([]int{20, 30}, 3))
	fmt.Println(total([]int{7}, 0))
	fmt.Println(spin())
}
"""
APP_JS = """\
function total(prices, rate) {
  let found = 0;
  for (const price of prices) {
    found += price;
  }
  return found * (1 - rate);
}

console.log(total([20, 30], 3));
"""


@pytest.mark.needs("go")
async def test_a_go_function_is_stepped_through(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("main.go", MAIN_GO)
        agent.write("go.mod", "module shop\n\ngo 1.19\n")
        first = await agent.call("trace_call", program="main.go", function="main.total")
        second = await agent.call("trace_call", program="main.go", function="main.total", call="2")
        spinning = await agent.call("trace_call", program="main.go", function="main.spin")
        last = await agent.call("trace_call", program="main.go", function="main.go:6", call="last")
        unknown = await agent.call("trace_call", program="main.go", function="main.totals")
    assert "8: found = 50" in first.text, first.text
    assert "returned -100" in first.text
    assert "#2 total(prices=[7], rate=0) → 7" in first.text
    assert first["ended"]["exit_code"] == 0
    assert "found = 7" in second.text
    assert spinning["call_ended"] == "running"
    assert "still running at line" in spinning.text
    assert "more steps in lines 15–16" in spinning.text
    assert len(spinning.text) <= 4000
    assert "Single steps end after 500 steps or 20 s in all." in spinning.text
    assert last["call"] == 2
    assert unknown["code"] == "no_such_function"


@pytest.mark.needs("javascript")
async def test_a_javascript_function_is_stepped_through(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("app.js", APP_JS)
        found = await agent.call("trace_call", program="app.js", function="total")
    assert "found = 50" in found.text, found.text
    assert "returned -100" in found.text
    assert found["ended"]["exit_code"] == 0


MANY_JS = """\
function price(n) {
  const cents = n * 10;
  if (n === 30) {
    throw new Error('no price for ' + n);
  }
  return cents;
}

for (let n = 1; n <= Number(process.argv[2]); n++) {
  price(n);
}
"""


@pytest.mark.needs("javascript")
async def test_the_last_of_many_calls_is_the_last_and_the_failing_one_is_the_one_that_raised(
    tmp_path: Path, home: Path
) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("many.js", MANY_JS)
        last = await agent.call("trace_call", program="many.js", args=["20"], function="price", call="last")
        failing = await agent.call("trace_call", program="many.js", args=["40"], function="price", call="failing")
        returned = await agent.call("trace_call", program="many.js", args=["2"], function="price", call="failing")
        point = await agent.call("set_breakpoint", file_path="many.js", line_number=9)
        assert not point.is_error
        started = await agent.call("start_debugging", program="many.js", args=["20"])
        session = started["session_id"]
        borrowed = await agent.call("trace_call", session_id=session, function="many.js::price", call="last")
    assert (last["call"], last["calls"], last["value"]) == (20, 20, "200"), last.text
    assert (failing["call"], failing["call_ended"]) == (30, "raised"), failing.text
    assert "no price for 30" in failing["error"]
    assert "arguments: n = 30" in failing.text
    assert "No call was on the stack when the run failed" in returned.text
    assert borrowed["call"] == 12
    assert "Not the last call: call 20 came later" in borrowed.text, borrowed.text


TILL_JS = """\
'use strict';

class Till {
  constructor() {
    this.cents = [];
  }

  add(text) {
    const cents = Math.trunc(Number(text) * 100);
    this.cents.push(cents);
  }

  total() {
    return this.cents.reduce((all, one) => all + one, 0);
  }
}

module.exports = { Till };
"""
TILL_TEST_JS = """\
const test = require('node:test');
const assert = require('node:assert');
const { Till } = require('./till');

test('a sum', () => {
  const till = new Till();
  till.add('1.15');
  assert.strictEqual(till.total(), 115);
});
"""


@pytest.mark.needs("javascript")
async def test_a_failing_node_test_shows_the_calls_behind_its_assertion(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("till.js", TILL_JS)
        agent.write("till.test.js", TILL_TEST_JS)
        traced = await agent.call("trace_call", test="till.test.js", function="Till.add")
        found = await agent.call("explain_failure", test="till.test.js")
    assert "arguments: this = {cents=(0) []}, text = '1.15'" in traced.text, traced.text
    assert "10: this.cents = (1) [114]" in traced.text
    assert found["verdict"] == "failed"
    assert found["calls"][0]["function"] == "Till.add"
    assert "cents = 114" in found.text
    assert len(found.text) <= 4000


TREE_C = """\
#include <assert.h>
#include <stddef.h>

struct node {
    int weight;
    struct node *first, *second;
};

static int weigh(const struct node *node)
{
    if (!node)
        return 0;
    int left = weigh(node->first);
    int right = weigh(node->first);
    return node->weight + left + right;
}

int main(void)
{
    struct node small = {7, NULL, NULL}, large = {40, NULL, NULL};
    struct node root = {1, &small, &large};
    assert(weigh(&root) == 48);
    return 0;
}
"""


@pytest.mark.needs("lldb")
async def test_a_failed_assertion_in_c_shows_the_recursion_behind_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("tree.c", TREE_C)
        await anyio.run_process(["cc", "-g", "-O0", "-o", "tree", "tree.c"], cwd=tmp_path)
        found = await agent.call("explain_failure", program="tree")
        traced = await agent.call("trace_call", program="tree", function="weigh")
    assert found["verdict"] == "crashed"
    assert "right = 7" in found.text, found.text
    assert "returned 15" in traced.text, traced.text
    assert "calls in the order they ended (deepest: 3):" in traced.text
    assert "node = {weight=1" in traced.text


GRADES_LUA = """\
local function weight(list)
  sum = 0
  for _, it in ipairs(list) do
    sum = sum + it
  end
  return sum
end

local function average(points, list)
  sum = points
  local weights = weight(list)
  return sum / weights
end

assert(average(300, { 2, 4 }) == 50, "not the average")
"""


@pytest.mark.needs("lua")
async def test_a_lua_error_shows_the_calls_behind_it_with_globals(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("grades.lua", GRADES_LUA)
        found = await agent.call("explain_failure", program="grades.lua")
    assert found["verdict"] == "crashed"
    assert "10: sum = 300; 11: weight(…) → 6; weights = 6, sum = 6" in found.text, found.text
    assert "returned 1" in found.text


SHELF_RB = """\
def chunks(books, size)
  full = books.length / size
  (0...full).map { |at| books[at * size, size] }
end

found = chunks([1, 2, 3, 4], 3)
raise "#{found.length} chunks" unless found.length == 2
"""


@pytest.mark.needs("ruby")
async def test_a_ruby_error_shows_the_calls_behind_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shelf.rb", SHELF_RB)
        found = await agent.call("explain_failure", program="shelf.rb")
    assert found["verdict"] == "crashed"
    assert "full = 1" in found.text, found.text
    assert "returned [[1, 2, 3]]" in found.text


LOAD_GO = """\
package load

func share(used, slots int) float64 {
	part := used / slots
	return float64(part)
}

func Busy(used []int) int {
	count := 0
	for _, one := range used {
		if share(one, 100) > 0.8 {
			count++
		}
	}
	return count
}
"""
LOAD_TEST_GO = """\
package load

import "testing"

func TestBusy(t *testing.T) {
	if got := Busy([]int{90, 10}); got != 1 {
		t.Fatalf("got %d", got)
	}
}
"""


@pytest.mark.needs("go")
async def test_a_failing_go_test_shows_the_calls_behind_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("load.go", LOAD_GO)
        agent.write("load_test.go", LOAD_TEST_GO)
        agent.write("go.mod", "module load\n\ngo 1.19\n")
        found = await agent.call("explain_failure", test="TestBusy")
    assert found["verdict"] == "failed"
    assert "share(used=90, slots=100) → 0" in found.text, found.text
    assert "part = 0" in found.text
