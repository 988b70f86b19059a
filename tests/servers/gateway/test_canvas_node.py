"""As a node of a gateway: its agents draw on our canvas once somebody approved that, and a person's acts go back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.canvas.action_queue import KEPT_S
from dragoman.canvas.service import CanvasService
from dragoman.cli import gateway
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.core.settings.schema import Settings
from dragoman.daemon import gateway_control
from dragoman.daemon.gateway_canvas import DRAWER, draws_on_nodes
from dragoman.daemon.gateway_control import GatewayMethods
from dragoman.daemon.upstream_gateway import UpstreamGateway, open_upstream_gateway
from dragoman.journal import Journal
from tests.canvas.canvas_fixture import studio
from tests.chat.gateway_client.scripted_connection import until
from tests.support.clocks import VirtualClock
from tests.support.fake_gateway import AcceptedConnection, fake_gateway

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
BUTTON: list[Json] = [
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
JSONL = "\n".join(map(json.dumps, BUTTON))


@dataclass
class OldGateway:
    """Speaks 3, and asks an operator before it lets a node be drawn on."""

    version: str = "2026.5.7"
    approved: bool = False
    cuts: bool = False
    silent_at: str = ""
    nodes: list[AcceptedConnection] = field(default_factory=list)
    connects: list[Json] = field(default_factory=list)
    results: dict[str, Json] = field(default_factory=dict)
    requests: list[Json] = field(default_factory=list)
    sent: list[Json] = field(default_factory=list)
    operators: list[AcceptedConnection] = field(default_factory=list)

    async def script(self, accepted: AcceptedConnection) -> None:
        connect = await accepted.challenge()
        params = connect["params"]
        self.connects.append(params)
        auth = {"role": params["role"], "scopes": params["scopes"], "deviceToken": f"for-{params['role']}"}
        hello = {"type": "hello-ok", "protocol": 3, "auth": auth, "server": {"version": self.version}}
        await accepted.answer(connect, hello)
        (self.nodes if params["role"] == "node" else self.operators).append(accepted)
        while True:
            await self._answer(accepted, json.loads(await accepted.socket.recv()))

    async def _answer(self, accepted: AcceptedConnection, asked: Json) -> None:
        method, params = asked["method"], asked.get("params", {})
        if method == self.silent_at:
            return
        if method == "node.pair.list":
            own = {"requestId": "req-1", "nodeId": self.connects[-1]["device"]["id"]}
            other = {"requestId": "req-0", "nodeId": "somebody"}
            await accepted.answer(asked, {"pending": [other] if self.approved else [other, own], "paired": []})
            return
        if method == "node.pair.approve" and params["requestId"] == "req-1":
            self.approved = True
            await accepted.event("node.pair.resolved", {"requestId": "req-1"})
        elif method == "node.invoke.result":
            self.results[params["id"]] = params
        elif method == "chat.send":
            self.sent.append(params)
        elif method == "node.event":
            self.requests.append(params)
            if self.cuts:
                await accepted.close(1012, "service restart")
                return
        await accepted.answer(asked, {"ok": True, "pending": []})

    async def invoke(self, command: str, id: str = "", **params: Any) -> Json:
        id = id or f"inv-{len(self.results)}"
        body = {"id": id, "nodeId": "n", "command": command, "paramsJSON": json.dumps(params), "timeoutMs": 5000}
        await self.nodes[-1].event("node.invoke.request", body, numbered=False)
        await until(lambda: id in self.results)
        return self.results[id]


@asynccontextmanager
async def drawn_on(
    folder: Path, gateway: OldGateway, clock: VirtualClock | None = None
) -> AsyncIterator[tuple[UpstreamGateway, CanvasService, Journal]]:
    async with fake_gateway(gateway.script) as fake, studio(folder, clock) as (canvas, journal):
        settings = Settings(gateway_address=fake.url, gateway_unlimited=True)
        async with open_upstream_gateway(settings, find_paths(), canvas, journal) as link:
            assert (await link.connect("")).state == "connected"
            yield link, canvas, journal
            link.disconnect()
            await until(lambda: link.node.gateway_status.state == link.gateway_status.state == "disconnected")


async def test_the_canvas_comes_as_a_node_of_its_own_and_says_what_has_to_be_approved(tmp_path: Path) -> None:
    gateway = OldGateway()
    async with drawn_on(tmp_path, gateway) as (link, _, __):
        await until(lambda: link.node.gateway_status.state == "pairing_required")
        methods = GatewayMethods(link)
        result = methods.gateway_status("en")
        assert (result["canvas"], result["canvas_request_id"]) == ("pairing_required", "req-1")
        assert "dragoman gateway approve req-1" in result["canvas_hint"]
        assert "openclaw nodes approve req-1" in result["canvas_hint"]
        assert [it async for it in methods.table()["gateway_approve"]({})] == [{"approved": "req-1"}]
        await until(lambda: link.node.gateway_status.state == "connected")
    operator, node = gateway.connects
    assert (node["role"], node["scopes"], node["caps"]) == ("node", [], ["canvas"])
    assert (node["client"]["id"], node["client"]["mode"], node["client"]["platform"]) == (
        "node-host",
        "node",
        "dragoman",
    )
    assert operator["device"]["id"] != node["device"]["id"]
    assert not {"canvas.eval", "canvas.snapshot"} & set(node["commands"])


async def test_what_does_not_wait_cannot_be_approved(tmp_path: Path) -> None:
    async with drawn_on(tmp_path, OldGateway(approved=True)) as (link, _, __):
        with pytest.raises(DragomanError) as refused:
            [it async for it in GatewayMethods(link).table()["gateway_approve"]({"request": "req-9"})]
        assert refused.value.code == "nothing_to_approve"


@pytest.mark.parametrize("silent_at", ["node.pair.list", "node.pair.approve", "device.pair.list"])
async def test_a_gateway_that_ignores_an_approval_is_reported_before_the_command_line_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent_at: str
) -> None:
    assert 3 * gateway_control.PAIRING_WITHIN_S < gateway.CONNECT_TIMEOUT_S
    monkeypatch.setattr(gateway_control, "PAIRING_WITHIN_S", 0.1)
    there = OldGateway()
    async with drawn_on(tmp_path, there) as (link, _, __):
        await until(lambda: link.node.gateway_status.state == "pairing_required")
        there.silent_at = silent_at
        wanted = {"request": "req-9"} if silent_at == "device.pair.list" else {}
        with pytest.raises(DragomanError) as refused:
            [it async for it in GatewayMethods(link).table()["gateway_approve"](wanted)]
    assert refused.value.code == "gateway_silent"
    assert "within 0.1 seconds" in str(refused.value)


@pytest.mark.parametrize("how", [{"messages": BUTTON}, {"jsonl": JSONL}])
async def test_what_agents_push_is_drawn_and_what_a_person_does_starts_a_run(tmp_path: Path, how: Json) -> None:
    gateway = OldGateway(approved=True)
    async with drawn_on(tmp_path, gateway) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        tool = {"phase": "start", "name": "canvas", "toolCallId": "c1", "args": {}}
        run = {"runId": "r", "sessionKey": "agent:main:draw", "stream": "tool", "seq": 1, "ts": 1, "data": tool}
        await gateway.operators[-1].event("agent", run)
        result = await gateway.invoke("canvas.a2ui.pushJSONL" if "jsonl" in how else "canvas.a2ui.push", **how)
        assert result["payload"] == {"ok": True, "surfaces": ["main"]}
        await canvas.act(DRAWER, "main", "root", by="the page")
        await until(lambda: len(gateway.requests) == 1)
    (sent,) = gateway.requests
    data = json.loads(sent["payloadJSON"])
    assert (sent["event"], data["sessionKey"], data["deliver"]) == ("agent.request", "agent:main:draw", False)
    assert data["message"].startswith("CANVAS_A2UI action=clicked session=agent:main:draw surface=main component=")
    assert data["message"].endswith("ctx={} default=update_canvas")


async def test_what_a_person_does_on_a_surface_of_an_acp_session_is_a_message_in_it(tmp_path: Path) -> None:
    gateway = OldGateway(approved=True)
    async with drawn_on(tmp_path, gateway) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        link.node.session_key = "agent:main:acp:1"
        await gateway.invoke("canvas.a2ui.push", messages=BUTTON)
        taken = await canvas.act(DRAWER, "main", "root", by="the page")
        await until(lambda: len(gateway.sent) == 1)
    (sent,) = gateway.sent
    assert (sent["sessionKey"], sent["idempotencyKey"]) == ("agent:main:acp:1", taken.id)
    assert gateway.requests == []


async def test_an_action_goes_to_the_session_that_drew_its_surface(tmp_path: Path) -> None:
    gateway = OldGateway(approved=True)
    other = [{key: {**body, "surfaceId": "other"} for key, body in message.items()} for message in BUTTON]
    async with drawn_on(tmp_path, gateway) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        for session, messages in (("agent:main:first", BUTTON), ("agent:main:second", other)):
            link.node.session_key = session
            await gateway.invoke("canvas.a2ui.push", messages=messages)
        for surface in ("main", "other"):
            await canvas.act(DRAWER, surface, "root", by="the page")
        await until(lambda: len(gateway.requests) == 2)
    data = [json.loads(sent["payloadJSON"])["sessionKey"] for sent in gateway.requests]
    assert data == ["agent:main:first", "agent:main:second"]


async def test_each_command_is_obeyed_once_or_refused_with_the_reason(tmp_path: Path) -> None:
    gateway = OldGateway(approved=True)
    async with drawn_on(tmp_path, gateway) as (link, canvas, journal):
        await until(lambda: link.node.gateway_status.state == "connected")
        assert (await gateway.invoke("canvas.present"))["ok"]
        assert (await gateway.invoke("canvas.hide"))["ok"]
        assert (await gateway.invoke("canvas.navigate", url="http://elsewhere.example/"))["payload"]["loaded"] is False
        assert [it.surface.id for it in canvas.surfaces()] == ["address"]
        assert (await gateway.invoke("canvas.eval", javaScript="1"))["error"]["code"] == "CANVAS_EVAL_REFUSED"
        assert (await gateway.invoke("canvas.snapshot"))["error"]["code"] == "CANVAS_SNAPSHOT_UNAVAILABLE"
        assert (await gateway.invoke("camera.snap"))["error"]["code"] == "UNKNOWN_COMMAND"
        wrong = await gateway.invoke("canvas.a2ui.push", messages=[{"surfaceUpdate": {"surfaceId": 1}}])
        assert wrong["error"]["code"] == "VALIDATION_FAILED"
        assert "/0/surfaceUpdate" in wrong["error"]["message"]
        assert (await gateway.invoke("canvas.a2ui.push"))["error"]["code"] == "INVALID_PARAMS"
        assert (await gateway.invoke("canvas.a2ui.reset"))["payload"]["surfaces"] == []
        assert canvas.surfaces() == ()
        kinds = [it.event.kind for it in await journal.read()]
        assert kinds.count("canvas.presented") == kinds.count("canvas.hidden") == 1


async def test_a_command_that_comes_twice_is_obeyed_once(tmp_path: Path) -> None:
    gateway = OldGateway(approved=True)
    async with drawn_on(tmp_path, gateway) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        await gateway.invoke("canvas.a2ui.push", "same", messages=BUTTON)
        await gateway.invoke("canvas.a2ui.reset")
        await gateway.invoke("canvas.a2ui.push", "same", messages=BUTTON)
        await gateway.invoke("canvas.present")
        assert canvas.surfaces() == ()


async def test_an_act_waits_for_a_connection_and_one_that_may_have_been_taken_is_not_sent_again(tmp_path: Path) -> None:
    gateway = OldGateway(approved=True)
    async with drawn_on(tmp_path, gateway) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        await gateway.invoke("canvas.a2ui.push", messages=BUTTON)
        gateway.cuts = True
        await canvas.act(DRAWER, "main", "root", by="the page")
        await until(lambda: link.node.gateway_status.state == "connecting")
        gateway.cuts = False
        await canvas.act(DRAWER, "main", "root", by="the page")
        await until(lambda: len(gateway.requests) == 2)
        assert len(gateway.nodes) == 2


async def test_an_action_that_waited_an_hour_for_a_connection_is_dropped(tmp_path: Path) -> None:
    gateway, clock = OldGateway(approved=True), VirtualClock()
    async with drawn_on(tmp_path, gateway, clock) as (link, canvas, _):
        await until(lambda: link.node.gateway_status.state == "connected")
        await gateway.invoke("canvas.a2ui.push", messages=BUTTON)
        link.disconnect()
        await until(lambda: link.node.gateway_status.state == "disconnected")
        await canvas.act(DRAWER, "main", "root", by="the page")
        await anyio.wait_all_tasks_blocked()
        clock.advance(KEPT_S + 1)
        await link.connect("")
        await until(lambda: link.node.gateway_status.state == "connected")
        assert gateway.requests == []
        await canvas.act(DRAWER, "main", "root", by="the page")
        await until(lambda: len(gateway.requests) == 1)


async def test_a_gateway_that_draws_elsewhere_is_not_asked_for_a_second_connection(tmp_path: Path) -> None:
    gateway = OldGateway("2026.9.6")
    async with drawn_on(tmp_path, gateway) as (link, _, __):
        await link.client().request("health")
        assert (len(gateway.connects), link.node.gateway_status.state) == (1, "disconnected")


def test_which_gateways_draw_on_nodes() -> None:
    judged = [draws_on_nodes(it) for it in ("2026.5.7", "2026.5.12", "2025.12.1", "2026.9.6", "2027.1.0", "", "next")]
    assert judged == [True, True, True, False, False, False, False]
