"""What a client is sent: the list within its budget, and results in the form that its model is shown."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp_types import Implementation

from dragoman.core.errors import DragomanError
from dragoman.servers.mcp.client_options import CLIENT_PROFILES, ClientOptions
from dragoman.servers.mcp.server import build_server, instructions_for
from dragoman.tools.tool_sets import DEFAULT_TOOLS
from tests.daemons import Cli
from tests.servers.mcp.raw_client import RawClient, introduction, raw_client
from tests.servers.mcp.tool_names import EVERYTHING, LIST_BYTES, LISTED, weight
from tests.tools.tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio

INSTRUCTIONS_BYTES = 800
ROOT = Path(__file__).parents[3]
DOCUMENTS = ("docs", "skills", "agents", "vscode/docs")
COUNTED = re.compile(r"\b(?:lists|set of|default:?) (\d+) (?:of them|tools)\b")


@asynccontextmanager
async def connected(bench: Bench, client: str, **options: Any) -> AsyncIterator[Client]:
    server = build_server(bench.toolbox, bench.caller, "1.0", None, ClientOptions(**options))
    with anyio.fail_after(30):
        async with Client(server, client_info=Implementation(name=client, version="1")) as session:
            yield session


def test_the_default_list_as_sent_stays_within_its_budget(client: RawClient) -> None:
    result = client.ask("tools/list")["result"]
    names = [tool["name"] for tool in result["tools"]]
    assert names == LISTED
    assert weight(result) <= LIST_BYTES


def test_the_table_of_the_default_set_names_tools_that_exist() -> None:
    assert set(EVERYTHING) >= DEFAULT_TOOLS


def test_the_documents_count_the_tools_that_are_listed() -> None:
    counted = {
        f"{path.name}: {found[0]}": int(found[1])
        for path in [*ROOT.glob("*.md"), *(it for of in DOCUMENTS for it in (ROOT / of).rglob("*.md"))]
        for found in COUNTED.finditer(path.read_text("utf-8"))
    }
    assert len(counted) >= 4
    assert {it: count for it, count in counted.items() if count != len(LISTED)} == {}


def test_the_documents_name_the_tools_that_are_listed_and_their_weight(client: RawClient) -> None:
    [row] = re.findall(r"^\| `default` \| (.+) \|$", (ROOT / "docs/reference/mcp.md").read_text("utf-8"), re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", row))
    assert named < DEFAULT_TOOLS
    assert row.startswith("the eleven of the specification")
    assert len(DEFAULT_TOOLS - named) == 11
    [stated] = re.findall(
        r"the list of tools, as sent[^|]*\| ([\d,]+) bytes", (ROOT / "docs/performance.md").read_text()
    )
    sent = weight(client.ask("tools/list")["result"])
    assert int(stated.replace(",", "")) == pytest.approx(sent, rel=0.01)


def test_a_tool_that_is_not_listed_can_be_called(client: RawClient) -> None:
    assert "dragoman_status" not in LISTED
    assert client.call("dragoman_status")["structuredContent"]["pid"]


def test_the_instructions_are_short_and_say_how_to_get_the_other_sets(running: Cli) -> None:
    with raw_client(running) as client:
        instructions = client.initialize()["result"]["instructions"]
    assert len(instructions.encode()) <= INSTRUCTIONS_BYTES
    assert "general, terminal, canvas, editor" in instructions
    assert "--tools default,terminal" in instructions


async def test_the_instructions_name_only_tools_that_are_listed(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        everything = instructions_for(bench.toolbox.tools, bench.toolbox.sets)
        nothing = instructions_for((), bench.toolbox.sets)
    assert "--tools" not in everything
    assert "set_breakpoint" not in nothing
    assert "(sets debug)" in nothing


@pytest.mark.parametrize("client", [name for it in CLIENT_PROFILES if it.shows != "text" for name in it.names])
async def test_a_client_that_shows_its_model_the_object_gets_the_text_alone(tmp_path: Path, client: str) -> None:
    async with opened(tmp_path) as bench, connected(bench, client.title(), schemas="full") as agent:
        result = await agent.call_tool("get_breakpoints", {})
        listed = (await agent.list_tools()).tools
    assert result.structured_content is None
    assert result.content
    assert not any(tool.output_schema for tool in listed)  # MCP: a tool with one must send structured content


def test_the_documents_have_the_table_of_clients_with_its_evidence() -> None:
    table = (
        (ROOT / "docs/reference/mcp.md").read_text("utf-8").partition("| passes to its model |")[2].partition("\n\n")[0]
    )
    rows = {cells[0]: cells for cells in (line.strip("| ").split(" | ") for line in table.splitlines()[2:])}
    assert list(rows) == [*(it.title for it in CLIENT_PROFILES), "all others", "revisions before 2025-06-18"]
    words = {"structured": r"(?:only the )?structured content\b", "both": "both", "text": "the text"}
    for it in CLIENT_PROFILES:
        _, shown, evidence, sent = rows[it.title]
        assert re.match(words[it.shows], shown)
        assert sent == ("both" if it.shows == "text" else "text")
        assert re.findall(r"\[(\d+)\]", evidence) == re.findall(r"#(\d+)", it.evidence)
        assert set(re.findall(r"github\.com/([\w-]+/[\w-]+)/", evidence)) == {it.evidence.partition("#")[0]}


@pytest.mark.parametrize("client", ["opencode", "raw", ""])
async def test_every_other_client_gets_both(tmp_path: Path, client: str) -> None:
    async with opened(tmp_path) as bench, connected(bench, client) as agent:
        result = await agent.call_tool("get_breakpoints", {})
    assert (result.structured_content or {})["status"] == "success"
    assert result.content


def test_a_client_of_an_old_revision_gets_the_object_as_text_unless_it_is_known_to_want_text(running: Cli) -> None:
    texts = {}
    for client in ("raw", "claude-code"):
        with raw_client(running) as agent:
            agent.ask("initialize", introduction("2025-03-26", client))
            agent.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            texts[client] = agent.call("dragoman_status")["content"][0]["text"]
    assert json.loads(texts["raw"])["pid"] == running.status()["pid"]
    assert not texts["claude-code"].startswith("{")


@pytest.mark.parametrize("client", ["claude-code", "raw"])
async def test_the_text_of_an_error_says_all_that_its_object_says(tmp_path: Path, client: str) -> None:
    async with opened(tmp_path) as bench:
        async with connected(bench, "raw", structured="always") as agent:
            whole = (await agent.call_tool("set_breakpoint", {"file_path": "app.py", "lines": "x"})).structured_content
        async with connected(bench, client) as agent:
            result = await agent.call_tool("set_breakpoint", {"file_path": "app.py", "lines": "x"})
    text = "".join(it.text for it in result.content if it.type == "text")
    assert result.is_error
    assert (whole or {})["code"] in text
    assert (whole or {})["hint"] in text


@pytest.mark.parametrize(("policy", "client", "sent"), [("always", "claude-code", True), ("never", "raw", False)])
async def test_the_setting_goes_before_the_table(tmp_path: Path, policy: str, client: str, *, sent: bool) -> None:
    async with opened(tmp_path) as bench, connected(bench, client, structured=policy) as agent:
        result = await agent.call_tool("get_breakpoints", {})
    assert (result.structured_content is not None) == sent


async def test_output_schemas_are_published_on_request_and_hold(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        async with connected(bench, "raw") as agent:
            assert not any(tool.output_schema for tool in (await agent.list_tools()).tools)
        async with connected(bench, "raw", schemas="full") as agent:
            tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
            result = await agent.call_tool("get_breakpoints", {})
    assert tools["set_breakpoint"].input_schema["additionalProperties"] is False
    jsonschema.validate(result.structured_content, tools["get_breakpoints"].output_schema or {})


def test_a_client_chooses_by_flags(running: Cli) -> None:
    with raw_client(running, "--structured", "never", "--tools", "default,editor") as client:
        client.initialize()
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert names == [it for it in EVERYTHING if it in LISTED or it.startswith(("ide_", "dragoman_", "search_j"))]
        assert "structuredContent" not in client.call("dragoman_status")
    with raw_client(running, "--structured", "sometimes") as client:
        refused = client.ask("initialize", introduction("2025-11-25"))["error"]
        assert refused["data"]["code"] == "unknown_option"
        assert "auto, always, never" in refused["message"]


def test_unknown_choices_are_refused_with_the_known_ones() -> None:
    with pytest.raises(DragomanError, match="brief, full") as refused:
        ClientOptions().chosen(schemas="long\x1b")
    assert refused.value.code == "unknown_option"
    assert "\x1b" not in str(refused.value)


def test_what_is_not_chosen_stays() -> None:
    mine = ClientOptions(("all",), "never", "full")
    assert mine.chosen() == mine
    assert mine.chosen(["debug"], "auto", "brief") == ClientOptions(("debug",), "auto", "brief")
