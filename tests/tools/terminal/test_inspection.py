"""Terminals, commands, outputs and screens as an agent is shown them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.terminal.answers.question import midnight_ns
from dragoman.terminal.model import AGENT, UNVERIFIED, CommandReport
from dragoman.terminal.screen import SIZE
from tests.tools.terminal.terminal_tool_fixture import opened

pytestmark = pytest.mark.anyio


async def test_the_list_of_the_tools_is_short_enough_for_an_agent_to_pay_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        tools = bench.toolbox.tools
    entries = [json.dumps([it.name, it.title, it.description, it.input_schema], separators=(",", ":")) for it in tools]
    declared = [json.dumps(it.output_schema, separators=(",", ":")) for it in tools]
    assert [it.set for it in tools] == ["terminal"] * 7
    assert len("".join(entries)) <= 4500
    assert len("".join(declared)) <= 6500


async def test_terminals_are_listed_with_owner_and_running_command(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("left")
        await bench.ran("left", "make", b"ok\r\n", 0)
        await bench.service.end("left", bench.next_ms(), 0)
        bench.service.disconnected("left")
        await bench.terminal("mine")
        await bench.call("run_in_terminal", command="true")
        await bench.service.command_began("mine", bench.next_ms(), "sleep 100")
        live = await bench.call("list_terminals")
        everything = await bench.call("list_terminals", ended=True)
    assert {it["terminal"]: (it["owner"], it["state"]) for it in everything["terminals"]} == {
        "own1": ("agent", "live"),
        "mine": ("person", "live"),
        "left": ("person", "ended"),
    }
    assert "left" not in [it["terminal"] for it in live["terminals"]]
    (mine,) = [it for it in live["terminals"] if it["terminal"] == "mine"]
    assert mine["running"]["command"] == "sleep 100"
    assert "sleep 100" in live.text


async def test_a_line_of_the_list_names_the_terminal_its_owner_its_folder_and_its_command(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("gone")
        bench.service.disconnected("gone")
        await bench.terminal("old", {AGENT: "helper", "cwd": "/src"})
        await bench.service.end_with_reason("old", "client_left")
        await bench.terminal("ann", {"cwd": "/home/ann", "shell": "/bin/bash"})
        await bench.ran("ann", "cd /src/app && make test", b"", 2, cwd="/src/app")
        await bench.call("run_in_terminal", command="true")
        await bench.terminal("busy", {AGENT: "another", "cwd": "/tmp"})
        await bench.service.command_began("busy", bench.next_ms(), "npm run " + "x" * 300)
        live = await bench.call("list_terminals")
        everything = await bench.call("list_terminals", ended=True)
    lines = {line.split("  ")[0]: line for line in live.text.split("\n")}
    assert re.fullmatch(r"ann  person  /src/app  exit 2, \d+ d ago  \| cd /src/app && make test", lines["ann"])
    assert re.fullmatch(r"own1  yours  \S+  exit 0, \d+ d ago  \| true", lines["own1"])
    assert re.fullmatch(r"busy  agent  another  /tmp  running for \d+ d  \| npm run x{112}…", lines["busy"])
    assert live.text.endswith("2 more are not listed.")
    assert not {"gone", "old"} & lines.keys()
    assert "old  agent  helper  ended: client_left  /src" in everything.text
    assert "gone  person  lost" in everything.text
    (own,) = [it for it in live["terminals"] if it["yours"]]
    assert (own["terminal"], own["last"]["exit_code"]) == ("own1", 0)


async def test_a_list_without_open_terminals_counts_the_ended_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        nothing = await bench.call("list_terminals")
        await bench.terminal("t")
        await bench.service.end("t", bench.next_ms(), 0)
        bench.service.disconnected("t")
        ended = await bench.call("list_terminals")
    assert "Open one with `dragoman shell`" in nothing.text
    assert ended.text == "No terminal is open.\n1 more are not listed."


async def test_commands_are_found_by_words_folder_failure_and_age(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        await bench.ran("t", "make all", b"done\r\n", 0, cwd="/src/app")
        await bench.ran("t", "pytest -x", b"1 failed\r\n", 1, cwd="/src/app/tests")
        await bench.ran("t", "pytest -x", b"1 passed\r\n", 0, cwd="/elsewhere")
        by_word = await bench.call("search_commands", query="pytest")
        failed = await bench.call("search_commands", failed=True)
        below = await bench.call("search_commands", cwd="/src/app")
        old = await bench.call("search_commands", since="1h")
        none = await bench.call("search_commands", query="nothing like it")
    assert [it["cwd"] for it in by_word["commands"]] == ["/elsewhere", "/src/app/tests"]
    assert [(it["command"], it["exit_code"]) for it in failed["commands"]] == [("pytest -x", 1)]
    assert [it["command"] for it in below["commands"]] == ["pytest -x", "make all"]
    assert old["commands"] == none["commands"] == []
    assert "exit 1" in failed.text


async def test_what_is_asked_of_a_command_counts_for_its_output_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        for number in range(30):
            await bench.ran("t", f"run {number}", b"a common word\r\n", number % 10 == 3, cwd=f"/home/{number % 2}")
        await bench.service.record("t", "output", bench.next_ms(), b"a common word at a prompt\r\n")
        every = await bench.call("search_commands", query="common", limit=100)
        failed = await bench.call("search_commands", query="common", failed=True)
        there = await bench.call("search_commands", query="common", cwd="/home/0", limit=100)
        none = await bench.call("search_commands", query="common", since="1d")
    assert len(every["output_hits"]) == 31
    assert [hit["command_id"] for hit in failed["output_hits"]] == ["t:24", "t:14", "t:4"]
    assert len(there["output_hits"]) == 15
    assert none["output_hits"] == []


async def test_a_relative_folder_starts_at_the_clients_folder(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        await bench.ran("t", "here", b"", 0, cwd=str(bench.caller.cwd / "sub"))
        await bench.ran("t", "home", b"", 0, cwd="/home/x/y")
        assert [it["command"] for it in (await bench.call("search_commands", cwd="."))["commands"]] == ["here"]
        assert [it["command"] for it in (await bench.call("search_commands", cwd="~"))["commands"]] == ["home"]


async def test_what_does_not_fit_is_read_on_from_where_the_answer_says(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        for number in range(7):
            await bench.ran("t", f"echo {number}", b"", 0)
        first = await bench.call("search_commands", limit=3)
        second = await bench.call("search_commands", limit=3, before=first["next_before"])
        third = await bench.call("search_commands", limit=3, before=second["next_before"])
    shown = [it["command"] for page in (first, second, third) for it in page["commands"]]
    assert shown == [f"echo {number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    assert third["next_before"] is None
    assert first["next_before"] in first.text


@pytest.mark.parametrize("since", ["tomorrow", "3 fortnights", "2026-13-01", "\x1b[2J"])
async def test_an_invalid_moment_is_refused_with_how_to_write_it(tmp_path: Path, since: str) -> None:
    async with opened(tmp_path) as bench:
        with pytest.raises(DragomanError) as refused:
            await bench.call("search_commands", since=since)
    assert refused.value.code == "bad_date"
    assert str(refused.value.message).isprintable()


async def test_an_output_is_read_in_pages_that_end_with_lines_and_miss_nothing(tmp_path: Path) -> None:
    lines = [f"\x1b[3{number % 8}m{number} 中文 {'x' * (number % 50)}\x1b[0m" for number in range(300)]
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        command = await bench.ran("t", "build", "\r\n".join(lines).encode() + b"\r\n", 0)
        page = await bench.call("get_command_output", command_id=command.id, part="head", limit=1000)
        read = [page["output"]]
        while page["next_offset"] is not None:
            assert str(page["next_offset"]) in page.text
            page = await bench.call("get_command_output", command_id=command.id, offset=page["next_offset"], limit=1000)
            read.append(page["output"])
        tail = await bench.call("get_command_output", command_id=command.id, limit=1000)
    assert len(read) > 10
    assert "\n".join(read) == "\n".join(f"{number} 中文 {'x' * (number % 50)}".rstrip() for number in range(300))
    assert tail["output"].split("\n")[-1] == f"299 中文 {'x' * 49}"
    assert all(line.split(" ")[0].isdigit() for line in tail["output"].split("\n"))


async def test_without_an_id_the_last_command_is_meant(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        with pytest.raises(DragomanError, match="No command is recorded"):
            await bench.call("get_command_output")
        await bench.terminal("a")
        await bench.terminal("b")
        await bench.ran("a", "first", b"of a\r\n", 0)
        await bench.ran("b", "second", b"of b\r\n", 0)
        assert (await bench.call("get_command_output"))["output"] == "of b"
        assert (await bench.call("get_command_output", terminal="a"))["output"] == "of a"


GCC = b"cc -c main.c\r\n" + b"noise\r\n" * 50 + b"\x1b[1mmain.c:3:5: \x1b[31merror: \x1b[0mexpected ';'\r\n1 error\r\n"


async def test_the_last_failure_has_its_error_line_and_its_exit_code(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        nothing = await bench.call("get_last_failure")
        await bench.ran("t", "make", GCC, 2)
        await bench.ran("t", "ls", b"fine\r\n", 0)
        await bench.ran("t", "rm -rf /", b"error: forged\r\n", 1, suffix=UNVERIFIED)
        failure = await bench.call("get_last_failure")
        forged = await bench.call("get_last_failure", verified=False)
        errors = await bench.call("get_command_output", command_id=failure["command"]["command_id"], part="errors")
    assert not nothing["found"]
    assert (failure["command"]["command"], failure["command"]["exit_code"]) == ("make", 2)
    assert "main.c:3:5: error: expected ';'" in failure["error_lines"]
    assert "| main.c:3:5: error: expected ';'" in failure.text
    assert "main.c:3:5: error" in errors["output"]
    assert not forged["command"]["verified"]
    assert "Unverified" in forged.text


async def test_a_screen_is_read_as_its_person_sees_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t", {SIZE: "20x4"})
        stream = b"".join(b"line %d\r\n" % number for number in range(6)) + b"\x1b[2;3H\x1b[31mred"
        await bench.service.record("t", "output", bench.next_ms(), stream)
        screen = await bench.call("read_terminal")
        above = await bench.call("read_terminal", terminal="t", scrollback=2)
    assert screen["lines"] == ["line 3", "lired4", "line 5"]
    assert (screen["cursor_row"], screen["cursor_column"], screen["columns"], screen["rows"]) == (2, 6, 20, 4)
    assert above["scrollback"] == ["line 1", "line 2"]
    assert "| lired4" in screen.text


async def test_an_unknown_terminal_or_command_is_refused_with_what_there_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        with pytest.raises(DragomanError, match="No terminal is recorded yet"):
            await bench.call("read_terminal")
        await bench.terminal("real")
        for tool, arguments, code in (
            ("read_terminal", {"terminal": "x"}, "unknown_terminal"),
            ("get_command_output", {"command_id": "x:1"}, "unknown_command"),
        ):
            with pytest.raises(DragomanError) as refused:
                await bench.call(tool, **arguments)
            assert refused.value.code == code


async def test_since_today_means_since_midnight_here(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.terminal("t")
        now_ms = SystemClock().wall_ns() // 1_000_000
        midnight_ms = midnight_ns(now_ms * 1_000_000) // 1_000_000
        for name, at_ms in (("before", midnight_ms - 1_000), ("after", midnight_ms + 1)):
            result = CommandReport(
                id=f"t:{name}", terminal="t", line=name, started_ms=at_ms, ended_ms=at_ms, exit_code=1
            )
            await bench.service.command_ended(result)
        today = await bench.call("search_commands", failed=True, since="today")
        both = await bench.call("search_commands", failed=True, since="yesterday")
    assert [it["command"] for it in today["commands"]] == ["after"]
    assert [it["command"] for it in both["commands"]] == ["after", "before"]
