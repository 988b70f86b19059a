"""Agents see the commands and terminals of their workspace, and those they opened; nothing of another folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.terminal.model import AGENT
from tests.tools.terminal.terminal_tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two_folders(tmp_path: Path, *, guarded: bool = True) -> AsyncIterator[Bench]:
    """Commands in the workspace, below it and elsewhere; without the guard all of them are seen."""
    async with opened(tmp_path) as bench:
        here = str(bench.caller.workspace)
        bench.caller = replace(bench.caller, sees_every_workspace=not guarded)
        await bench.terminal("here", {"cwd": here})
        await bench.ran("here", "make ours", b"a word\r\n", 1, cwd=here)
        await bench.ran("here", "make below", b"a word\r\n", 0, cwd=f"{here}/sub")
        await bench.terminal("there", {"cwd": f"{here}-other"})
        await bench.ran("there", "make theirs", b"a word\r\n", 2, cwd=f"{here}-other")
        yield bench


async def seen(bench: Bench) -> set[str]:
    found = [
        await bench.call("search_commands"),
        await bench.call("search_commands", query="word"),
        await bench.call("get_last_failure"),
        await bench.call("get_command_output"),
        await bench.call("list_terminals"),
        await bench.call("read_terminal"),
    ]
    text = "".join(f"{answer.text} {answer.data}" for answer in found)
    return {word for word in ("ours", "below", "theirs") if f"make {word}" in text}


async def test_what_ran_in_the_workspace_and_below_it_is_seen_and_nothing_else(tmp_path: Path) -> None:
    async with two_folders(tmp_path) as bench:
        assert await seen(bench) == {"ours", "below"}


async def test_a_caller_of_every_workspace_sees_all(tmp_path: Path) -> None:
    async with two_folders(tmp_path, guarded=False) as bench:
        assert await seen(bench) == {"ours", "below", "theirs"}


async def test_the_last_command_of_the_workspace_is_found_behind_many_of_others(tmp_path: Path) -> None:
    async with two_folders(tmp_path) as bench:
        for number in range(60):
            await bench.ran("there", f"make {number}", b"", 0, cwd=f"{bench.caller.workspace}-other")
        assert (await bench.call("get_command_output"))["command"]["command"] == "make below"


async def test_another_folders_commands_and_terminals_are_unknown_by_name_too(tmp_path: Path) -> None:
    async with two_folders(tmp_path) as bench:
        theirs = (await bench.service.last_failure(terminal="there")) or pytest.fail("no command")
        for tool, arguments, code in [
            ("get_command_output", {"command_id": theirs.id}, "unknown_command"),
            ("get_command_output", {"terminal": "there"}, "no_commands"),
            ("read_terminal", {"terminal": "there"}, "no_terminal"),
            ("search_commands", {"cwd": "/"}, "outside_workspace"),
            ("get_last_failure", {"cwd": ".."}, "outside_workspace"),
        ]:
            with pytest.raises(DragomanError) as refused:
                await bench.call(tool, **arguments)
            assert refused.value.code == code
        assert (await bench.call("get_last_failure", terminal="there"))["found"] is False


async def test_what_an_agent_ran_in_its_own_terminal_stays_its_own_wherever_it_went(tmp_path: Path) -> None:
    async with two_folders(tmp_path) as bench:
        await bench.terminal("own", {AGENT: "agent-1", "cwd": str(bench.caller.workspace)})
        command = await bench.ran("own", "cd /tmp && make", b"done\r\n", 0, cwd="/tmp")
        assert "done" in (await bench.call("get_command_output", command_id=command.id))["output"]
