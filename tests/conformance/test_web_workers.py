"""A web server whose workers are processes of their own, briefly; `make test-programs` has the others."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import anyio
import pytest

from tests.daemons import PATIENCE
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(60 * PATIENCE))]

SHOP = """\
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    count = int(scope["path"][1:])
    total = count * 7
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": b"total %d" % total})
"""


async def test_a_request_stops_in_the_worker_that_serves_it_and_is_answered(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("shop.py", SHOP)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        await agent.call("set_breakpoint", file_path="shop.py", line_number=6)
        args = ["--workers", "2", "--port", str(port), "--lifespan", "off", "shop:app"]
        wanted = {"type": "debugpy", "name": "x", "module": "uvicorn", "python": sys.executable, "args": args}
        await agent.call("start_debugging", configuration=wanted, wait=False)
        with anyio.fail_after(30 * PATIENCE):
            async with await _connected(port) as asking:
                await asking.send(b"GET /3 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                stop = await agent.call("wait_for_stop", timeout_s=30)
                assert stop["stop_event_data"]["line"] == 6, stop.text
                assert ("count = 3" in stop.text, "total = 21" in stop.text) == (True, True)
                await agent.call("continue_debugging", wait=False)
                answer = b""
                while b"total 21" not in answer:
                    answer += await asking.receive()
        ended = await agent.call("stop_debugging")
        assert not ended.is_error


async def _connected(port: int) -> anyio.abc.SocketStream:
    """As soon as it listens."""
    while True:
        try:
            return await anyio.connect_tcp("127.0.0.1", port)
        except OSError:
            await anyio.sleep(0.05)
