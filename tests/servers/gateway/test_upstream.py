"""The daemon as a client of a gateway: what it draws is on our canvas, and what a person does there goes back to it."""

from __future__ import annotations

import importlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec import Raw

from dragoman.canvas.action_queue import KEPT_S
from dragoman.canvas.service import CanvasService
from dragoman.chat.gateway_client.remote_run import RemoteRun
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.core.settings.schema import Settings
from dragoman.daemon import upstream_gateway as outward_module
from dragoman.daemon.gateway_control import GatewayMethods
from dragoman.daemon.upstream_gateway import DRAWER, UpstreamGateway, open_upstream_gateway
from dragoman.tools.tool import Parameters
from tests.canvas.canvas_fixture import studio
from tests.canvas.test_protocol_document import component, create
from tests.chat.gateway_client.scripted_connection import until
from tests.support.clocks import VirtualClock
from tests.support.fake_gateway import AcceptedConnection, fake_gateway

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


class Gateway:
    """Draws one button, then keeps what it is sent; every other connection is cut before it is answered."""

    def __init__(self, *, cuts: int = 0) -> None:
        self.cuts = cuts
        self.sent: list[Json] = []

    async def script(self, accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        if accepted.number == 1:
            a2ui = {"runId": "r", "sessionKey": "acp:drawn", "kind": "a2ui", "payload": create(component("Button"))}
            await accepted.event("agent", a2ui)
        while True:
            asked = await accepted.expect("chat.send")
            self.sent.append(asked["params"])
            if accepted.number <= self.cuts:
                await accepted.close(1012, "service restart")
                return
            await accepted.answer(asked, {"runId": asked["params"]["idempotencyKey"], "status": "started"})


@asynccontextmanager
async def connected(
    folder: Path, gateway: Gateway, clock: VirtualClock | None = None
) -> AsyncIterator[tuple[UpstreamGateway, CanvasService]]:
    async with fake_gateway(gateway.script) as fake, studio(folder, clock) as (canvas, journal):
        settings = Settings(gateway_address=fake.url, gateway_unlimited=True)
        async with open_upstream_gateway(settings, find_paths(), canvas, journal) as link:
            assert (await link.connect("")).state == "connected"
            await until(lambda: len(canvas.surfaces()) == 1)
            yield link, canvas
            link.disconnect()
            await until(lambda: link.gateway_status.state == "disconnected")


async def test_what_a_gateway_draws_is_shown_and_what_is_done_there_goes_to_its_session(tmp_path: Path) -> None:
    gateway = Gateway()
    async with connected(tmp_path, gateway) as (_, canvas):
        taken = await canvas.act(DRAWER, "s", "c", by="the page")
        await until(lambda: len(gateway.sent) == 1)
    (sent,) = gateway.sent
    assert (sent["sessionKey"], sent["idempotencyKey"]) == ("agent:main:acp:drawn", taken.id)
    assert sent["message"] == 'CANVAS_A2UI action=onClick surface=s component=c context={"componentId":"c"}'


async def test_an_action_over_a_lost_connection_is_sent_again_as_the_same_one(tmp_path: Path) -> None:
    gateway = Gateway(cuts=1)
    async with connected(tmp_path, gateway) as (_, canvas):
        await canvas.act(DRAWER, "s", "c", by="the page")
        await until(lambda: len(gateway.sent) == 2)
        with anyio.move_on_after(0.2):
            await until(lambda: len(gateway.sent) > 2)
    assert gateway.sent[0] == gateway.sent[1]
    assert len(gateway.sent) == 2


async def test_an_action_that_could_not_be_delivered_for_an_hour_is_dropped(tmp_path: Path) -> None:
    gateway, clock = Gateway(), VirtualClock()
    async with connected(tmp_path, gateway, clock) as (link, canvas):
        link.disconnect()
        await until(lambda: link.gateway_status.state == "disconnected")
        await canvas.act(DRAWER, "s", "c", by="the page")
        await anyio.wait_all_tasks_blocked()
        clock.advance(KEPT_S - 1)
        kept = await canvas.act(DRAWER, "s", "c", by="the page")
        await anyio.wait_all_tasks_blocked()
        clock.advance(2)
        assert (await link.connect("")).state == "connected"
        fresh = await canvas.act(DRAWER, "s", "c", by="the page")
        await until(lambda: len(gateway.sent) == 2)
    assert [sent["idempotencyKey"] for sent in gateway.sent] == [kept.id, fresh.id]


@pytest.mark.requirement("chat:client:default-address")
async def test_without_a_connection_there_is_nobody_to_ask(tmp_path: Path) -> None:
    async with (
        studio(tmp_path) as (canvas, journal),
        open_upstream_gateway(Settings(), find_paths(), canvas, journal) as link,
    ):
        assert link.status()["state"] == "disconnected"
        assert link.status()["address"] == "ws://127.0.0.1:18789"
        with pytest.raises(Exception, match="Not connected to a gateway"):
            link.client()


@asynccontextmanager
async def unconnected(folder: Path, script: Any) -> AsyncIterator[UpstreamGateway]:
    async with (
        fake_gateway(script) as fake,
        studio(folder) as (canvas, journal),
        open_upstream_gateway(Settings(gateway_address=fake.url), find_paths(), canvas, journal) as link,
    ):
        yield link
        link.disconnect()
        await until(lambda: link.gateway_status.state == "disconnected")


async def test_the_status_says_why_there_is_no_connection_and_what_to_do(tmp_path: Path) -> None:
    async with unconnected(tmp_path, Gateway().script) as link:
        result = GatewayMethods(link).gateway_status("en")
        assert (result["state"], result["reason"]) == ("disconnected", "No connection has been requested yet.")
        assert "dragoman gateway connect" in result["hint"]
        await link.connect("")
        link.disconnect()
        await until(lambda: link.gateway_status.state == "disconnected")
        result = GatewayMethods(link).gateway_status("en")
        assert result["reason"] == "Disconnected on request."
        assert "dragoman gateway connect" in result["hint"]
        assert (result["canvas"], result["canvas_reason"]) == ("disconnected", "")


async def test_a_call_that_waits_is_given_its_own_time_and_others_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outward_module, "REQUEST_WITHIN_S", 0.2)
    was_silent, entries = anyio.Event(), list[Any]()

    async def late(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        asked = await accepted.expect("agent.wait")
        await was_silent.wait()
        await accepted.answer(asked, {"status": "ok"})
        await accepted.stay()

    async with unconnected(tmp_path, late) as link, anyio.create_task_group() as group:

        async def wait() -> None:
            entries.append(bytes(await link.relay("agent.wait", Raw(b'{"runId": "r", "timeoutMs": 60000}'))))

        await link.connect("")
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(DragomanError) as silent:
            await link.relay("chat.history", Raw(b'{"sessionKey": "main", "timeoutMs": 60000}'))
        assert silent.value.code == "gateway_silent"
        was_silent.set()
    assert entries == [b'{"status": "ok"}']


@pytest.mark.parametrize(
    ("params", "seconds"),
    [
        (b'{"timeoutMs": 120000}', 150.0),
        (b"{}", 60.0),
        (b'{"timeoutMs": 1e12}', 3630.0),
        (b'{"timeoutMs": -5}', 30.0),
        (b'{"timeoutMs": "x"}', 30.0),
    ],
)
def test_how_long_a_run_is_waited_for_is_bounded(params: bytes, seconds: float) -> None:
    assert outward_module._deadline_s("agent.wait", Raw(params)) == seconds


async def test_the_token_goes_to_the_gateway_of_the_settings_and_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_MINE", "secret-of-the-configured-one")
    seen: dict[str, Any] = {}

    def notes(name: str) -> Any:
        async def script(accepted: AcceptedConnection) -> None:
            seen[name] = (await accepted.welcome())["params"].get("auth")
            await accepted.stay()

        return script

    async with fake_gateway(notes("own")) as own, fake_gateway(notes("other")) as other:
        settings = Settings(gateway_address=own.url, gateway_token_variable="TOKEN_OF_MINE")
        async with (
            studio(tmp_path) as (canvas, journal),
            open_upstream_gateway(settings, find_paths(), canvas, journal) as link,
        ):
            for url in (own.url, other.url):
                assert (await link.connect(url)).state == "connected"
            link.disconnect()
            await until(lambda: link.gateway_status.state == "disconnected")
    assert seen == {"own": {"token": "secret-of-the-configured-one"}, "other": None}


@pytest.mark.parametrize("address", ["ws://127.0.0.1:99999", f"ws://{'a' * 64}.example", "ws://[::1", "ws://..:1"])
async def test_an_impossible_address_is_reported_as_such_and_ends_nothing(tmp_path: Path, address: str) -> None:
    settings = Settings(gateway_address=address, gateway_relay=True)
    async with (
        studio(tmp_path) as (canvas, journal),
        open_upstream_gateway(settings, find_paths(), canvas, journal) as link,
    ):
        assert (await link.connect("")).code == "gateway_unreachable"


@pytest.mark.parametrize("written", [None, b"\xff\xfe"])
async def test_an_unreadable_token_is_reported_to_the_client_and_a_relay_starts_without(
    tmp_path: Path, written: bytes | None
) -> None:
    file = tmp_path / "token"
    if written is not None:
        file.touch(mode=0o600)
        file.write_bytes(written)
    settings = Settings(gateway_token_file=str(file), gateway_relay=True)
    async with (
        studio(tmp_path / "journal") as (canvas, journal),
        open_upstream_gateway(settings, find_paths(), canvas, journal) as link,
    ):
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(DragomanError, match="Cannot read"):
            await link.connect("")
        result = GatewayMethods(link).gateway_status("en")
        assert (result["state"], result["code"]) == ("error", "no_gateway_token")
        assert "Cannot read" in result["reason"]


def test_no_tool_names_a_gateway() -> None:
    """Agents act through tools alone: where none takes an address, none chooses whom we connect to."""
    for name in ("debug", "terminal", "canvas", "evidence"):
        importlib.import_module(f"dragoman.tools.{name}")
    named = {(shape.__name__, name) for shape in every(Parameters) for name in shape.model_fields}
    assert len(named) > 50
    assert [it for it in named if re.search("url|gateway|address|host|port$", it[1])] == []


def every(shape: type[Parameters]) -> set[type[Parameters]]:
    return {shape}.union(*map(every, shape.__subclasses__()))


async def test_a_caller_that_waits_for_an_answer_learns_when_another_gateway_is_named(tmp_path: Path) -> None:
    gateway = Gateway()
    async with connected(tmp_path, gateway) as (link, _), anyio.create_task_group() as group:
        events = RemoteRun(link.client(), link.router, "main", "hello").events()
        group.start_soon(_named_after_the_first, link, gateway)
        with anyio.fail_after(20), pytest.raises(DragomanError, match="Disconnected on request"):
            await anext(events)


async def _named_after_the_first(link: UpstreamGateway, gateway: Gateway) -> None:
    await until(lambda: len(gateway.sent) == 1)
    await link.connect("ws://127.0.0.1:1")
