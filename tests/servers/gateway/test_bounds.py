"""As much as the gateway takes of one client and of all: what is more is refused plainly, and a stop always passes."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from dragoman.chat import conversations
from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.servers.gateway import calls as gateway_calls
from dragoman.servers.gateway import connection as gateway_connection
from dragoman.servers.gateway import nodes
from tests.chat.gateway_client.scripted_connection import until
from tests.servers.gateway.gateway_fixture import GatewayUnderTest, ManualClient, running_gateway
from tests.servers.gateway.test_connections import forever
from tests.servers.gateway.test_nodes import a_node, begun, invoke

pytestmark = pytest.mark.anyio


async def fill(peer: ManualClient) -> None:
    """Calls that wait for the run, as many as are taken."""
    for number in range(gateway_calls.CALLS_AT_ONCE + gateway_calls.WAITING_AT_MOST):
        params = {"runId": "r1", "timeoutMs": 600_000}
        await peer.send({"type": "req", "id": f"wait_{number}", "method": "agent.wait", "params": params})


async def test_more_calls_than_are_taken_are_refused_and_a_stop_passes_them(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, forever) as it, it.member() as peer:
        await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        await fill(peer)
        refused = (await peer.ask("health"))["error"]
        assert (refused["code"], refused["retryable"]) == ("UNAVAILABLE", True)
        assert refused["message"].startswith("too many calls at once: 128 are not answered yet")
        assert (await peer.ask("chat.abort", {"sessionKey": "main"}))["payload"]["runIds"] == ["r1"]
        every = range(gateway_calls.CALLS_AT_ONCE + gateway_calls.WAITING_AT_MOST)
        entries = [(await peer.until(lambda frame: str(frame.get("id")).startswith("wait_"))) for _ in every]
        assert {frame["id"] for frame in entries} == {f"wait_{number}" for number in every}
        assert {frame["payload"]["status"] for frame in entries} == {"aborted"}
        assert (await peer.ask("health"))["ok"]


async def test_calls_behind_those_that_run_are_answered_in_their_turn(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        asked = [f"health_{number}" for number in range(3 * gateway_calls.CALLS_AT_ONCE)]
        for id in asked:
            await peer.send({"type": "req", "id": id, "method": "health"})
        entries = [(await peer.until(lambda frame: "id" in frame)) for _ in asked]
        assert [(frame["id"], frame["ok"]) for frame in entries] == [(id, True) for id in asked]


async def test_a_client_that_leaves_with_open_calls_is_forgotten_at_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, forever) as it, it.member() as other:
        async with it.member() as peer:
            await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
            await fill(peer)
            assert not (await peer.ask("health"))["ok"]
        await until(lambda: len(it.hub.presence()) == 2)
        assert (await other.ask("health"))["ok"]


async def test_an_answer_to_a_question_passes_calls_that_wait(tmp_path: Path) -> None:
    async def asks(asked: AgentRequest, run_output: RunOutput) -> None:
        allowed = await place[0].approvals.ask(asked.session_key, asked.run_id, "run_in_terminal", "make")
        run_output.say(f"allowed: {allowed}")

    place: list[GatewayUnderTest] = []
    async with running_gateway(tmp_path, asks) as it, it.open_client(is_person=True) as peer:
        assert (await peer.connect(""))["ok"]
        place.append(it)
        await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        wanted = await peer.until(lambda frame: frame.get("event") == "dragoman.approval.requested")
        await fill(peer)
        answer = {"id": wanted["payload"]["id"], "decision": "deny"}
        assert (await peer.ask("dragoman.approval.resolve", answer))["payload"]["counted"]
        await peer.until(lambda frame: "allowed: False" in str(frame))


async def test_what_is_urgent_has_a_bound_too(tmp_path: Path) -> None:
    async def silent(_: str, __: object) -> None:
        await anyio.sleep_forever()

    async with running_gateway(tmp_path, relay=silent) as it, it.member() as peer:
        for number in range(gateway_calls.CALLS_AT_ONCE):
            abort = {"type": "req", "id": f"abort_{number}", "method": "chat.abort", "params": {"sessionKey": "main"}}
            await peer.send(abort)
        refused = (await peer.ask("chat.abort", {"sessionKey": "main"}))["error"]
        assert refused["message"].startswith("too many calls at once: 32")
        assert (await peer.ask("health"))["ok"]


async def test_more_commands_than_nodes_are_given_at_once_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "INVOKED_AT_ONCE", 1)
    async with running_gateway(tmp_path) as it, a_node(it) as (node, operator, node_id):
        await begun(operator, invoke(node_id, "canvas.present"))
        asked = (await node.until(lambda frame: frame.get("event") == "node.invoke.request"))["payload"]
        error = (await operator.ask("node.invoke", invoke(node_id, "canvas.present")))["error"]
        assert (error["code"], error["details"]["code"]) == ("UNAVAILABLE", "BUSY")
        assert error["message"] == "too many commands wait for their nodes"
        await node.ask("node.invoke.result", {"id": asked["id"], "nodeId": node_id, "ok": True})
        assert (await operator.until(lambda frame: frame.get("id") == "invoke"))["ok"]
        await begun(operator, invoke(node_id, "canvas.present"))
        assert await node.until(lambda frame: frame.get("event") == "node.invoke.request")


async def test_more_sessions_than_one_connection_listens_to_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_connection, "SUBSCRIBED_AT_MOST", 1)
    async with running_gateway(tmp_path) as it, it.member() as peer, it.member() as other:
        assert (await peer.ask("sessions.messages.subscribe", {"key": "one"}))["ok"]
        assert (await peer.ask("sessions.messages.subscribe", {"key": "one"}))["ok"]
        error = (await peer.ask("sessions.messages.subscribe", {"key": "two"}))["error"]
        assert error == {
            "code": "UNAVAILABLE",
            "message": "this connection listens to 1 sessions already; connect anew for others",
        }
        assert (await other.ask("sessions.messages.subscribe", {"key": "two"}))["ok"]


async def test_more_conversations_than_are_kept_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "SESSIONS_AT_MOST", 1)
    full = "Limit reached: 1 conversations. Delete a conversation you no longer need."
    async with running_gateway(tmp_path) as it, it.member() as peer:
        assert (await peer.ask("sessions.create", {"key": "one"}))["ok"]
        send = {"sessionKey": "two", "message": "hi", "idempotencyKey": "r1"}
        for method, params in (("sessions.create", {"key": "two"}), ("chat.send", send)):
            error = (await peer.ask(method, params))["error"]
            assert error == {"code": "UNAVAILABLE", "message": full}
        assert (await peer.ask("chat.send", {**send, "sessionKey": "one"}))["ok"]
        assert (await peer.ask("sessions.delete", {"key": "one"}))["payload"]["deleted"]
        assert (await peer.ask("chat.send", {**send, "idempotencyKey": "r2"}))["ok"]
