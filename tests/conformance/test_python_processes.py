"""Python programs that are more than one process, that read, or that run already when we come."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.debuggee_tree import debuggees
from dragoman.debug.model import LaunchRequest, Stop
from dragoman.debug.service import DebugService
from dragoman.io.net.peers import processes_at
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import at, client_of, end_of, eventually, service_in, sleepers, stop_of, values
from tests.requirements import sentence

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

WORK = "def work(n):\n    inner = n * 2\n    return inner\n\n"


CHILDREN = {
    "subprocess": "import subprocess, sys\n"
    "if len(sys.argv) > 1:\n    print('child', work(21), flush=True)\n"
    "else:\n    subprocess.run([sys.executable, __file__, 'child'], check=True)\n",
    "multiprocessing": "import multiprocessing\nif __name__ == '__main__':\n"
    "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print('child', pool.map(work, [21]))\n",
    "fork": "import os\nif os.fork() == 0:\n    print('child', work(21), flush=True)\n    os._exit(0)\nos.wait()\n",
}
LINE_OF_INNER = 2


@pytest.mark.parametrize("how", CHILDREN)
async def test_a_breakpoint_in_a_child_process_stops_there(tmp_path: Path, how: str) -> None:
    (tmp_path / "main.py").write_text(WORK + CHILDREN[how])
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        made, _ = await service.set_breakpoint(client, at(tmp_path, LINE_OF_INNER))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert (stop.hit_breakpoints, values(stop)["n"]) == ((made.id,), "21")
        evaluated = await service.evaluate(client, "", "n + 1", frame=None, context="repl", within_s=5)
        assert evaluated.result == "22"
        stepped = stop_of(await service.step(client, "", "over", thread_id=None, within_s=10))
        assert (stepped.thread_id, values(stepped)["inner"]) == (stop.thread_id, "42")
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, ended.output.count("child")) == (0, 1)


async def test_a_child_that_outlives_the_program_does_not_keep_the_session(tmp_path: Path) -> None:
    sleeping = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    program = f"import subprocess, sys\nsubprocess.Popen({sleeping}, start_new_session=True)\nprint('done')\n"
    (tmp_path / "main.py").write_text(program)
    async with service_in(tmp_path) as service:
        ended = end_of(await service.start(client_of(tmp_path), LaunchRequest(program="main.py"), within_s=30))
        assert (ended.exit_code, ended.output) == (0, "done\n")
        await eventually(lambda: not sleepers())


async def test_children_beyond_the_bound_run_free_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debuggees, "MAX_DEBUGGEES", 1)
    forking = "import os, time\nfor n in range(3):\n    if os.fork() == 0:\n"
    forking += "        time.sleep(1)\n        work(n)\n        os.write(1, b'ran\\n')\n        os._exit(0)\n"
    (tmp_path / "main.py").write_text(f"{WORK}{forking}for n in range(3):\n    os.wait()\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, at(tmp_path, LINE_OF_INNER))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert stop.frames[0].name == "work"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=30))
        output = stop.output + ended.output
        assert (ended.exit_code, output.count("ran\n"), output.count("[1 child processes")) == (0, 3, 1)


async def test_several_children_that_stop_at_once_are_reported_one_after_another(tmp_path: Path) -> None:
    spawning = "import subprocess, sys\nif len(sys.argv) > 1:\n    work(int(sys.argv[1]))\nelse:\n"
    spawning += "    all = [subprocess.Popen([sys.executable, __file__, str(n)]) for n in range(3)]\n"
    (tmp_path / "main.py").write_text(f"{WORK}{spawning}    sys.exit(sum(child.wait() for child in all))\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, at(tmp_path, LINE_OF_INNER))
        happened = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        seen = []
        while isinstance(happened.outcome, Stop):
            seen.append((values(happened.outcome)["n"], happened.outcome.thread_id))
            happened = await service.resume(client, "", thread_id=None, within_s=30)
        assert sorted(n for n, _ in seen) == ["0", "1", "2"]
        assert len({thread for _, thread in seen}) == 3
        assert end_of(happened).exit_code == 0


READS = "import sys\nprint('prompt')\ntext = sys.stdin.read()\nprint('read', ascii(text))\n"


@pytest.mark.parametrize(("stdin", "read"), [("one\ntwo é\n", "'one\\ntwo \\xe9\\n'"), ("", "''"), (None, "''")])
async def test_a_program_reads_what_it_is_given_and_then_the_end(tmp_path: Path, stdin: str | None, read: str) -> None:
    (tmp_path / "main.py").write_text(READS)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, at(tmp_path, 4))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py", stdin=stdin), within_s=30))
        assert stop.output.count("prompt") == 1
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, ended.output.count(f"read {read}")) == (0, 1)


LOOP = "import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.01)\n"


@contextmanager
def running(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of somebody else's."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def attaching(**fields: object) -> LaunchRequest:
    return LaunchRequest(configuration={"type": "debugpy", "request": "attach", "name": "a", **fields})


async def listening(port: int) -> None:
    """Asked of the system: debugpy takes whoever knocks for its client, and goes when that goes."""
    with anyio.fail_after(15):
        while not await anyio.to_thread.run_sync(processes_at, port):  # noqa: ASYNC110  another process tells us nothing
            await anyio.sleep(0.05)


async def looked_into_and_left(service: DebugService, client: Caller, launch_request: LaunchRequest) -> None:
    started = await service.start(client, launch_request, within_s=20)
    stop = stop_of(started)
    assert (stop.reason, stop.frames[0].line) == ("breakpoint", 5)
    stepped = stop_of(await service.step(client, "", "over", thread_id=None, within_s=10))
    assert stepped.reason == "step"
    await service.stop(client, "")
    end_of(await service.wait(client, started.session.id, within_s=10))


@pytest.mark.requirement("debug:start:attach")
@pytest.mark.requirement("debug:stop:attach-detaches")
@pytest.mark.parametrize("shape", ["connect", "port"])
async def test_a_listening_program_is_attached_to_and_keeps_running_after_the_stop(tmp_path: Path, shape: str) -> None:
    (tmp_path / "main.py").write_text(LOOP)
    port, client = free_port(), client_of(tmp_path)
    where = {"host": "127.0.0.1", "port": port}
    with running(sys.executable, "-m", "debugpy", "--listen", str(port), str(tmp_path / "main.py")) as process:
        await listening(port)
        async with service_in(tmp_path) as service:
            await service.set_breakpoint(client, at(tmp_path, 5))
            launch_request = attaching(connect=where) if shape == "connect" else attaching(**where)
            await looked_into_and_left(service, client, launch_request)
            assert process.poll() is None
            await looked_into_and_left(service, client, launch_request)
        assert process.poll() is None


async def test_a_program_that_calls_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LOOP)
    port, client = free_port(), client_of(tmp_path)
    launch_request = attaching(listen={"host": "127.0.0.1", "port": port})
    calling = (sys.executable, "-m", "debugpy", "--connect", str(port), str(tmp_path / "main.py"))
    with ExitStack() as programs:

        async def call() -> None:
            await listening(port)
            programs.enter_context(running(*calling))

        async with service_in(tmp_path) as service, anyio.create_task_group() as group:
            await service.set_breakpoint(client, at(tmp_path, 5))
            group.start_soon(call)
            await looked_into_and_left(service, client, launch_request)


async def test_a_port_where_nobody_listens_is_reported_at_once(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        with anyio.fail_after(5), pytest.raises(DragomanError, match="Could not connect to") as caught:
            await service.start(client_of(tmp_path), attaching(connect={"port": free_port()}), within_s=45)
        assert (caught.value.code, caught.value.hint is not None) == ("connection_refused", True)


@pytest.mark.requirement("debug:start:error-attach-timeout")
async def test_a_port_that_accepts_and_says_nothing_is_reported_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.debug.backends.adapters.dap_backend._ATTACH_TIMEOUT_S", 0.5)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    where = {"port": listener.extra(anyio.abc.SocketAttribute.local_port)}
    async with listener, anyio.create_task_group() as group, service_in(tmp_path) as service:
        group.start_soon(listener.serve, _say_nothing)
        with anyio.fail_after(10), pytest.raises(DragomanError) as caught:
            await service.start(client_of(tmp_path), attaching(connect=where), within_s=45)
        group.cancel_scope.cancel()
    assert caught.value.code == "attach_timeout"


@pytest.mark.requirement("debug:start:error-attach-timeout")
async def test_a_port_where_nobody_takes_the_connection_is_reported_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.debug.backends.adapters.adapter_process._EXTERNAL_CONNECT_TIMEOUT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        where = {"port": listener.getsockname()[1]}
        async with service_in(tmp_path) as service:
            with anyio.fail_after(10), pytest.raises(DragomanError) as caught:
                await service.start(client_of(tmp_path), attaching(connect=where), within_s=45)
    assert caught.value.code == "attach_timeout"
    assert caught.value.message.in_language("zh") == sentence("debug:start:error-attach-timeout")


async def _say_nothing(stream: anyio.abc.SocketStream) -> None:
    async with stream:
        await anyio.sleep_forever()


async def test_two_clients_with_two_environments_get_their_own_interpreters_from_one_daemon(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        for name in ("a", "b"):
            folder = tmp_path / name
            home = folder / "env"
            await anyio.to_thread.run_sync(
                subprocess.check_call, [sys.executable, "-m", "venv", "--without-pip", str(home)]
            )
            (folder / "main.py").write_text("import os, sys\nprint(sys.prefix, os.environ['WHO'])\n")
            base = client_of(folder)
            environment = {**base.environment, "VIRTUAL_ENV": str(home), "WHO": f"client {name}"}
            client = Caller(name, folder, folder, environment=environment, trusts_workspace=True)
            happened = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
            assert f"{home} client {name}" in end_of(happened).output
            assert happened.session.facts["interpreter"] == str(home / "bin" / "python")
