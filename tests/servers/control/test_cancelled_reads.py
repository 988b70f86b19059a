"""A connection that ends in the turn in which its peer speaks: nothing of it reaches the event loop's error log."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.io.net.unix_socket import bind_private_socket
from dragoman.servers.control.server import ControlServer
from tests.daemons import PATIENCE

pytestmark = pytest.mark.anyio


async def test_bytes_that_come_while_a_connection_is_cancelled_are_not_an_error(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    faults: list[Any] = []
    loop.set_exception_handler(lambda _, context: faults.append(context))
    with bind_private_socket(tmp_path / "run" / "s") as listener, anyio.fail_after(10 * PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(ControlServer("1", {}, {}).serve, listener)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
                peer.setblocking(False)
                await loop.sock_connect(peer, str(tmp_path / "run" / "s"))
                await loop.sock_sendall(peer, json.dumps({"type": "hello", "protocol": 1}).encode()[:5])
                for _ in range(20):  # until the server has read it and waits for more
                    await asyncio.sleep(0)
                peer.send(b"x")
                await asyncio.sleep(0)  # our turn comes before the reader's, which is in the same turn of the loop
                group.cancel_scope.cancel()
    await asyncio.sleep(0)
    assert faults == []
