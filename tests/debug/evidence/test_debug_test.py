"""What debug_test answers, over real runners."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SUMS = """\
import pytest


def add(a, b):
    return a - b


@pytest.mark.parametrize("n", [0, 2])
def test_adding(n):
    basket = {"n": n}
    assert add(1, basket["n"]) == 1 + n


@pytest.mark.xfail
def test_known_to_fail():
    assert add(0, 1) == 1


def test_raises_as_it_should():
    with pytest.raises(KeyError):
        {}["missing"]
"""
RUN = f"{sys.executable} -m pytest -p no:cacheprovider -q"


async def test_the_failing_assertion_of_pytest_with_what_was_compared_and_the_locals(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("test_sums.py", SUMS)
        answer = await agent.call("debug_test", command=f"{RUN} test_sums.py 2>&1 | tail -3")
    assert (answer["verdict"], answer["failed"]) == ("failed", ["test_sums.py::test_adding[2]"])
    (failure,) = answer["failures"]
    assert failure["exception"]["type"] == "AssertionError"
    assert "assert -1 == (1 + 2)" in failure["exception"]["message"]
    top = failure["frames"][0]
    assert (top["function"], top["line"], top["locals"]["basket"]) == ("test_adding", 11, "{'n': 2}")
    assert len(answer.text) < 800


async def test_what_is_expected_to_fail_or_raise_has_passed_and_the_time_is_reported(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("test_sums.py", SUMS)
        answer = await agent.call("debug_test", command=f"{RUN} test_sums.py -k 'not adding'")
    assert (answer["verdict"], answer.data.get("failures")) == ("passed", None)
    assert answer.text == f"passed in {answer['seconds']} s"


async def test_no_test_and_a_test_that_never_ends_are_reported_as_that(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("test_none.py", "")
        agent.write("test_ever.py", "def test_ever():\n    while True:\n        pass\n")
        none = await agent.call("debug_test", command=f"{RUN} test_none.py")
        ever = await agent.call("debug_test", command=f"{RUN} test_ever.py", timeout_s=3)
    assert (none["verdict"], ever["verdict"], ever["ended"]["limit"]) == ("no tests", "limit", "seconds")


async def test_unittest_by_the_id_of_a_test(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        test = "    def test_it(self):\n        x = 3\n        self.assertEqual(x, 4)\n"
        agent.write("tests_a.py", f"import unittest\n\nclass A(unittest.TestCase):\n{test}")
        answer = await agent.call("debug_test", test="tests_a.A.test_it")
    (failure,) = answer["failures"]
    assert (answer["verdict"], failure["exception"]["message"]) == ("failed", "3 != 4")
    assert (failure["frames"][0]["line"], failure["frames"][0]["locals"]["x"]) == (6, "3")


@pytest.mark.needs("javascript")
async def test_node_where_the_runner_catches_what_is_thrown_in_any_of_its_processes(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    text = """\
const test = require("node:test"), assert = require("node:assert");
test("well", () => { try { JSON.parse("{"); } catch (error) {} });
test("sum", () => {
  const got = [1, 2].reduce((a, b) => a - b);
  assert.strictEqual(got, 3);
});
"""
    async with agent_in(tmp_path) as agent:
        (tmp_path / "test").mkdir()
        agent.write("package.json", '{"scripts": {"test": "FORCE_COLOR=1 node --test test/"}}')
        agent.write("test/sum.test.js", text)
        agent.write("test/well.test.mjs", 'import test from "node:test";\ntest("well", () => {});\n')
        alone = await agent.call("debug_test", test="test/sum.test.js")
        all_of_them = await agent.call("debug_test", command="npm test")
    for answer in (alone, all_of_them):
        assert (answer["verdict"], answer["failed"][:1]) == ("failed", ["sum"])
        (failure,) = answer["failures"]
        assert (failure["frames"][0]["line"], failure["frames"][0]["locals"]["got"]) == (5, "-1")
        assert "x1b" not in answer["ended"]["output"]


@pytest.mark.needs("go")
async def test_go_where_a_failing_test_raises_nothing(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    async with agent_in(tmp_path) as agent:
        agent.write("go.mod", "module sums\n\ngo 1.19\n")
        agent.write("sum.go", "package sums\n\nfunc Add(a, b int) int { return a - b }\n")
        agent.write(
            "sum_test.go",
            'package sums\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tgot := Add(1, 2)\n'
            '\tif got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n',
        )
        answer = await agent.call("debug_test", test="TestAdd")
    assert (answer["verdict"], answer["failed"]) == ("failed", ["TestAdd"])
    (failure,) = answer["failures"]
    own = failure["frames"][0]
    assert (own["line"], own["locals"]["got"]) == (8, "-1")
    assert "got -1" in answer["ended"]["output"]


@pytest.mark.needs("ruby")
async def test_ruby_where_minitest_catches_what_an_assertion_raises(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write(
            "test_sums.rb",
            'require "minitest/autorun"\n\nclass Sums < Minitest::Test\n  def test_adding\n    got = 1 - 2\n'
            "    assert_equal 3, got\n  end\n\n  def test_raising\n    assert_raises(KeyError) { {}.fetch(:a) }\n"
            "  end\nend\n",
        )
        answer = await agent.call("debug_test", test="test_sums.rb")
    assert (answer["verdict"], answer["failed"]) == ("failed", ["Sums#test_adding"])
    (failure,) = answer["failures"]
    assert (failure["frames"][0]["line"], failure["frames"][0]["locals"]["got"]) == (6, "-1")
    assert failure["exception"]["message"].split() == ["Expected:", "3", "Actual:", "-1"]


async def test_debug_test_needs_either_a_known_test_or_a_test_command(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        both = await agent.call("debug_test", test="a.py", command="pytest")
        neither = await agent.call("debug_test", test="something else")
        refused = await agent.call("debug_test", command="make test")
    assert [it["code"] for it in (both, neither, refused)] == ["bad_arguments", "unknown_test", "cannot_debug"]
