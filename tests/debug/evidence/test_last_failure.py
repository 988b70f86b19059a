"""What debug_last_failure makes of commands that a terminal has on record."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.terminal.model import RecordedCommand
from tests.debug.evidence.evidence_tools import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


def failed(agent: Agent, line: str, *, code: int = 1, verified: bool = True) -> RecordedCommand:
    command = RecordedCommand(
        id=f"t1:{len(agent.typed.failed)}", terminal="t1", line=line, cwd=str(agent.caller.workspace),
        started_ns=1, ended_ns=2, exit_code=code, verified=verified,
    )  # fmt: skip
    agent.typed.failed.append(command)
    return command


async def test_a_program_that_failed_is_explained(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("app.py", "import sys\nprices = {'tea': 3}\nprint(prices[sys.argv[1]])\n")
        failed(agent, f"{sys.executable} app.py coffee 2>&1 | tail")
        answer = await agent.call("debug_last_failure")
    assert (answer["fails_again"], answer["failed_with"]) == (True, 1)
    assert answer["crash"]["ended"]["exception"] == {"type": "KeyError", "message": "'coffee'"}
    assert answer["crash"]["frames"][0]["values"]["sys.argv[1]"] == "'coffee'"
    assert answer.text.startswith(f"$ {sys.executable} app.py coffee")


async def test_explain_failure_without_arguments_explains_the_last_failed_command(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", "def total(price):\n    return price * 2\n")
        agent.write("test_shop.py", "from shop import total\n\n\ndef test_total():\n    assert total(20) == 20\n")
        failed(agent, f"{sys.executable} earlier.py")
        command = failed(agent, f"{sys.executable} -m pytest -q -p no:cacheprovider test_shop.py 2>&1 | tail -3")
        answer = await agent.call("explain_failure")
        once = await agent.call("debug_last_failure")
    assert once["test"]["failures"] == answer["test"]["failures"]
    assert (answer["verdict"], answer["command"], answer["command_id"]) == ("failed", command.line, command.id)
    assert answer.text.startswith(f"$ {command.line}\nfailed in ")
    assert "assert 40 == 20" in answer.text
    assert [(it["function"], "price = 20" in it["text"]) for it in answer["calls"]] == [("total", True)]


async def test_failed_tests_are_reported_as_tests_and_a_fixed_one_as_fixed(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        file = agent.write("test_app.py", "def test_it():\n    x = 1\n    assert x == 2\n")
        failed(agent, f"{sys.executable} -m pytest -q -p no:cacheprovider test_app.py")
        again = await agent.call("debug_last_failure")
        file.write_text("def test_it():\n    pass\n")
        mended = await agent.call("debug_last_failure", command_id="t1:0")
    assert (again["fails_again"], again["test"]["failed"]) == (True, ["test_app.py::test_it"])
    assert (mended["fails_again"], mended["test"]["verdict"]) == (False, "passed")
    assert "It did not fail this time." in mended.text


async def test_what_was_perhaps_never_typed_is_not_run_nor_what_is_not_whole(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        nothing = await agent.call("debug_last_failure")
        forged = failed(agent, f"{sys.executable} evil.py", verified=False)
        still_nothing = await agent.call("debug_last_failure")
        by_id = await agent.call("debug_last_failure", command_id=forged.id)
        failed(agent, "TOKEN=<redacted 40 chars> python app.py")
        secret = await agent.call("debug_last_failure")
        failed(agent, "make all", code=2)
        make = await agent.call("debug_last_failure")
    assert [it["code"] for it in (nothing, still_nothing)] == ["no_failure", "no_failure"]
    assert [it["code"] for it in (by_id, secret, make)] == ["cannot_debug"] * 3
    assert "may never have been typed" in by_id.text
    assert "secret" in secret.text
