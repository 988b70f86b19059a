"""The role that a connection asks for: an operator that chats, or a node whose canvas the gateway's agents draw on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

from dragoman import __version__
from dragoman.protocols.gateway import ClientInfo, ConnectParams, Credentials, GatewayError
from dragoman.protocols.gateway.messages import ClientId, ClientMode

DOCUMENTED_SCOPES = ("operator.admin", "operator.approvals", "operator.pairing")
SCOPES = (*DOCUMENTED_SCOPES, "operator.read", "operator.write")
"""The protocol document's scopes, and the two that real gateways require for a chat."""


@dataclass(frozen=True, slots=True)
class GatewayRole:
    """The role, scopes and commands that a connection asks for. They are final from the first day: a later change is
    refused until somebody approves it.
    """

    name: Literal["operator", "node"]
    id: ClientId
    mode: ClientMode
    platform: str
    scopes: tuple[str, ...] = ()
    caps: tuple[str, ...] = ()
    commands: tuple[str, ...] | None = None
    permissions: dict[str, Any] | None = None
    is_plain: bool = False
    """Nothing beyond the protocol document, and only protocol 3: for a gateway that refuses the rest."""

    def offer(self, auth: Credentials | None) -> ConnectParams:
        return ConnectParams(
            min_protocol=3,
            max_protocol=3 if self.is_plain else 4,
            client=ClientInfo(
                id=self.id,
                version=__version__,
                platform=self.platform,
                mode=self.mode,
                display_name=None if self.is_plain else "Dragoman",
                device_family=None if self.is_plain else "dragoman",
            ),
            role=self.name,
            scopes=self.scopes,
            caps=self.caps,
            commands=self.commands,
            permissions=self.permissions,
            auth=auth,
            user_agent=None if self.is_plain else f"dragoman/{__version__}",
        )

    def reduced(self, error: GatewayError) -> GatewayRole | None:
        """Another request after a refusal: with the scopes that were approved before, or the plain form.

        None if nothing is left to try.
        """
        approved = error.detail.approved_scopes
        if error.detail.reason == "scope-upgrade" and _is_sufficient(approved) and approved != self.scopes:
            return replace(self, scopes=approved)
        if error.code == GatewayError().code and self.name == "operator" and not self.is_plain:
            return replace(self, scopes=DOCUMENTED_SCOPES, caps=(), is_plain=True)
        return None


def _is_sufficient(scopes: tuple[str, ...]) -> bool:
    return "operator.admin" in scopes or {"operator.read", "operator.write"} <= set(scopes)


OPERATOR = GatewayRole("operator", "cli", "cli", sys.platform, SCOPES, ("tool-events",), commands=(), permissions={})


def canvas_node_role(commands: tuple[str, ...]) -> GatewayRole:
    """A gateway permits every canvas command for a node on `linux`, and none for a platform that it does not know."""
    return GatewayRole("node", "node-host", "node", "dragoman", caps=("canvas",), commands=commands)
