"""Commands that an agent runs: at once in a terminal of its own, and in a person's by that person's key alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText
from dragoman.tools import waits
from tests.tools.terminal.terminal_tool_fixture import Answer, Bench, opened

pytestmark = pytest.mark.anyio


async def refusal(bench: Bench, **arguments: Any) -> str:
    with pytest.raises(DragomanError) as refused:
        await bench.call("run_in_terminal", **arguments)
    return refused.value.code


async def test_a_command_runs_in_a_terminal_of_its_own_which_is_used_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        first = await bench.call("run_in_terminal", command="make")
        second = await bench.call("run_in_terminal", command="make test")
        named = await bench.call("run_in_terminal", command="again", terminal="own1")
    assert [it["status"] for it in (first, second, named)] == ["completed"] * 3
    assert (first["terminal"], first["command"]["exit_code"], first["output"]) == ("own1", 0, "printed")
    assert bench.own.opened[0].typed == ["make", "make test", "again"]
    assert "| printed" in first.text


async def test_still_running_at_the_deadline_is_an_answer_and_waiting_continues(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        own = bench.own.opened[0]
        own.ends = False
        running = await bench.call("run_in_terminal", command="sleep 100", timeout_s=0.05)
        so_far = await bench.call("get_command_output", command_id=running["command"]["command_id"])
        still = await bench.call("wait_for_command", timeout_s=0.05)
        busy = await refusal(bench, command="other", terminal="own1")
        await bench.finish("own1", 3)
        done = await bench.call("wait_for_command")
    assert [it["status"] for it in (running, still, done)] == ["running", "running", "completed"]
    assert running["output"] == so_far["output"] == "so far"
    assert so_far["command"]["command"] == "sleep 100"
    assert "wait_for_command" in running.text
    assert busy == "terminal_busy"
    assert (done["command"]["command"], done["command"]["exit_code"]) == ("sleep 100", 3)


async def test_each_answer_has_only_what_no_answer_has_shown_yet(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        bench.own.opened[0].ends = False
        began = await bench.call("run_in_terminal", command="serve", timeout_s=0)
        await bench.printed("own1", b"first\r\n")
        waited = await bench.call("wait_for_command", timeout_s=0)
        quiet = await bench.call("wait_for_command", terminal="own1", timeout_s=0)
        await bench.printed("own1", b"second\r\n")
        typed = await bench.call("run_in_terminal", interrupt=True)
        again = await bench.call("wait_for_command")
        whole = await bench.call("get_command_output", command_id=again["command"]["command_id"])
        bench.own.opened[0].is_at_prompt = True
        other = await bench.call("run_in_terminal", command="other", timeout_s=0)
    assert [it["output"] for it in (began, waited, quiet, typed, again)] == ["so far", "first", "", "second", ""]
    assert (again["status"], whole["output"]) == ("completed", "so far\nfirst\nsecond")
    assert "No new output; get_command_output has" in again.text
    assert "No new output" not in typed.text
    assert other["output"] == "so far"


async def test_what_a_person_runs_is_reported_from_its_beginning(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.person("t")
        await bench.ran("t", "make", b"made\r\n", 0)
        both = [await bench.call("wait_for_command", terminal="t") for _ in range(2)]
    assert [it["output"] for it in both] == ["made", "made"]


async def test_what_runs_is_typed_into_and_interrupted(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        own = bench.own.opened[0]
        own.ends = False
        await bench.call("run_in_terminal", command="read x", timeout_s=0)
        answered = await bench.call("run_in_terminal", input="yes\n")
        own.is_at_prompt = True
        await bench.call("run_in_terminal", command="sleep 100", timeout_s=0)
        ended = await bench.call("run_in_terminal", interrupt=True)
    assert (answered["status"], answered["command"]["exit_code"]) == ("completed", 0)
    assert (ended["status"], ended["command"]["exit_code"]) == ("completed", 130)
    assert own.typed == ["true", "read x", "yes\r", "sleep 100", "^C"]


async def test_another_one_is_opened_while_the_first_is_busy(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        bench.own.opened[0].reserved = True
        assert (await bench.call("run_in_terminal", command="true"))["terminal"] == "own2"


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"command": "a", "input": "b"}, {"command": "a", "interrupt": True}, {"command": "  \n"},
        {"command": "a", "keys": ["up"]}, {"interrupt": True, "keys": ["up"]},
        {"command": "echo \x1b[201~; rm x"}, {"command": "echo \x03"}, {"command": "a\rb"}, {"command": "a\x9bb"},
    ],
)  # fmt: skip
async def test_what_is_not_a_command_line_is_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    async with opened(tmp_path) as bench:
        assert await refusal(bench, **arguments) == "bad_arguments"
        assert bench.own.opened == []


async def test_without_trust_in_the_workspace_nothing_runs(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.own.trusted = False
        assert await refusal(bench, command="make") == "needs_trust"
        assert bench.own.opened == []
        bench.caller = replace(bench.caller, trusts_workspace=True)
        assert (await bench.call("run_in_terminal", command="make"))["status"] == "completed"


async def test_trust_that_was_taken_back_counts_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="make")
        bench.own.trusted = False
        assert await refusal(bench, command="make", terminal="own1") == "needs_trust"
        assert await refusal(bench, input="x", terminal="own1") == "needs_trust"
        assert bench.own.opened[0].typed == ["make"]


async def test_a_terminal_of_another_client_is_neither_used_nor_typed_into(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        bench.caller = replace(bench.caller, id="agent-2")
        assert await refusal(bench, command="x", terminal="own1") == "not_yours"
        assert await refusal(bench, keys=["ctrl-c"], terminal="own1") == "not_yours"
        assert (await bench.call("run_in_terminal", command="true"))["terminal"] == "own2"
        listed = (await bench.call("list_terminals"))["terminals"]
    assert {it["terminal"]: it["yours"] for it in listed} == {"own1": False, "own2": True}


async def test_each_conversation_of_the_chat_has_terminals_of_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        for conversation in ("one", "two", "one"):
            bench.caller = replace(bench.caller, conversation=conversation)
            await bench.call("run_in_terminal", command="true")
    assert [len(it.typed) for it in bench.own.opened] == [2, 1]


async def test_what_another_workspace_runs_is_not_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("elsewhere", {"cwd": "/home/x"})
        await bench.ran("elsewhere", "make", b"private\r\n", 0)
        assert (await bench.call("wait_for_command", terminal="elsewhere"))["output"] == "private"
        bench.caller = replace(bench.caller, sees_every_workspace=False)
        with pytest.raises(DragomanError) as refused:
            await bench.call("wait_for_command", terminal="elsewhere")
    assert refused.value.code == "not_yours"


async def test_keys_go_after_input_and_an_unknown_one_goes_nowhere(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        await bench.call("run_in_terminal", input="x", keys=["up", "Ctrl+D", "enter", "f5", "é"], timeout_s=0)
        assert bench.own.opened[0].typed[1:] == ["x\x1b[A\x04\r\x1b[15~é"]
        bench.own.opened[0].application_keys = True
        await bench.call("run_in_terminal", keys=["up", "shift-tab"], timeout_s=0)
        assert bench.own.opened[0].typed[2:] == ["\x1bOA\x1b[Z"]
        assert await refusal(bench, keys=["enter", "any-key"]) == "unknown_key"
        assert len(bench.own.opened[0].typed) == 3


async def test_a_terminal_of_another_workspace_is_not_typed_into(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("run_in_terminal", command="true")
        bench.caller = replace(bench.caller, workspace=tmp_path)
        assert await refusal(bench, command="x", terminal="own1") == "not_yours"
        assert await refusal(bench, interrupt=True, terminal="own1") == "not_yours"
        assert await refusal(bench, interrupt=True) == "no_terminal"


# In a person's terminal.


async def test_a_person_is_shown_the_command_and_its_result_is_awaited(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        person = await bench.person("t")
        await bench.ran("t", "before", b"", 0)
        running = await bench.call("run_in_terminal", command="make", terminal="t", timeout_s=0.05)
        await bench.ran("t", "another", b"not this\r\n", 0)
        await bench.ran("t", "make", b"made\r\n", 0)
        done = await bench.call("wait_for_command", terminal="t")
    assert [(it.command, it.by) for it in person.asked] == [("make", "agent-1")]
    assert running["status"] == "idle"
    assert (done["command"]["command"], done["output"]) == ("make", "made")
    assert bench.own.opened == []


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        ("make", ["make"]),
        ("cd src\nmake", ["cd src", "make"]),
        ("for i in 1\ndo echo $i\ndone", ["for i in 1; do echo $i; done"]),
        ("export API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345; make", None),
    ],
)
async def test_what_a_person_allowed_to_run_is_recognised_as_the_shell_reports_it(
    tmp_path: Path, asked: str, result: list[str] | None
) -> None:
    answers: list[Answer] = []
    async with opened(tmp_path) as bench:
        person = await bench.person("t", "")

        async def run() -> None:
            answers.append(await bench.call("run_in_terminal", command=asked, terminal="t", timeout_s=8))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            with anyio.fail_after(5):
                while not person.asked:
                    await anyio.lowlevel.checkpoint()
            await bench.ran("t", "ls", b"not this\r\n", 0)
            bench.wrappers.answered(person, person.asked[0].id, "accepted")
            for line in result or [asked]:
                await bench.ran("t", line, f"{line[-4:]}\r\n".encode(), 0)
    assert answers[0]["status"] == "completed"
    assert answers[0]["output"] == (result or [asked])[-1][-4:]


@pytest.mark.parametrize(
    ("text", "status"),
    [("refused", "refused"), ("", "no_answer"), ("no_answer", "no_answer"), ("yes please", "refused")],
)
async def test_without_the_persons_key_nothing_runs(tmp_path: Path, text: str, status: str) -> None:
    async with opened(tmp_path) as bench:
        person = await bench.person("t", text)
        answer = await bench.call("run_in_terminal", command="make", terminal="t", timeout_s=0.05)
    assert answer["status"] == status
    assert answer["command"] is None
    assert len(person.asked) == 1
    assert len(person.withdrawn) == (not text)


async def test_keys_cannot_be_pressed_in_a_persons_terminal(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        person = await bench.person("t")
        assert await refusal(bench, input="y", terminal="t") == "not_yours"
        assert await refusal(bench, interrupt=True, terminal="t") == "not_yours"
        await bench.terminal("foreign")
        assert await refusal(bench, command="x", terminal="foreign") == "cannot_ask"
        assert await refusal(bench, command="x", terminal="nowhere") == "unknown_terminal"
        await bench.person("unmarked", "cannot")
        assert await refusal(bench, command="x", terminal="unmarked") == "cannot_ask"
    assert person.asked == []


async def test_the_next_command_of_a_person_can_be_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.person("t")
        await bench.ran("t", "before", b"", 0)
        last = await bench.call("wait_for_command", terminal="t")
        none = await bench.call("wait_for_command", terminal="t", next=True, timeout_s=0.02)
    assert last["command"]["command"] == "before"
    assert none["status"] == "idle"


async def test_a_client_that_asks_for_progress_is_notified_while_the_wait_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "PROGRESS_EVERY_S", 0.01)
    received: list[str] = []

    async def receive(waited: float, most: float, what: LocalizedText) -> None:
        assert waited <= most
        received.append(str(what))

    async with opened(tmp_path) as bench:
        bench.caller = replace(bench.caller, progress=receive)
        await bench.call("run_in_terminal", command="true")
        bench.own.opened[0].ends = False
        await bench.call("run_in_terminal", command="sleep 9", timeout_s=0.1)
    assert received[0] == "Waiting for the command in own1."
