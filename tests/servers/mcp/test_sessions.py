"""The SDK's own client at the real command: what an agent sees."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from dragoman import __version__
from dragoman.tools.debug import TOOLS
from tests.daemons import Cli, call, daemons_of, eventually
from tests.servers.mcp.tool_names import LISTED

pytestmark = pytest.mark.anyio


def parameters(cli: Cli, *arguments: str, cwd: Path | None = None) -> StdioServerParameters:
    command, *rest = cli.command("mcp", *arguments)
    wanted = {name: value for name, value in cli.variables().items() if name.startswith("DRAGOMAN_")}
    return StdioServerParameters(command=command, args=rest, env=wanted, cwd=cwd)


@asynccontextmanager
async def session(cli: Cli, *arguments: str, cwd: Path | None = None) -> AsyncIterator[ClientSession]:
    with open(os.devnull, "w") as errors, anyio.fail_after(30):  # noqa: ASYNC230, PTH123
        async with (
            stdio_client(parameters(cli, *arguments, cwd=cwd), errlog=errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@pytest.mark.requirement("foundation:server:stdio")
async def test_an_agent_lists_and_calls_the_tools_over_stdio(running: Cli, tmp_path: Path) -> None:
    async with session(running, cwd=tmp_path) as agent:
        tools = (await agent.list_tools()).tools
        assert [tool.name for tool in tools] == LISTED
        result = await agent.call_tool("dragoman_status", {})
    status = running.status()
    assert result.structured_content["pid"] == status["pid"]
    assert result.structured_content["workspace"] == str(tmp_path)
    assert result.structured_content["daemon_workspace"] == status["workspace"]
    first = text_of(result).splitlines()[0]
    assert first.startswith(f"Dragoman {__version__} at {status['address']}, since {status['started_at']}.")


async def test_a_tool_says_what_it_takes_gives_and_does(running: Cli) -> None:
    async with session(running, "--tools", "general", "--schemas", "full") as agent:
        status, search = (await agent.list_tools()).tools
        found = await agent.call_tool("search_journal", {"words": "daemon started"})
    assert search.input_schema["required"] == ["words"]
    assert search.input_schema["properties"]["limit"]["maximum"] == 100
    for tool in (status, search):
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        assert "title" not in tool.input_schema
    assert search.output_schema is not None
    jsonschema.validate(found.structured_content, search.output_schema)
    (event,) = found.structured_content["events"]
    assert event["kind"] == "daemon.started"
    assert text_of(found) == f"#{event['sequence']} {event['at']} daemon.started {event['text']}"


async def test_the_newest_revision_needs_no_handshake(running: Cli) -> None:
    with anyio.fail_after(30):
        async with Client(stdio_client(parameters(running)), mode="2026-07-28") as agent:
            assert [tool.name for tool in (await agent.list_tools()).tools] == LISTED
            result = await agent.call_tool("dragoman_status", {})
    assert result.structured_content["version"] == __version__


async def test_the_command_line_fixes_the_list_of_tools(running: Cli) -> None:
    async with session(running, "--tools", "debug") as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
        assert names == ["dragoman_status", "search_journal", *(tool.name for tool in TOOLS)]
    async with session(running, "--tools", "general") as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == ["dragoman_status", "search_journal"]
        with pytest.raises(MCPError, match="Unknown tool: 'start_debuging'"):
            await agent.call_tool("start_debuging", {})


async def test_two_clients_at_once_have_their_own_conversations(running: Cli, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    async with session(running, cwd=tmp_path) as one, session(running, "--workspace", str(tmp_path / "b")) as two:
        assert running.status()["links"]["mcp"] == 2
        seen: dict[str, set[str]] = {"one": set(), "two": set()}

        async def ask(name: str, agent: ClientSession) -> None:
            for _ in range(20):
                result = await agent.call_tool("dragoman_status", {})
                seen[name].add(result.structured_content["workspace"])

        async with anyio.create_task_group() as group:
            for name, agent in (("one", one), ("two", two)):
                group.start_soon(ask, name, agent)
    assert seen == {"one": {str(tmp_path)}, "two": {str(tmp_path / "b")}}
    eventually(lambda: running.status()["links"]["mcp"] == 0)


async def test_the_first_client_starts_the_daemon_and_later_ones_use_it(cli: Cli) -> None:
    async with session(cli) as one:
        first = await one.call_tool("dragoman_status", {})
        async with session(cli) as two:
            second = await two.call_tool("dragoman_status", {})
    assert first.structured_content["pid"] == second.structured_content["pid"]
    assert [process.pid for process in daemons_of(cli.home)] == [first.structured_content["pid"]]


async def test_connects_and_disconnects_are_in_the_journal(running: Cli, tmp_path: Path) -> None:
    def events(words: str) -> list[Any]:
        found = call(running.paths, "journal_search", {"words": words, "limit": 50})["events"]
        return [row for row in found if row["body"].get("workspace") == str(tmp_path)]

    async with session(running, cwd=tmp_path):
        (came,) = eventually(lambda: events("mcp connected"))
        assert events("mcp disconnected") == []
    (went,) = eventually(lambda: events("mcp disconnected"))
    assert (came["kind"], went["kind"]) == ("mcp.connected", "mcp.disconnected")
    assert came["session"] == went["session"]
    who = {"client": "mcp", "version": "0.1.0", "workspace": str(tmp_path)}
    assert (came["body"], went["body"]) == (who, {**who, "calls": 0, "characters": 0})
