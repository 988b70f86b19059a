"""A client of the protocol document at a whole daemon: its chat, and what its own runs and MCP agents draw."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from dragoman.chat.toolbox import PLAIN_TITLES
from tests.daemons import Cli, cli_with_home
from tests.servers.gateway.document_client import DocumentClient, document_client
from tests.servers.mcp.conftest import ANY_PORT
from tests.servers.mcp.http_clients import session_of

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
COMPONENTS = [
    {"id": "c1", "type": "Text", "props": {"text": "分析完成"}},
    {"id": "c2", "type": "CodeBlock", "props": {"code": "console.log('hello')"}},
    {"id": "c3", "type": "Button", "props": {"label": "Again"}},
    {"id": "c4", "type": "FileTree", "props": {"items": ["src/main.ts", "src/app.ts"]}},
    {"id": "c5", "type": "Hologram", "props": {"size": 3}},
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), ANY_PORT) as cli:
        assert cli("up").returncode == 0
        yield cli


@asynccontextmanager
async def at(daemon: Cli) -> AsyncIterator[DocumentClient]:
    url = f"ws://127.0.0.1:{daemon.status()['port']}/gateway"
    async with document_client(url, daemon.token("gateway")) as client:
        yield client


def created(name: str, components: list[Json] = COMPONENTS) -> Json:
    return {"type": "createSurface", "surface": {"id": name, "title": "代码分析结果"}, "components": components}


async def asked(agent: Any, tool: str, **arguments: Any) -> Json:
    result = await agent.call_tool(tool, arguments)
    assert not result.is_error, result
    return dict(result.structured_content)


async def shown(client: DocumentClient, count: int) -> list[Json]:
    await client.until(lambda: len(client.router.canvas) >= count)
    return client.router.canvas


def acting(action: str, **context: Any) -> str:
    return json.dumps({"type": "userAction", "action": action, "context": context})


@pytest.mark.requirement(
    "gateway:a2ui-event:kind",
    "a2ui:update-components:type",
    "a2ui:update-components:surface-id",
    "a2ui:update-components:components",
    "a2ui:update-data-model:type",
    "a2ui:update-data-model:surface-id",
)
async def test_what_an_mcp_agent_draws_reaches_it_in_the_documents_three_messages(daemon: Cli) -> None:
    name = f"s-{uuid4()}"
    async with at(daemon) as client, session_of(daemon) as agent:
        await asked(agent, "show_canvas", surface_id=name, messages=[created(name)])
        assert await shown(client, 1) == [created(name)]
        new = {"type": "updateComponents", "surfaceId": name, "components": COMPONENTS[:1]}
        data = {"type": "updateDataModel", "surfaceId": name, "pointer": "/results/0", "value": {"status": "done"}}
        await asked(agent, "update_canvas", surface_id=name, messages=[new])
        await asked(agent, "update_canvas", surface_id=name, messages=[data])
        assert (await shown(client, 3))[1:] == [new, data]
        await asked(agent, "update_canvas", surface_id=name, remove=True)
        assert (await shown(client, 4))[3] == {"type": "updateComponents", "surfaceId": name, "components": []}


async def test_a_late_reader_gets_everything_with_the_next_change(daemon: Cli) -> None:
    name = f"s-{uuid4()}"
    bound = {"id": "t", "component": "Text", "text": {"path": "/n"}}
    async with session_of(daemon) as agent:
        await asked(agent, "show_canvas", surface_id=name, title="Count", components=[bound], data={"n": 1})
        async with at(daemon) as client:
            await asked(agent, "update_canvas", surface_id=name, changes={"/n": 2})
            first, data = await shown(client, 2)
            assert first["surface"] == {"id": name, "title": "Count"}
            assert first["components"] == [{"id": "t", "type": "Text", "props": {"text": "2"}}]
            assert data["value"] == {"n": 2}
            await asked(agent, "update_canvas", surface_id=name, changes={"/n": 3})
            assert (await shown(client, 4))[3]["components"][0]["props"] == {"text": "3"}


async def test_two_agents_that_name_their_surfaces_alike_have_two(daemon: Cli) -> None:
    name = f"s-{uuid4()}"
    async with at(daemon) as client, session_of(daemon) as one, session_of(daemon) as other:
        for agent in (one, other):
            await asked(agent, "show_canvas", surface_id=name, messages=[created(name)])
        names = [it["surface"]["id"] for it in await shown(client, 2)]
        assert names[0] == name
        assert len(set(names)) == 2


@pytest.mark.requirement(
    "a2ui:user-action:type", "a2ui:user-action:action", "a2ui:user-action:context", "canvas:action:forwarded"
)
@pytest.mark.parametrize("spelling", ["userAction", "a2ui_action"])
async def test_what_its_user_does_reaches_the_agent_that_drew_once(daemon: Cli, spelling: str) -> None:
    name, pressed = f"s-{uuid4()}", f"b-{uuid4()}"
    button = {"id": pressed, "type": "Button", "props": {"label": "Again"}}
    async with at(daemon) as client, session_of(daemon) as agent:
        await asked(agent, "show_canvas", surface_id=name, messages=[created(name, [button, COMPONENTS[3]])])
        await shown(client, 1)
        key = str(uuid4())
        action = acting("onClick", componentId=pressed).replace("userAction", spelling)
        for _ in range(2):
            assert (await client.chat_send("acp:a", action, key))["runId"] == key
        assert (await client.until_done())["stopReason"] == "end_turn"
        (taken,) = (await asked(agent, "read_actions", timeout_s=10))["actions"]
        assert (taken["name"], taken["context"], taken["surface_id"]) == ("onClick", {"componentId": pressed}, name)
        await client.chat_send("acp:a", acting("onSelect", path="src/app.ts"))
        (chosen,) = (await asked(agent, "read_actions", timeout_s=10))["actions"]
        assert (chosen["name"], chosen["context"]) == ("onSelect", {"path": "src/app.ts"})


async def test_an_agent_that_draws_the_same_component_later_does_not_get_actions_meant_for_the_first(
    daemon: Cli,
) -> None:
    pressed, names = f"b-{uuid4()}", [f"s-{uuid4()}", f"s-{uuid4()}"]
    button = {"id": pressed, "type": "Button", "props": {"label": "Send"}}
    async with at(daemon) as client, session_of(daemon) as first, session_of(daemon) as copy:
        for agent, name in zip((first, copy), names, strict=True):
            await asked(agent, "show_canvas", surface_id=name, messages=[created(name, [button])])
        await shown(client, 2)
        with pytest.raises(Exception, match=r"context\.surfaceId"):
            await client.chat_send("acp:a", acting("onClick", componentId=pressed))
        await client.chat_send("acp:a", acting("onClick", componentId=pressed, surfaceId=names[0]))
        assert len((await asked(first, "read_actions", timeout_s=10))["actions"]) == 1
        assert (await asked(copy, "read_actions", timeout_s=0))["actions"] == []


async def test_a_button_of_a_list_says_which_item_it_means(daemon: Cli) -> None:
    name, pressed = f"s-{uuid4()}", f"b-{uuid4()}"
    components = [
        {"id": "root", "component": "List", "children": {"componentId": pressed, "path": "/rows"}},
        {"id": pressed, "component": "Button", "child": "t",
         "action": {"event": {"name": "chosen", "context": {"name": {"path": "name"}}}}},
        {"id": "t", "component": "Text", "text": {"path": "name"}},
    ]  # fmt: skip
    async with at(daemon) as client, session_of(daemon) as agent:
        rows = {"rows": [{"name": "a"}, {"name": "b"}]}
        await asked(agent, "show_canvas", surface_id=name, components=components, data=rows)
        buttons = (await shown(client, 1))[0]["components"]
        assert [it["props"]["label"] for it in buttons] == ["a", "b"]
        await client.chat_send("acp:a", acting("onClick", componentId=buttons[1]["id"]))
        (taken,) = (await asked(agent, "read_actions", timeout_s=10))["actions"]
        assert (taken["name"], taken["context"]) == ("chosen", {"name": "b"})


async def test_an_action_on_a_surface_it_does_not_know_is_a_message_like_any_other(daemon: Cli) -> None:
    """Nobody acts for a person on what that client cannot have shown."""
    name, pressed = f"s-{uuid4()}", f"b-{uuid4()}"
    button = {"id": pressed, "type": "Button", "props": {"label": "Again"}}
    async with session_of(daemon) as agent:
        await asked(agent, "show_canvas", surface_id=name, messages=[created(name, [button])])
        async with at(daemon) as client:
            await client.chat_send("acp:a", acting("onClick", componentId=pressed))
            await client.until_done()
        assert (await asked(agent, "read_actions", timeout_s=0))["actions"] == []


async def test_what_its_own_run_draws_comes_in_order_and_an_action_goes_to_that_session(daemon: Cli) -> None:
    name, drew, other = f"s-{uuid4()}", f"acp:{uuid4()}", f"acp:{uuid4()}"
    drawing = {"surface_id": name, "messages": [created(name)]}
    async with at(daemon) as client:
        await client.chat_send(drew, f"/show_canvas {json.dumps(drawing)}")
        await client.until_done()
        kinds = [frame["payload"]["kind"] for frame in client.frames if "kind" in frame.get("payload", {})]
        assert kinds == ["tool_start", "a2ui", "tool_result"]
        assert client.router.canvas == [created(name)]
        await client.chat_send(other, acting("onClick", componentId="c3"))
        await client.until_done(2)
        assert [row["role"] for row in await client.chat_history(other)] == []
        entries = [row["content"][0]["text"] for row in await client.chat_history(drew) if row["role"] == "user"]
        assert entries[-1] == acting("onClick", componentId="c3")


async def test_what_a_person_typed_as_a_secret_is_not_reported(daemon: Cli) -> None:
    name = f"s-{uuid4()}"
    field = {"id": "root", "component": "TextField", "label": "Key", "value": {"path": "/key"}, "variant": "obscured"}
    async with at(daemon) as client, session_of(daemon) as agent:
        await asked(agent, "show_canvas", surface_id=name, components=[field], data={"key": "hunter2-typed"})
        await asked(agent, "update_canvas", surface_id=name, changes={"/other": "hunter2-typed", "/plain": "seen"})
        await shown(client, 4)
        assert "hunter2-typed" not in json.dumps(client.frames)
        assert "seen" in json.dumps(client.router.canvas)


@pytest.mark.requirement("gateway:tool-start:title")
async def test_every_tool_has_a_title_for_people_which_the_history_keeps(daemon: Cli) -> None:
    key = f"acp:{uuid4()}"
    async with at(daemon) as client, session_of(daemon, tools="all") as agent:
        tools = {tool.name for tool in (await agent.list_tools()).tools}
        assert tools == set(PLAIN_TITLES)
        await client.chat_send(key, f"/get_source {json.dumps({'file_path': 'src/main.ts', 'line': 2})}")
        await client.until_done()
        (start,) = client.router.of("tool_start")
        assert start["title"] == "Reading src/main.ts:2"
        kept = [row["__openclaw"]["calls"] for row in await client.chat_history(key) if row["role"] == "assistant"]
        assert [call["title"] for calls in kept for call in calls.values()] == ["Reading src/main.ts:2"]


async def test_a_whole_chat_goes_through_it(daemon: Cli) -> None:
    key = f"acp:{uuid4()}"
    async with at(daemon) as client:
        assert (await client.session_create(key))["key"] == key
        assert key in [row["key"] for row in await client.session_list()]
        run = await client.chat_send(key, "/dragoman_status")
        await client.until_done()
        (start,), (result,) = client.router.of("tool_start"), client.router.of("tool_result")
        assert (start["tool"], start["input"]) == ("dragoman_status", {})
        assert start["title"] == "Checking Dragoman's status"
        assert result["id"] == start["id"]
        assert "Dragoman" in client.router.text
        assert (await client.chat_abort(key, run["runId"]))["aborted"] is False
        await client.chat_send(key, "/nothing-of-that-name")
        assert "Unknown command" in (await client.until_done(2))["stopReason"]
        assert [row["role"] for row in await client.chat_history(key) if row["role"] != "toolResult"] == [
            "user", "assistant", "user", "assistant"
        ]  # fmt: skip
