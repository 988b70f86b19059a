"""`trace_call` in languages without a tracer: by single steps, with the same text."""

from __future__ import annotations

from pathlib import Path

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
        refused = await agent.call("trace_call", program="main.go", function="main.total", call="failing")
    assert "8: found = 50" in first.text, first.text
    assert "by single steps: " in first.text
    assert first["ended"]["exit_code"] == 0
    assert "found = 7" in second.text
    assert spinning["call_ended"] == "running"
    assert "still running at line" in spinning.text
    assert "more steps in lines 15–16" in spinning.text
    assert len(spinning.text) <= 4000
    assert refused["code"] == "bad_arguments"


@pytest.mark.needs("javascript")
async def test_a_javascript_function_is_stepped_through(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("app.js", APP_JS)
        found = await agent.call("trace_call", program="app.js", function="total")
    assert "found = 50" in found.text, found.text
    assert found["ended"]["exit_code"] == 0
