"""What debug_test answers about tests that fail in more ways than one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters
from tests.tools.tool_fixture import Answer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

RUN = f"{sys.executable} -m pytest -p no:cacheprovider -q"


async def answered(tmp_path: Path, files: dict[str, str], command: str) -> Answer:
    async with agent_in(tmp_path) as agent:
        for name, text in files.items():
            agent.write(name, text)
        return await agent.call("debug_test", command=command, timeout_s=50)


def failed_places(answer: Answer) -> list[tuple[str, int]]:
    tops = [it["frames"][0] for it in answer["failures"]]
    return [(top["function"].rpartition(".")[2], top["line"]) for top in tops]


SEVERAL = """\
import pytest

class TestBasket:
    def test_one(self):
        count = 1
        assert count == 2

    def test_two(self):
        assert {}["key"]

@pytest.fixture
def server():
    port = 5
    raise OSError("no server")

def test_with_a_server(server):
    pass

@pytest.mark.xfail
def test_known():
    assert False
"""


async def test_of_several_failures_each_is_reported_also_that_of_a_fixture(tmp_path: Path) -> None:
    answer = await answered(tmp_path, {"test_s.py": SEVERAL}, f"{RUN} test_s.py")
    names = ["TestBasket::test_one", "TestBasket::test_two", "test_with_a_server"]
    assert (answer["verdict"], answer["failed"]) == ("failed", [f"test_s.py::{it}" for it in names])
    assert failed_places(answer) == [("test_one", 6), ("test_two", 9), ("server", 14)]
    assert answer["failures"][2]["frames"][0]["locals"] == {"port": "5"}
    assert "@py_" not in answer.text


async def test_where_the_cause_of_a_tests_exception_arose_is_reported_with_its_type(tmp_path: Path) -> None:
    text = "def f():\n    try:\n        {}['a']\n    except KeyError as e:\n        raise ValueError('v') from e\n"
    answer = await answered(tmp_path, {"test_f.py": f"{text}\ndef test_f():\n    f()\n"}, f"{RUN} test_f.py")
    assert answer["failures"][0]["exception"] == {"type": "ValueError", "message": "v"}
    assert [it["line"] for it in answer["failures"][0]["frames"]] == [5, 8]
    [cause] = answer["failures"][0]["caused_by"]
    assert (cause["type"], cause["message"], cause["at"]) == ("KeyError", "'a'", "test_f.py:3 f")


NO_STOP = """\
import sys
import unittest


def test_leaves():
    sys.exit("bye")


def endless(n):
    return endless(n + 1)


def test_overflows():
    endless(0)


def test_asks_for_a_fixture(nothing):
    pass


class TestEach(unittest.TestCase):
    def test_each(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)
"""


async def test_what_no_debugger_stops_at_is_reported_as_pytest_prints_it(tmp_path: Path) -> None:
    answer = await answered(tmp_path, {"test_n.py": NO_STOP}, f"{RUN} test_n.py")
    shown = {
        it["test"].partition("::")[2]: (it["exception"]["type"], it["exception"]["message"], it["frames"][0]["line"])
        for it in answer["failures"]
    }
    assert shown["test_leaves"] == ("SystemExit", "bye", 6)
    overflow, result, _ = shown["test_overflows"]
    assert (overflow, result.partition(" depth")[0]) == ("RecursionError", "maximum recursion")
    assert shown["test_asks_for_a_fixture"] == ("", "fixture 'nothing' not found", 17)
    assert {name for name in shown if "test_each" in name} == {f"TestEach::test_each (n={n})" for n in (1, 2)}


async def test_a_file_of_tests_that_is_not_python_is_reported_with_its_line(tmp_path: Path) -> None:
    answer = await answered(tmp_path, {"test_y.py": "def test_y(:\n    pass\n"}, f"{RUN} test_y.py")
    [failure] = answer["failures"]
    assert (failure["exception"]["type"], failure["frames"][0]["line"]) == ("SyntaxError", 1)
    assert failure["exception"]["message"].startswith("invalid syntax")


async def test_an_exception_while_a_file_is_imported_is_the_failure_of_that_file(tmp_path: Path) -> None:
    files = {"test_i.py": "import rates\n\ndef test_a(): pass\n", "rates.py": "known = {'a': 1}\nrate = known['b']\n"}
    answer = await answered(tmp_path, files, f"{RUN} test_i.py")
    assert (answer["verdict"], answer["failed"], failed_places(answer)) == ("failed", ["test_i.py"], [("<module>", 2)])
    assert [it["file_path"] for it in answer["failures"][0]["frames"]] == ["rates.py", "test_i.py"]
    assert answer["failures"][0]["frames"][0]["values"] == {"known['b']": "!KeyError: 'b'"}


async def test_more_failures_than_are_looked_at_still_come_to_the_verdict_of_the_runner(tmp_path: Path) -> None:
    text = "import pytest\n\n@pytest.mark.parametrize('n', range(70))\ndef test_n(n):\n    assert n < 0\n"
    answer = await answered(tmp_path, {"test_n.py": text}, f"{RUN} test_n.py")
    assert (answer["verdict"], len(answer["failed"]), len(answer["failures"])) == ("failed", 70, 5)
    assert "test_n.py::test_n[14], … (+55)" in answer.text
    assert len(answer.text) < 1500


# As a plugin that measures coverage does it: by taking the place of the debugger.
COVERAGE = """\
import sys

def pytest_addoption(parser):
    parser.addoption("--cov", action="store_true")
    parser.addoption("--no-cov", action="store_true")

def pytest_configure(config):
    if not config.getoption("--no-cov"):
        sys.settrace(lambda *_: None)
"""


async def test_what_measures_coverage_does_not_take_the_debuggers_place(tmp_path: Path) -> None:
    files = {
        "plugins/pytest_cov/__init__.py": COVERAGE,
        "pytest.ini": "[pytest]\naddopts = --cov\n",
        "test_c.py": "def test_c():\n    n = 1\n    assert n == 2\n",
    }
    (tmp_path / "plugins/pytest_cov").mkdir(parents=True)
    answer = await answered(tmp_path, files, f"PYTHONPATH=plugins {RUN} -p pytest_cov test_c.py")
    assert (answer["verdict"], failed_places(answer)) == ("failed", [("test_c", 3)])


async def test_an_id_that_names_no_test_is_reported_as_that(tmp_path: Path) -> None:
    answer = await answered(tmp_path, {"test_c.py": "def test_c(): pass\n"}, f"{RUN} test_c.py::test_other")
    assert answer["verdict"] == "no tests"
    assert "not found" in answer.text


SUBTESTS = """\
import unittest

class Parity(unittest.TestCase):
    def test_even(self):
        for number in range(4):
            with self.subTest(number=number):
                self.assertEqual(number % 2, 0)

    def test_caught(self):
        for number in range(80):
            try:
                int("x")
            except ValueError:
                pass
"""


async def test_each_subtest_of_unittest_that_fails_is_reported_and_what_is_caught_is_not(tmp_path: Path) -> None:
    answer = await answered(tmp_path, {"parity.py": SUBTESTS}, "python3 -m unittest parity.Parity.test_even")
    assert answer["failed"] == [f"test_even (parity.Parity.test_even) (number={it})" for it in (1, 3)]
    assert [it["frames"][0]["locals"]["number"] for it in answer["failures"]] == ["1", "3"]
    calm = await answered(tmp_path, {}, "python3 -m unittest parity.Parity.test_caught")
    assert (calm["verdict"], "failures" in calm.data) == ("passed", False)


NESTED = """\
const { describe, it } = require("node:test"), assert = require("node:assert");
describe("cart", () => {
  describe("totals", () => {
    it("adds", () => { const got = 1; assert.strictEqual(got, 2); });
    it("waits", async () => {
      const later = await Promise.resolve(7);
      assert.strictEqual(later, 8);
    });
    it("is well", () => {});
  });
});
"""


@pytest.mark.needs("javascript")
async def test_nested_tests_of_node_are_reported_once_each(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    answer = await answered(tmp_path, {"cart.test.js": NESTED}, "node --test cart.test.js")
    assert answer["failed"] == ["adds", "waits", "totals", "cart"]
    assert [line for _, line in failed_places(answer)] == [4, 7]
    assert answer["failures"][1]["frames"][0]["locals"]["later"] == "7"


TABLE = """\
package sums

import "testing"

func TestTable(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		n := n
		t.Run("n", func(t *testing.T) {
			if n != 1 {
				t.Fatalf("n is %d", n)
			}
		})
	}
}

func TestPanics(t *testing.T) {
	var list []int
	at := 3
	_ = list[at]
}
"""


@pytest.mark.needs("go")
async def test_subtests_of_go_and_a_test_that_panics(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    files = {"go.mod": "module sums\n\ngo 1.19\n", "table_test.go": TABLE}
    answer = await answered(tmp_path, files, "go test ./...")
    assert answer["failed"] == ["TestTable", "TestTable/n#01", "TestTable/n#02", "TestPanics"]
    assert failed_places(answer) == [("func1", 10), ("func1", 10), ("TestPanics", 19)]
    assert [it["frames"][0]["locals"]["n"] for it in answer["failures"][:2]] == ["2", "3"]
    assert "index out of range" in answer["failures"][2]["exception"]["message"]
