"""What we are to a gateway: an operator that chats, or a node whose canvas its agents draw on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from dragoman import __version__
from dragoman.wire.gateway import ClientInfo, ConnectParams, Credentials
from dragoman.wire.gateway.messages import ClientId, ClientMode

SCOPES = ("operator.read", "operator.write", "operator.approvals", "operator.pairing")


@dataclass(frozen=True, slots=True)
class Role:
    """The final scopes, commands and a fixed platform from the first day: a later change is refused until somebody
    approves it."""

    name: Literal["operator", "node"]
    id: ClientId
    mode: ClientMode
    platform: str
    scopes: tuple[str, ...] = ()
    caps: tuple[str, ...] = ()
    commands: tuple[str, ...] | None = None

    def offer(self, auth: Credentials | None) -> ConnectParams:
        return ConnectParams(
            min_protocol=3,
            max_protocol=4,
            client=ClientInfo(
                id=self.id,
                version=__version__,
                platform=self.platform,
                mode=self.mode,
                display_name="Dragoman",
                device_family="dragoman",
            ),
            role=self.name,
            scopes=self.scopes,
            caps=self.caps,
            commands=self.commands,
            auth=auth,
            user_agent=f"dragoman/{__version__}",
        )


OPERATOR = Role("operator", "cli", "cli", sys.platform, SCOPES, ("tool-events",))


def canvas_node(commands: tuple[str, ...]) -> Role:
    """A gateway takes every canvas command from a node on `linux`, and none from a platform that it does not know."""
    return Role("node", "node-host", "node", "dragoman", caps=("canvas",), commands=commands)
