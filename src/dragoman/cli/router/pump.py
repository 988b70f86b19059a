"""The pump of `dragoman mcp` with several targets: a `DaemonSide` for each, and the router before them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.cli.caller import local_caller_info, remote_caller_info, working_folder
from dragoman.cli.output import render
from dragoman.cli.remote.connector import RemoteConnector
from dragoman.cli.remote.options import chosen_targets
from dragoman.cli.router.router import Router
from dragoman.cli.stdio.daemon_search import Connector, DaemonConnector
from dragoman.cli.stdio.daemon_side import DaemonSide, sentences
from dragoman.cli.stdio.mcp import McpPump
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.io.net.targets import Target
from dragoman.protocols.jsonrpc.relay import FULL

_SEARCHES_EVERY_S = 30.0
"""A target that refuses a login should not be asked with every call."""


def open_router(folder: Path, choices: Mapping[str, Any], client_in: int, client_out: int) -> RouterPump:
    """`folder` is the workspace on the other machines; on this one, it is the client's working folder."""
    links = [TargetSide(name, _connector(target, folder, choices)) for name, target in chosen_targets().items()]
    return RouterPump(links, client_in, client_out)


def _connector(target: Target | None, folder: Path, choices: Mapping[str, Any]) -> Connector:
    routed = {**choices, "routed": True}
    if target is None:
        here = Path(working_folder())
        return DaemonConnector(find_paths(), here, {**local_caller_info(here), **routed})
    return RemoteConnector(target, {**remote_caller_info(folder, target.name), **routed})


class TargetSide:
    """One target, as the router sees it."""

    def __init__(self, name: str, connector: Connector) -> None:
        self.name = name
        self.side = DaemonSide(connector)
        self._searched_at_s = time.monotonic()
        self._is_remote = isinstance(connector, RemoteConnector)

    @property
    def is_connected(self) -> bool:
        return self.side.is_connected

    @property
    def is_full(self) -> bool:
        return self.side.relay.to_daemon.size >= FULL

    @property
    def failure(self) -> tuple[str, str] | None:
        error = self.side.failure
        return (error.code, self.advised(sentences(error))) if error is not None else None

    def send(self, line: bytes) -> None:
        self.side.relay.receive_from_client(line + b"\n")

    def search(self) -> None:
        now = time.monotonic()
        if now - self._searched_at_s > _SEARCHES_EVERY_S:
            self._searched_at_s = now
            self.side.search_daemon()

    def advised(self, text: str) -> str:
        if not self._is_remote or f"dragoman doctor --on {self.name}" in text:
            return text
        doctor = localize("`dragoman doctor --on {target}` checks it step by step.", target=self.name)
        return f"{text} {render(doctor)}"


class RouterPump(McpPump):
    def __init__(self, targets: Sequence[TargetSide], client_in: int, client_out: int) -> None:
        self._targets = targets
        self._router = Router([it.name for it in targets], targets, time.monotonic)
        super().__init__(self._router, [it.side for it in targets], client_in, client_out)

    def _poll(self, timeout_ms: int | None) -> None:
        left_s = self._router.left_s
        if left_s is not None:
            left_ms = int(left_s * 1000) + 1
            timeout_ms = left_ms if timeout_ms is None else min(timeout_ms, left_ms)
        super()._poll(timeout_ms)
        self._router.expire()
        self._pass_on()

    def _reads(self, side: DaemonSide) -> bool:
        return self._router.reads_target(self._sides.index(side))

    def _pass_on(self) -> None:
        """Until nothing moves any more: a daemon that is gone answers what it was sent at once, with an error."""
        while True:
            for number, side in enumerate(self._sides):
                for line in side.relay.to_client.pop_all():
                    self._router.receive_from_target(number, line.data)
            for side in self._sides:
                if side.relay.to_daemon:
                    side.search_daemon()
                    side.send()
            if not any(side.relay.to_client for side in self._sides):
                return
