"""`/mcp` over HTTP: both eras, and which workspace, tools and session a request gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from dragoman import __version__
from tests.daemons import Cli, call, cli_with_home, eventually
from tests.servers.mcp.http_clients import ERAS, HANDSHAKE, Wire, asker_of, modern_request, session_of, wire_of
from tests.servers.mcp.raw_client import introduction
from tests.servers.mcp.tool_names import LISTED

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        assert cli("up").returncode == 0
        yield cli


def wire(cli: Cli, **query: str) -> Wire:
    return wire_of(cli, **query)


def workspace_of(reply: Any) -> str:
    return str(reply.message["result"]["structuredContent"]["workspace"])


@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_of_either_era_lists_and_calls_the_tools(running: Cli, era: str, tmp_path: Path) -> None:
    async with ERAS[era](running, workspace=str(tmp_path)) as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
        assert names == LISTED
        status = (await agent.call_tool("dragoman_status", {})).structured_content
        assert (status["version"], status["workspace"]) == (__version__, str(tmp_path))
        assert running.status()["links"]["mcp"] == 1


async def test_a_session_that_says_goodbye_is_gone_and_is_in_the_record(running: Cli, tmp_path: Path) -> None:
    def kinds() -> list[str]:
        found = call(running.paths, "journal_search", {"words": "mcp", "limit": 50})["events"]
        return [row["kind"] for row in found if row["body"].get("workspace") == str(tmp_path)]

    async with session_of(running, workspace=str(tmp_path)):
        eventually(lambda: kinds() == ["mcp.connected"])
    assert eventually(lambda: kinds() == ["mcp.disconnected", "mcp.connected"])


async def test_a_client_without_a_session_is_one_client_from_call_to_call(running: Cli, tmp_path: Path) -> None:
    before = running.status()["links"]["mcp"]
    async with asker_of(running, workspace=str(tmp_path)) as agent:
        for _ in range(3):
            await agent.call_tool("dragoman_status", {})
        assert running.status()["links"]["mcp"] == before + 1
    other = wire(running, workspace=str(tmp_path))
    assert other.modern("tools/call", "dragoman_status", client="another", arguments={}).status == 200
    assert running.status()["links"]["mcp"] == before + 2


def test_nameless_callers_are_one_client_and_refused_ones_are_no_client(running: Cli, tmp_path: Path) -> None:
    before = running.status()["links"]["mcp"]
    asking = wire(running, workspace=str(tmp_path))
    for _ in range(3):
        assert asking.modern("tools/list", client="").status == 200
    assert running.status()["links"]["mcp"] == before + 1
    for version in ("1900-01-01", "2099-01-01", "nonsense"):
        message, headers = modern_request("tools/list", client=version)
        reply = asking.ask("POST", message, **{**headers, "MCP_Protocol_Version": version})
        assert reply.status == 400
    eventually(lambda: running.status()["links"]["mcp"] == before + 1)


def test_the_workspace_comes_by_query_or_by_header_else_it_is_the_daemons(running: Cli, tmp_path: Path) -> None:
    chinese = tmp_path / "工作 区"
    chinese.mkdir()
    by_query = wire(running, workspace=str(chinese))
    by_query.initialize()
    assert workspace_of(by_query.call("dragoman_status")) == str(chinese)
    by_header = wire(running)
    header = str(chinese).encode().decode("latin-1")
    opened = by_header.post("initialize", introduction(HANDSHAKE), Dragoman_Workspace=header)
    by_header.session = opened.headers["mcp-session-id"]
    asked = {"name": "dragoman_status", "arguments": {}}
    assert workspace_of(by_header.post("tools/call", asked, Dragoman_Workspace=header)) == str(chinese)
    neither = wire(running)
    neither.initialize()
    assert workspace_of(neither.call("dragoman_status")) == running.status()["workspace"]


@pytest.mark.parametrize("workspace", ["relative", "/no/such/folder", "/etc/passwd", "/a\0b", "/" + "x" * 5000])
def test_a_workspace_that_is_not_a_folder_is_refused_in_both_eras(running: Cli, workspace: str) -> None:
    asking = wire(running, workspace=workspace)
    for reply in (asking.initialize(), asking.modern("tools/list")):
        assert (reply.status, reply.code, reply.message["id"]) == (400, "no_such_folder", 1)
        assert "Dragoman-Workspace" in reply.message["error"]["message"]
        assert "mcp-session-id" not in reply.headers


@pytest.mark.parametrize("workspace", ["/", str(Path.home())])
def test_a_workspace_that_holds_all_of_a_home_is_refused(running: Cli, workspace: str) -> None:
    asking = wire(running, workspace=workspace)
    for reply in (asking.initialize(), asking.modern("tools/list")):
        assert (reply.status, reply.code) == (400, "workspace_too_wide")


async def test_a_query_fixes_the_list_of_tools(running: Cli) -> None:
    async with session_of(running, tools="general") as agent:
        names = [tool.name for tool in (await agent.list_tools()).tools]
    assert names == ["dragoman_status", "search_journal"]


def test_an_unknown_set_of_tools_is_refused_with_the_known_ones(running: Cli) -> None:
    asking = wire(running, tools="debug,telepathy")
    for reply in (asking.initialize(), asking.modern("tools/list")):
        assert (reply.status, reply.code) == (400, "unknown_tool_set")
        assert "'telepathy'" in reply.message["error"]["message"]
        assert "debug" in reply.message["error"]["message"].rpartition(":")[2]


def test_a_refusal_speaks_the_language_that_was_asked_for(running: Cli) -> None:
    reply = wire(running, workspace="/no/such").post("initialize", {}, Accept_Language="zh-CN")
    assert "工作区" in reply.message["error"]["message"]


def test_a_session_is_unknown_to_other_clients(running: Cli, tmp_path: Path) -> None:
    """Another workspace, another choice of tools, another credential of the same purpose: each is somebody else."""
    one = wire(running, workspace=str(tmp_path))
    one.initialize()
    others = [
        Wire(one.port, one.token, {}, one.session),
        Wire(one.port, one.token, {"workspace": str(tmp_path), "tools": "debug"}, one.session),
        Wire(one.port, one.token, one.query, one.session[::-1]),
        Wire(one.port, one.token, one.query, "../../x"),
    ]
    for other in others:
        for method in ("POST", "GET", "DELETE"):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"} if method == "POST" else None
            reply = other.ask(method, message)
            assert (reply.status, reply.code) == (404, "unknown_mcp_session")
    assert one.call("dragoman_status").status == 200


def test_an_ended_session_is_not_found_so_that_its_client_begins_again(running: Cli) -> None:
    client = wire(running)
    client.initialize()
    assert client.ask("DELETE").status == 200
    gone = client.call("dragoman_status")
    assert gone.status == 404
    client.session = ""
    assert client.initialize().status == 200


def test_without_a_session_only_initialize_is_answered(running: Cli) -> None:
    client = wire(running)
    for reply in (client.call("dragoman_status"), client.ask("GET"), client.ask("DELETE")):
        assert (reply.status, reply.code) == (400, "session_needed")
    assert client.ask("GET", MCP_Protocol_Version="2026-07-28").status == 405


def test_a_client_that_cannot_take_a_stream_gets_an_error_and_leaves_no_session(running: Cli) -> None:
    before = running.status()["links"]["mcp"]
    refused = wire(running).post("initialize", introduction(HANDSHAKE), Accept="application/json")
    assert refused.status == 406
    eventually(lambda: running.status()["links"]["mcp"] == before)


def test_both_eras_say_what_they_serve(running: Cli) -> None:
    opened = wire(running).initialize().message["result"]
    discovered = wire(running).modern("server/discover").message["result"]
    assert opened["serverInfo"]["name"] == "dragoman"
    assert {"tools", "prompts", "resources"} <= set(opened["capabilities"])
    assert "2026-07-28" in discovered["supportedVersions"]
    assert "set_breakpoint" in json.dumps(opened["instructions"])


async def test_the_entry_that_client_config_writes_connects(running: Cli, tmp_path: Path) -> None:
    written = Cli(running.home, {**running.environment, "HOME": str(tmp_path)})
    assert written("client-config", "cursor", "--http", "--write").returncode == 0
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["dragoman"]
    async with (
        httpx2.AsyncClient(headers=entry["headers"]) as web,
        Client(streamable_http_client(entry["url"], http_client=web)) as agent,
    ):
        status = (await agent.call_tool("dragoman_status", {})).structured_content
    assert status is not None
    assert status["workspace"] == running.status()["workspace"]
