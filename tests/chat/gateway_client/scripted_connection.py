"""A client connected to a scripted gateway; what it sent and received is kept in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.chat.gateway_client.client import GatewayAddress, GatewayClient
from dragoman.chat.gateway_client.connection_status import GatewayStatus, ReconnectPolicy
from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.core.clock import SystemClock
from dragoman.io.net.websocket_client import open_websocket
from dragoman.protocols.gateway import EventFrame, SequenceGap
from tests.daemons import PATIENCE
from tests.support.fake_gateway import FakeGateway, Script, fake_gateway


async def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    with anyio.fail_after(within_s * PATIENCE):
        while not condition():  # noqa: ASYNC110  what is waited for is told in many ways
            await anyio.sleep(0.005)


@dataclass
class Line:
    client: GatewayClient
    gateway: FakeGateway
    statuses: list[GatewayStatus] = field(default_factory=list)
    on_event: list[EventFrame | SequenceGap] = field(default_factory=list)

    @property
    def states(self) -> list[str]:
        return [it.state for it in self.statuses]

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition)

    async def stays(self, condition: Callable[[], bool], for_s: float) -> None:
        """What must not happen did not, for much longer than it would have taken."""
        end_s = anyio.current_time() + for_s
        while anyio.current_time() < end_s:
            assert condition()
            await anyio.sleep(0.005)

    async def until_state(self, state: str) -> GatewayStatus:
        await self.until(lambda: self.client.gateway_status.state == state)
        return self.client.gateway_status


class QuickDelays(ReconnectPolicy):
    """The document's delays, a hundred times as fast."""

    def delay_s(self, failed: int) -> float | None:
        delay_s = super().delay_s(failed)
        return None if delay_s is None else delay_s / 100


@asynccontextmanager
async def line(
    folder: Path, script: Script, *, token: str = "", reconnect_policy: ReconnectPolicy | None = None, url: str = ""
) -> AsyncIterator[Line]:
    async with fake_gateway(script) as gateway, anyio.create_task_group() as group:
        received: list[GatewayStatus] = []
        on_event: list[EventFrame | SequenceGap] = []
        client = GatewayClient(
            GatewayAddress(url or gateway.url, token),
            DeviceIdentity(folder / "identity"),
            SystemClock(),
            open_websocket,
            on_status=received.append,
            on_event=on_event.append,
            reconnect_policy=reconnect_policy or QuickDelays(),
        )
        group.start_soon(client.run)
        client.connect()
        yield Line(client, gateway, received, on_event)
        client.disconnect()
        group.cancel_scope.cancel()
