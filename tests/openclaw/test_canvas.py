"""Our canvas as a node of the last real gateway that draws on nodes, and at one that no longer does."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from dragoman.daemon.gateway_canvas import DRAWER
from dragoman.daemon.gateway_control import GatewayMethods
from tests.openclaw.lab import lab
from tests.openclaw.person import Person, ended, person

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(400)]

SURFACE = [
    {
        "surfaceUpdate": {
            "surfaceId": "main",
            "components": [
                {"id": "root", "component": {"Button": {"child": "t", "action": {"name": "clicked"}}}},
                {"id": "t", "component": {"Text": {"text": {"literalString": "hi"}}}},
            ],
        }
    },
    {"beginRendering": {"surfaceId": "main", "root": "root"}},
]


def tool(action: str, **args: str) -> str:
    return f"TOOL:{json.dumps({'name': 'canvas', 'args': {'action': action, **args}})}"


async def approve(it: Person) -> None:
    await it.until(lambda: it.link.node.gateway_status.state == "pairing_required")
    result = GatewayMethods(it.link).gateway_status("en")
    assert f"dragoman gateway approve {result['canvas_request_id']}" in result["canvas_hint"]
    assert [answer async for answer in GatewayMethods(it.link).table()["gateway_approve"]({})]
    await it.until(lambda: it.link.node.gateway_status.state == "connected")


async def test_an_agent_draws_a_person_acts_and_the_agent_is_asked(tmp_path: Path) -> None:
    session = f"agent:main:{uuid4()}"
    with lab("2026.5.7", tmp_path / "gateway") as gateway:
        async with person(gateway, tmp_path / "person") as it:
            await approve(it)
            events, _ = await it.complete_run(session, tool("a2ui_push", jsonl="\n".join(map(json.dumps, SURFACE))))
            assert ended(events).outcome == "final"
            assert [drawn.surface.id for drawn in it.canvas.surfaces()] == ["main"]
            before = len(gateway.stub.requests)
            await it.canvas.act(DRAWER, "main", "root", by="the page")
            await it.until(lambda: len(gateway.stub.requests) > before)
            assert "CANVAS_A2UI action=clicked" in json.dumps(gateway.stub.requests[-1].body)
            await _each_command(it)


async def _each_command(it: Person) -> None:
    """As operators send them; the gateway passes on what was declared, and refuses the rest itself."""
    node = (await it.ask("node.list", {}))["nodes"][0]
    assert (node["displayName"], node["platform"], node["connected"], node["paired"]) == (
        "Dragoman",
        "dragoman",
        True,
        True,
    )

    async def invoke(command: str, **params: str) -> object:
        asked = {"nodeId": node["nodeId"], "command": command, "params": params, "idempotencyKey": str(uuid4())}
        return (await it.ask("node.invoke", asked))["payload"]

    assert await invoke("canvas.present") == {"ok": True}
    assert await invoke("canvas.hide") == {"ok": True}
    with pytest.raises(Exception, match="VALIDATION_FAILED"):
        await invoke("canvas.a2ui.pushJSONL", jsonl='{"surfaceUpdate":{"surfaceId":1}}')
    with pytest.raises(Exception, match=r"canvas\.eval"):
        await invoke("canvas.eval", javaScript="1+1")
    assert await invoke("canvas.a2ui.reset") == {"ok": True, "surfaces": []}
    assert it.canvas.surfaces() == ()


async def test_a_gateway_that_draws_on_pages_of_its_own_is_not_asked_for_an_approval(tmp_path: Path) -> None:
    with lab("2026.9.6", tmp_path / "gateway") as gateway:
        async with person(gateway, tmp_path / "person") as it:
            assert (await it.ask("node.pair.list", {}))["pending"] == []
            assert it.link.node.gateway_status.state == "disconnected"
