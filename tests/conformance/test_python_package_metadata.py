"""debugpy reads what every installed package says of itself, four times a start: only where its log is kept."""

from __future__ import annotations

import dataclasses
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.debug.backends.adapters import python
from dragoman.debug.model import LaunchRequest
from tests.conformance.test_python import LINE_OF_RESULT, at, client_of, end_of, service_in, stop_of, workspace
from tests.daemons import PATIENCE

__all__ = ["workspace"]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SCRIPTS = python._SCRIPTS


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A folder with a package that keeps whoever reads about it for ever."""
    about = tmp_path / "installed" / "slow-1.0.dist-info"
    about.mkdir(parents=True)
    os.mkfifo(about / "METADATA")
    return str(about.parent)


async def test_the_program_is_debugged_without_a_word_of_what_is_installed(workspace: Path, installed: str) -> None:
    client = client_of(workspace)
    client = dataclasses.replace(client, environment={**client.environment, "PYTHONPATH": installed})
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT, condition="n == 9"))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=20 * PATIENCE))
        assert [frame.name for frame in stop.frames] == ["double", "main", "<module>"]
        assert end_of(await service.resume(client, "", thread_id=None, within_s=20)).exit_code == 3


async def test_a_log_that_somebody_wants_still_has_it(workspace: Path) -> None:
    client = client_of(workspace)
    logs = workspace / "logs"
    client = dataclasses.replace(client, environment={**client.environment, "DEBUGPY_LOG_DIR": str(logs)})
    async with service_in(workspace) as service:
        end_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
    found = {path.name.rpartition("-")[0] for path in logs.iterdir() if "Installed packages:" in path.read_text()}
    assert {"debugpy.launcher", "debugpy.server"} <= found


async def test_the_program_looks_for_nothing_beside_us_whatever_links_lead_here(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interpreter names the folder of what it runs as it really is, and ours holds modules of ours."""
    (workspace / "link").symlink_to(SCRIPTS)
    monkeypatch.setitem(python._LAUNCHER, "debugLauncherPath", str(workspace / "link" / "debugpy_launcher.py"))
    (workspace / "main.py").write_text("import sys\nprint(*sys.path, sep='\\n')\n")
    async with service_in(workspace) as service:
        ended = end_of(
            await service.start(client_of(workspace), LaunchRequest(program="main.py"), within_s=20 * PATIENCE)
        )
    looked = ended.output.splitlines()
    assert looked[0] == str(workspace)
    assert str(SCRIPTS) not in looked


def test_the_launcher_comes_to_its_adapter_at_once(installed: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as adapter:
        adapter.settimeout(20 * PATIENCE)
        command = [sys.executable, str(SCRIPTS / "debugpy_launcher.py"), str(adapter.getsockname()[1]), "--", "x.py"]
        with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": installed}) as launcher:
            try:
                adapter.accept()[0].close()
            finally:
                launcher.kill()


def test_the_adapter_answers_at_once(installed: str) -> None:
    asked = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"debugpy"}}'
    command = [sys.executable, "-P", str(SCRIPTS / "debugpy_entry.py")]
    environment, pipe = {**os.environ, "PYTHONPATH": installed}, subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as adapter:
        assert adapter.stdin is not None
        assert adapter.stdout is not None
        adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(asked), asked))
        adapter.stdin.flush()
        assert select.select([adapter.stdout], [], [], 20 * PATIENCE)[0]
        assert adapter.stdout.readline().startswith(b"Content-Length: ")
        adapter.kill()
