"""Nodes at our own gateway: operators draw on them by name, and their events become runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers.gateway.gateway_fixture import GatewayUnderTest, ManualClient, running_gateway
from tests.servers.gateway.test_connections import is_end

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
CLIENT = {"id": "node-host", "version": "1", "platform": "ios", "mode": "node", "displayName": "A canvas"}
NODE = {"role": "node", "scopes": [], "client": CLIENT, "caps": ["canvas"]}
COMMANDS = ["canvas.present", "canvas.a2ui.push", "system.run"]


@asynccontextmanager
async def a_node(it: GatewayUnderTest) -> AsyncIterator[tuple[ManualClient, ManualClient, str]]:
    """A node, an operator, and the name by which that one knows it."""
    async with it.member(**NODE, commands=COMMANDS) as node, it.member() as operator:
        (row,) = (await operator.ask("node.list", {}))["payload"]["nodes"]
        yield node, operator, row["nodeId"]


def invoke(node_id: str, command: str, **more: Any) -> Json:
    return {"nodeId": node_id, "command": command, "params": {"a": 1}, "idempotencyKey": "k", **more}


async def begun(operator: ManualClient, params: Json) -> None:
    await operator.send({"type": "req", "id": "invoke", "method": "node.invoke", "params": params})


async def test_a_command_reaches_the_node_and_its_answer_the_operator(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, a_node(it) as (node, operator, node_id):
        await begun(operator, invoke(node_id, "canvas.present"))
        asked = (await node.until(lambda frame: frame.get("event") == "node.invoke.request"))["payload"]
        assert (asked["command"], json.loads(asked["paramsJSON"]), asked["nodeId"]) == (
            "canvas.present",
            {"a": 1},
            node_id,
        )
        answer = {"id": asked["id"], "nodeId": node_id, "ok": True, "payloadJSON": '{"shown": true}'}
        assert (await node.ask("node.invoke.result", answer))["payload"] == {"ok": True}
        assert (await node.ask("node.invoke.result", answer))["payload"] == {"ok": True, "ignored": True}
        entries = (await operator.until(lambda frame: frame.get("id") == "invoke"))["payload"]
        assert (entries["payload"], entries["command"]) == ({"shown": True}, "canvas.present")


@pytest.mark.parametrize(
    ("answer", "code"),
    [({"ok": False, "error": {"code": "CANVAS_DISABLED", "message": "off"}}, "CANVAS_DISABLED"), (None, "TIMEOUT")],
)
async def test_a_node_that_refuses_or_is_silent_is_reported_as_that(
    tmp_path: Path, answer: Json | None, code: str
) -> None:
    async with running_gateway(tmp_path) as it, a_node(it) as (node, operator, node_id):
        await begun(operator, invoke(node_id, "canvas.present", timeoutMs=5_000 if answer else 20))
        asked = (await node.until(lambda frame: frame.get("event") == "node.invoke.request"))["payload"]
        if answer:
            await node.ask("node.invoke.result", {"id": asked["id"], "nodeId": node_id, **answer})
        error = (await operator.until(lambda frame: frame.get("id") == "invoke"))["error"]
        assert (error["code"], error["details"]["nodeError"]["code"]) == ("UNAVAILABLE", code)


async def test_a_node_that_leaves_in_the_middle_ends_the_wait(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as operator:
        async with it.member(**NODE, commands=COMMANDS) as node:
            (row,) = (await operator.ask("node.list", {}))["payload"]["nodes"]
            await begun(operator, invoke(row["nodeId"], "canvas.present"))
            await node.until(lambda frame: frame.get("event") == "node.invoke.request")
        error = (await operator.until(lambda frame: frame.get("id") == "invoke"))["error"]
        assert error["details"]["nodeError"]["code"] == "NOT_CONNECTED"
        late = await operator.ask("node.invoke", invoke(row["nodeId"], "canvas.present"))
        assert late["error"]["details"] == {"code": "NOT_CONNECTED"}


@pytest.mark.parametrize("command", ["system.run", "canvas.eval", "camera.snap"])
async def test_only_what_it_declared_of_a_canvas_is_asked_of_a_node(tmp_path: Path, command: str) -> None:
    async with running_gateway(tmp_path) as it, a_node(it) as (_, operator, node_id):
        error = (await operator.ask("node.invoke", invoke(node_id, command)))["error"]
        assert error["details"] == {"reason": "command not allowlisted", "command": command}
        described = (await operator.ask("node.describe", {"nodeId": node_id}))["payload"]
        assert described["commands"] == ["canvas.a2ui.push", "canvas.present"]


async def test_nobody_answers_for_a_node_or_acts_as_what_he_is_not(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, a_node(it) as (node, operator, node_id):
        await begun(operator, invoke(node_id, "canvas.present"))
        asked = (await node.until(lambda frame: frame.get("event") == "node.invoke.request"))["payload"]
        async with it.member(**NODE, commands=COMMANDS) as other:
            forged = await other.ask("node.invoke.result", {"id": asked["id"], "ok": True, "payload": "forged"})
            assert forged["payload"]["ignored"]
        assert (await operator.ask("node.event", {"event": "x"}))["error"]["message"] == "unauthorized role: operator"
        assert (await node.ask("chat.history", {"sessionKey": "main"}))["error"]["message"] == "unauthorized role: node"
        await node.ask("node.invoke.result", {"id": asked["id"], "ok": True, "payload": "own"})
        assert (await operator.until(lambda frame: frame.get("id") == "invoke"))["payload"]["payload"] == "own"


async def test_what_a_node_asks_of_the_agent_is_a_run_and_it_gets_the_session_it_subscribed_to(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, a_node(it) as (node, _, __):
        data = {"sessionKey": "main", "message": "clicked"}
        await node.ask("node.event", {"event": "chat.subscribe", "payloadJSON": json.dumps(data)})
        await node.ask("node.event", {"event": "agent.request", "payloadJSON": json.dumps(data)})
        end = await node.until(is_end)
        assert end["payload"]["message"]["content"][0]["text"] == "you said clicked"
        assert "seq" not in end


async def test_nothing_ever_waits_for_a_pairing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as operator:
        for family in ("node.pair", "device.pair"):
            assert (await operator.ask(f"{family}.list", {}))["payload"] == {"pending": [], "paired": []}
            refused = await operator.ask(f"{family}.approve", {"requestId": "r"})
            assert refused["error"]["message"] == "unknown requestId"
