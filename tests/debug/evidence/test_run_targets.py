"""The evidence tools take a test or a command as `debug_test` does, and a test by its bare name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools.evidence.commands import command_target
from dragoman.workspace.caller import Caller
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

RUN = f"{sys.executable} -m pytest -p no:cacheprovider -q"
SHOP = """\
def total(prices, rate=0):
    found = 0
    for price in prices:
        found += price
    return found * (1 - rate)
"""
TEST_SHOP = """\
from shop import total


def test_of_two():
    assert total([20, 30], 0.5) == 50


class TestNone:
    def test_of_none(self):
        assert total([]) == 0
"""
POINT = {"file_path": "shop.py", "line_text": "found += price", "expressions": ["price", "found"]}


async def test_every_question_about_a_run_can_be_asked_of_a_test_and_of_a_command(tmp_path: Path) -> None:
    place = {"file_path": "shop.py", "line_text": "found += price"}
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        agent.write("test_shop.py", TEST_SHOP)
        traced = await agent.call("trace", test="test_shop.py::test_of_two", points=[POINT])
        checked = await agent.call("check", command=f"{RUN} test_shop.py", claim="price < 30", **place)
        changed = await agent.call("find_change", test="test_of_two", expression="found", **place)
        compared = await agent.call(
            "compare_runs", test="test_of_two", points=[POINT], against={"test": "TestNone::test_of_none"}
        )
        crashed = await agent.call("explain_crash", command=f"{RUN} test_shop.py -k two")
    assert [it["values"] for it in traced["rows"]] == [{"price": "20", "found": "0"}, {"price": "30", "found": "20"}]
    assert (checked["verdict"], checked["hits"]) == ("broken", 2)
    assert (changed["verdict"], changed["place"], changed["new"]) == ("changed", "shop.py:4", "20")
    assert (compared["verdict"], compared["hits"]) == ("different", [2, 0])
    assert "assert 25.0 == 50" in crashed.text


async def test_a_commit_is_compared_by_the_test_that_failed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True, timeout=30)

    async with agent_in(tmp_path) as agent:
        agent.write("test_shop.py", TEST_SHOP)
        agent.write("shop.py", SHOP.replace("found = 0", "found = -1"))
        git("init", "-q")
        git("add", "shop.py", "test_shop.py")
        git("commit", "-qm", "one")
        agent.write("shop.py", SHOP)
        answer = await agent.call(
            "compare_runs", command=f"{RUN} {tmp_path}/test_shop.py", points=[POINT], against={"commit": "HEAD"}
        )
    assert (answer["verdict"], answer["one"], answer["other"]) == ("different", {"found": "0"}, {"found": "-1"})


async def test_words_besides_a_command_are_its_last_ones(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        agent.write("test_shop.py", TEST_SHOP)
        answer = await agent.call("trace", command=f"{RUN} | tail -3", args=["-k", "none"], points=[POINT])
        both = await agent.call("trace", test="test_of_two", program="shop.py", points=[POINT])
    assert (answer["hits"], answer["ended"]["exit_code"]) == (0, 0)
    assert both["code"] == "bad_arguments"
    assert "exactly one of" in both["message"]


TESTS = {
    "tests/test_cart.py": "class TestCart:\n    def test_sum(self):\n        pass\n\n\ndef test_alone():\n    pass\n",
    "tests/test_other.py": "async def test_sum():\n    pass\n",
    "tests/units.py": "import unittest\nclass A(unittest.TestCase):\n    def test_it(self):\n        pass\n",
    ".hidden/test_no.py": "def test_alone():\n    pass\n",
}


def argv(folder: Path, **given: Any) -> Sequence[str]:
    caller = Caller("agent", folder, folder, environment={"PATH": "/usr/bin"})
    values = {"test": "", "command": "", "cwd": "", "env": {}, **given}
    configuration = command_target(caller, **values).launch_request.configuration
    return [configuration["module"], *configuration["args"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TESTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("test_alone", ["pytest", "tests/test_cart.py::test_alone"]),
        ("test_alone()", ["pytest", "tests/test_cart.py::test_alone"]),
        ("test_alone[a b-[1]]", ["pytest", "tests/test_cart.py::test_alone[a b-[1]]"]),
        ("TestCart::test_sum", ["pytest", "tests/test_cart.py::TestCart::test_sum"]),
        ("TestCart.test_sum", ["pytest", "tests/test_cart.py::TestCart::test_sum"]),
        ("test_other.test_sum", ["pytest", "tests/test_other.py::test_sum"]),
        ("tests.test_cart.TestCart.test_sum", ["pytest", "tests/test_cart.py::TestCart::test_sum"]),
        ("tests.test_other.test_sum", ["pytest", "tests/test_other.py::test_sum"]),
        ("tests.units.A.test_it", ["unittest", "tests.units.A.test_it"]),
        ("tests/test_cart.py::TestCart::test_sum", ["pytest", "tests/test_cart.py::TestCart::test_sum"]),
        ("tests/test_cart.py::test_x[ä→'é\"]", ["pytest", "tests/test_cart.py::test_x[ä→'é\"]"]),
    ],
)
def test_a_test_is_found_by_what_it_is_called(folder: Path, test: str, words: list[str]) -> None:
    assert argv(folder, test=test) == words


def test_a_name_of_several_tests_is_answered_with_their_ids(folder: Path) -> None:
    with pytest.raises(DragomanError) as refused:
        argv(folder, test="test_sum")
    assert refused.value.code == "unknown_test"
    assert str(refused.value.hint) == (
        "Pass one of them: tests/test_cart.py::TestCart::test_sum, tests/test_other.py::test_sum."
    )


def test_a_name_of_no_test_is_not_run(folder: Path) -> None:
    with pytest.raises(DragomanError, match="No test of the folder") as refused:
        argv(folder, test="test_nothing")
    assert refused.value.code == "unknown_test"


def test_a_file_in_lua_is_no_dotted_name_of_python(tmp_path: Path) -> None:
    (tmp_path / "test_words.lua").write_text("assert(false)\n")
    caller = Caller("agent", tmp_path, tmp_path, environment={"PATH": os.environ["PATH"]})
    found = command_target(caller, "test_words.lua", "", "", {}).launch_request
    assert found.program.endswith("test_words.lua") or "test_words.lua" in str(found.configuration), found
    assert "unittest" not in str(found.configuration)
