"""Adapters that listen on a port, as users may declare them: on the port they print, or on a free one."""

from __future__ import annotations

import dataclasses
import re
import socket
import sys
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import JAVASCRIPT, PYTHON, LaunchContext
from dragoman.debug.backends.adapters.discovery import require_adapter
from dragoman.debug.backends.adapters.spec import Transport
from dragoman.debug.model import LaunchRequest
from dragoman.io.net.streams import free_port
from dragoman.io.processes.command import ProcessCommand
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import at, client_of, end_of, service_in, stop_of, values
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


def by_port(situation: LaunchContext) -> ProcessCommand:
    argv = [sys.executable, "-P", "-m", "debugpy.adapter", "--host", "127.0.0.1", "--port", situation.at]
    return ProcessCommand(argv, situation.environment, situation.workspace)


DEBUGPY = dataclasses.replace(PYTHON, transport="tcp", command=by_port)


async def test_an_adapter_on_a_port_that_was_free(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("n = 41\nn += 1\nprint(n)\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path, DEBUGPY) as service:
        await service.set_breakpoint(client, at(tmp_path, 3))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert values(stop)["n"] == "42"
        assert end_of(await service.resume(client, "", thread_id=None, within_s=20)).exit_code == 0


@pytest.mark.needs("javascript")
async def test_an_adapter_that_prints_its_port_and_has_several_connections(tmp_path: Path, home: Path) -> None:
    def command(situation: LaunchContext) -> ProcessCommand:
        server = require_adapter("javascript", situation.environment)
        return ProcessCommand(
            ["node", str(server), situation.at, "127.0.0.1"], situation.environment, situation.workspace
        )

    give_adapters(home)
    pattern = re.compile(r"listening at .*:(?P<port>\d+)")
    spec = dataclasses.replace(JAVASCRIPT, transport="tcp", listening=pattern, command=command)
    (tmp_path / "main.js").write_text("let n = 42;\nconsole.log(n);\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path, spec) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "main.js"), line=2))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.js"), within_s=30))
        assert values(stop)["n"] == "42"


async def test_a_port_that_somebody_else_took_is_given_up_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text("print(42)\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1], free_port()])
        monkeypatch.setattr("dragoman.debug.backends.adapters.adapter_process.free_port", lambda: next(ports))
        async with service_in(tmp_path, DEBUGPY) as service:
            ended = end_of(await service.start(client_of(tmp_path), LaunchRequest(program="main.py"), within_s=30))
            assert (ended.exit_code, next(ports, None)) == (0, None)


@pytest.mark.parametrize("transport", ["tcp", "unix", "calls"])
async def test_an_adapter_that_dies_at_once_is_reported_with_its_last_words(
    tmp_path: Path, transport: Transport
) -> None:
    def broken(situation: LaunchContext) -> ProcessCommand:
        return ProcessCommand([sys.executable, "-c", "raise SystemExit('no debugger here')"], {}, situation.workspace)

    spec = dataclasses.replace(PYTHON, transport=transport, command=broken)
    (tmp_path / "main.py").write_text("print(42)\n")
    async with service_in(tmp_path, spec) as service:
        with pytest.raises(DragomanError, match="no debugger here") as caught:
            await service.start(client_of(tmp_path), LaunchRequest(program="main.py"), within_s=20)
        assert caught.value.code == "adapter_gone"
