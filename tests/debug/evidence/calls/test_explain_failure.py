"""What explain_failure answers, over real runners."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import PATIENCE
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

RUN = f"{sys.executable} -m pytest -p no:cacheprovider -q"
SHOP = """\
def rates(codes, found=[]):
    for code in codes:
        found.append(0.1)
    return found


def total(price, codes):
    rate = sum(rates(codes))
    return round(price * (1 - rate), 2)
"""
TEST_SHOP = """\
from shop import total


def test_the_second_customer_pays_the_whole_price():
    total(100, ["spring"])
    second = total(200, [])
    assert second == 200
"""


def without_seconds(found: dict[str, Any]) -> dict[str, Any]:
    """What two runs of a test have in common: the runner prints how long it took."""
    return {**found, "seconds": 0, "ended": {**found["ended"], "output": ""}}


async def test_a_wrong_result_comes_with_the_call_that_computed_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        agent.write("test_shop.py", TEST_SHOP)
        answer = await agent.call("explain_failure", command=f"{RUN} test_shop.py")
    assert (answer["verdict"], answer["runs"]) == ("failed", 3)
    assert "assert 180.0 == 200" in answer.text
    assert [it["function"] for it in answer["calls"]] == ["total", "rates"]
    assert "rates(codes=[], found=[0.1])" in answer.text
    assert "rate = 0.1" in answer.text
    assert len(answer.text) < 1500


async def test_a_function_of_another_file_with_the_name_of_a_callee_is_not_taken_for_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", "def load(n):\n    own = n + 1\n    return own\n\n\ndef half(n):\n    return load(n)\n")
        agent.write("other.py", "def load(n):\n    strange = n\n    return strange\n")
        test = "import other\nfrom shop import half\n\n\ndef test_half():\n    found = half(6)\n    other.load(9)\n"
        agent.write("test_half.py", test + "    assert found == 3\n")
        answer = await agent.call("explain_failure", command=f"{RUN} test_half.py")
    assert [it["function"] for it in answer["calls"]] == ["half", "load"]
    assert "own = 7" in answer.text
    assert "strange" not in answer.text


async def test_a_crash_comes_with_the_call_that_raised(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write(
            "prices.py",
            "def price_of(line):\n    name, price = line.split('=')\n    return float(price)\n\n\n"
            "def main():\n    for line in ['a=1', 'b=2=3']:\n        print(price_of(line))\n\n\nmain()\n",
        )
        answer = await agent.call("explain_failure", program="prices.py")
    assert (answer["verdict"], answer["crash"]["frames"][0]["function"]) == ("crashed", "price_of")
    assert answer["calls"][0]["function"] == "price_of"
    assert "line = 'b=2=3'" in answer["calls"][0]["text"]
    assert "ValueError: too many values to unpack" in answer.text


async def test_a_hang_is_reported_in_time_with_the_progress_of_its_loop(tmp_path: Path) -> None:
    within_s = 12 + 7 * PATIENCE
    async with agent_in(tmp_path) as agent:
        agent.write(
            "test_search.py",
            "def position(items, wanted):\n    low, high = 0, len(items)\n    while low < high:\n"
            "        middle = (low + high) // 2\n        if items[middle] < wanted:\n            low = middle\n"
            "        else:\n            high = middle\n    return low\n\n\n"
            "def test_position():\n    assert position([1, 3, 5, 7], 6) == 3\n",
        )
        began_s = time.monotonic()
        answer = await agent.call("explain_failure", test="test_search.py", timeout_s=within_s)
        took_s = time.monotonic() - began_s
    assert took_s <= within_s + 2 * PATIENCE
    assert answer["verdict"] == "limit"
    assert [it["function"] for it in answer["calls"]] == ["position"]
    assert "low = 2, high = 3" in answer.text or ("low = 2" in answer.text and "middle = 2" in answer.text)
    assert "still running at line" in answer.text
    assert "waits for an event" not in answer.text  # in which the debugger holds it


async def test_a_failure_that_does_not_come_again_is_reported_as_that(tmp_path: Path) -> None:
    text = "from pathlib import Path\n\n\ndef test_it():\n    seen = Path('seen')\n    runs = len(seen.read_text())\n"
    text += "    seen.write_text('x' * (runs + 1))\n    assert runs != 2\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_rare.py", text)
        agent.write("seen", "")
        once = await agent.call("explain_failure", test="test_rare.py")
        often = await agent.call("explain_failure", test="test_rare.py", repeat=20)
    assert (once["verdict"], once["runs"], often["verdict"]) == ("passed", 1, "failed")
    assert often.text.endswith(f"(run {often['runs']} times)")  # those with the tracer count too
    assert "did not fail again (1 of 1)" in once.text
    assert "repeat: 20" in once.text
    assert "Failed in run 2 of 20." in often.text


async def test_calls_of_a_run_that_did_not_fail_again_are_marked(tmp_path: Path) -> None:
    text = "from pathlib import Path\n\n\ndef count():\n    seen = Path('seen')\n    runs = len(seen.read_text())\n"
    text += "    seen.write_text('x' * (runs + 1))\n    return runs\n\n\ndef test_it():\n    assert count() != 0\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_flaky.py", text)
        agent.write("seen", "")
        answer = await agent.call("explain_failure", test="test_flaky.py")
    assert (answer["verdict"], answer["calls"][0]["function"]) == ("failed", "count")
    assert "The traced run did not fail, so its values may differ:" in answer.text


async def test_of_a_chain_of_exceptions_the_call_that_began_it_is_traced(tmp_path: Path) -> None:
    text = (
        "def total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n\n\ndef test_total():\n    try:\n"
    )
    text += "        total(['a'])\n    except TypeError as error:\n        raise ValueError('bad cart') from error\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_chain.py", text)
        answer = await agent.call("explain_failure", command=f"{RUN} test_chain.py")
    assert "caused by: TypeError: unsupported operand" in answer.text
    assert "[Chained Exc" not in answer.text
    assert [it["function"] for it in answer["calls"]] == ["total"]
    assert "x = 'a'" in answer["calls"][0]["text"]


async def test_a_test_that_workers_of_xdist_run_comes_with_its_calls_too(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write(
            "test_sum.py", "def double(n):\n    return n + n + 1\n\n\ndef test_it():\n    assert double(2) == 4\n"
        )
        answer = await agent.call("explain_failure", command=f"{RUN} -p xdist -n 1 test_sum.py")
    assert "assert 5 == 4" in answer.text
    assert [it["function"] for it in answer["calls"]] == ["double"]


async def test_both_sides_of_an_assertion_are_whole_although_pytest_cuts_them(tmp_path: Path) -> None:
    text = "def numbers(first):\n    return [first + it for it in range(60)]\n\n\n"
    text += "def test_numbers():\n    assert numbers(1000) == [2000 + it for it in range(60)]\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_numbers.py", text)
        answer = await agent.call("explain_failure", command=f"{RUN} test_numbers.py")
        once = await agent.call("debug_test", command=f"{RUN} test_numbers.py")
    assert without_seconds(once.data) == without_seconds(answer["test"])
    for first in (1000, 2000):
        side = str([first + it for it in range(60)])
        assert len(side) > 300
        assert side in answer.text.split("\nat ")[0]


async def test_frames_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    functions = [f"def level{it}(n):\n    return level{it + 1}(n)\n" for it in range(11)]
    async with agent_in(tmp_path) as agent:
        agent.write("deep.py", "\n".join([*functions, "def level11(n):\n    return 1 / n\n\nlevel0(0)\n"]))
        crash = await agent.call("explain_crash", program="deep.py")
        answer = await agent.call("explain_failure", program="deep.py")
    assert [it["function"] for it in crash["frames"]] == [f"level{it}" for it in range(11, 3, -1)]
    assert crash["more_frames"] == 5  # level3 to level0, and the module
    assert crash.data == answer["crash"]
    assert "… 5 more frames" in crash.text
    assert "… 5 more frames" in answer.text


async def test_what_raises_in_a_library_is_not_traced(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("test_asks.py", "def test_asks():\n    input()\n")
        answer = await agent.call("explain_failure", command=f"{RUN} test_asks.py")
    assert "OSError" in answer.text
    assert "calls" not in answer.data


async def test_several_failures_stand_below_the_names_of_their_tests(tmp_path: Path) -> None:
    text = "import pytest\n\n\n@pytest.mark.parametrize('n', ['a - b', '[x]'])\n"
    text += "def test_size(n):\n    assert len(n) == 9\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_size.py", text + "\n\ndef test_key():\n    {}['k']\n")
        answer = await agent.call("debug_test", command=f"{RUN} test_size.py")
    names = ["test_size.py::test_size[a - b]", "test_size.py::test_size[[x]]", "test_size.py::test_key"]
    assert answer["failed"] == names
    assert [it["test"] for it in answer["failures"]] == names
    assert [line for line in answer.text.splitlines() if line.startswith("failed: ")] == [
        f"failed: {it}" for it in names
    ]


async def test_a_doctest_comes_with_expected_and_got_and_the_call_that_computed_it(tmp_path: Path) -> None:
    text = 'def total(items):\n    """Sum.\n\n    >>> total([1, 2])\n    3\n    """\n    return sum(items) + 1\n'
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", text)
        by_pytest = await agent.call("explain_failure", command=f"{RUN} --doctest-modules shop.py")
        plain = await agent.call("explain_failure", command=f"{sys.executable} -m doctest shop.py")
    for answer in (by_pytest, plain):
        assert answer["verdict"] == "failed"
        assert "doctest: total([1, 2])\n  expected: 3\n  got: 4\nat shop.py:4 shop.total" in answer.text
        assert [it["function"] for it in answer["calls"]] == ["total"]


async def test_a_flaky_failure_is_traced_in_a_run_that_fails(tmp_path: Path) -> None:
    text = "from pathlib import Path\n\n\ndef count():\n    seen = Path('seen')\n    runs = len(seen.read_text())\n"
    text += "    seen.write_text('x' * (runs + 1))\n    return runs\n\n\ndef test_it():\n    assert count() % 2 != 0\n"
    async with agent_in(tmp_path) as agent:
        agent.write("test_flaky.py", text)
        agent.write("seen", "")
        answer = await agent.call("explain_failure", test="test_flaky.py")
    assert "returned 2" in answer["calls"][0]["text"]
    assert "did not fail" not in answer.text
    assert answer["runs"] >= 3
