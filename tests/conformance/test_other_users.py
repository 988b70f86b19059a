"""Another user of this machine meets no port of a session that would serve them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import JAVASCRIPT, PYTHON
from dragoman.debug.model import LaunchRequest
from dragoman.io.net.peers import listeners
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import at, client_of, service_in, stop_of, values
from tests.io.processes.test_nodelay import served as listening
from tests.peers import give_adapters

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is"),
]

KNOCK = """\
import json, socket, sys
body = json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}}).encode()
for port in map(int, sys.argv[1:]):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.settimeout(1)
        try:
            sock.sendall(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
            heard = b""
            while b'"success"' not in heard and (piece := sock.recv(4096)):
                heard += piece
        except OSError:
            pass
        print(json.dumps([port, "supportsConfigurationDoneRequest" in heard.decode(errors="replace")]))
"""


def ports_of_the_tree() -> list[int]:
    found = listeners(process.pid for process in psutil.Process().children(recursive=True))
    assert all(listener.is_loopback for listener in found)
    return sorted({listener.port for listener in found})


async def served(ports: list[int], *before: str) -> list[int]:
    command = [*before, "/usr/bin/python3", "-I", "-c", KNOCK, *map(str, ports)]
    done = await anyio.to_thread.run_sync(lambda: subprocess.run(command, capture_output=True, check=True))
    return [port for port, was_served in map(json.loads, done.stdout.splitlines()) if was_served]


@pytest.mark.needs("runuser")
async def test_debugpys_port_serves_this_user_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("n = 1\nprint(n)\nprint(n)\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path, PYTHON) as service:
        await service.set_breakpoint(client, at(tmp_path, 2))
        stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        ports = await anyio.to_thread.run_sync(ports_of_the_tree)
        assert ports
        assert await served(ports, "runuser", "-u", "nobody", "--") == []
        assert len(await served(ports)) == 1  # so the knock is one that would be heard
        stepped = stop_of(await service.step(client, "", "over", thread_id=None, within_s=10))
        assert values(stepped)["n"] == "1"


@pytest.mark.needs("javascript")
async def test_js_debug_listens_on_no_port_for_clients(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    (tmp_path / "main.js").write_text("let n = 1;\nconsole.log(n);\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path, JAVASCRIPT) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "main.js"), line=2))
        stop_of(await service.start(client, LaunchRequest(program="main.js"), within_s=30))
        assert await served(await anyio.to_thread.run_sync(ports_of_the_tree)) == []


@pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")
@pytest.mark.parametrize("named", [{"port": "PORT"}, {"websocketAddress": "ws://127.8.0.1:PORT/6f1b"}])
async def test_an_inspector_of_another_user_is_not_attached_to(tmp_path: Path, named: dict[str, str]) -> None:
    with listening("0.0.0.0", before="import os, socket; os.setuid(65534)") as (_, port):
        found = {key: port if value == "PORT" else value.replace("PORT", str(port)) for key, value in named.items()}
        attach = {"type": "node", "request": "attach", "name": "node", **found}
        async with service_in(tmp_path, JAVASCRIPT) as service:
            with pytest.raises(DragomanError) as caught:
                await service.start(client_of(tmp_path), LaunchRequest(configuration=attach), within_s=5)
    assert caught.value.code == "foreign_peer"
