"""Debugging real node programs through the engine and js-debug."""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import re
import shutil
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters.javascript import JAVASCRIPT
from dragoman.debug.backends.debuggee_tree import debuggees
from dragoman.debug.model import LaunchRequest, Stop
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.scenario import PROGRAMS, Language, Stage
from tests.conformance.test_python import client_of, end_of, eventually, service_in, stop_of, values
from tests.conformance.test_python_processes import free_port
from tests.daemons import PATIENCE
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120), pytest.mark.needs("javascript")]

PROGRAM = """\
function double(n) {
  const result = n * 2;
  return result;
}

let total = 0;
for (let i = 0; i < 10; i++) {
  total += double(i);
  console.log('total', total);
}
process.exitCode = 3;
"""
LINE_OF_RESULT = 3
NODE = Language("javascript", JAVASCRIPT, "javascript/main.js", computes=4, calls=14, prints=15)


@pytest.fixture(autouse=True)
def adapter(home: Path) -> None:
    give_adapters(home)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "main.js").write_text(PROGRAM)
    return tmp_path


def at(workspace: Path, line: int, file: str = "main.js", **fields: str) -> Breakpoint:
    return Breakpoint(id=0, path=str(workspace / file), line=line, **fields)  # type: ignore[arg-type]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(NODE, tmp_path, Path(shutil.copy(PROGRAMS / NODE.source, tmp_path)))


async def test_scopes_are_one_node_itself_is_folded_and_no_thread_is_zero(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT, condition="n == 3"))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.js"), within_s=30))
        assert stop.thread_id > 0
        out = stop_of(await service.step(client, "", "out", thread_id=None, within_s=10))
        assert {"i", "total"} <= set(values(out)) or values(out)["i"] == "3"
        assert [frame.is_library for frame in out.frames[:2]] == [False, True]


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"condition": "n > 3", "hit_condition": "% 2 == 0"}, ["5", "7", "9"]),
        ({"hit_condition": "% 4 == 1"}, ["0", "4", "8"]),
    ],
)
async def test_conditions_that_js_debug_cannot_join_or_write_hold_all_the_same(
    workspace: Path, fields: dict[str, str], seen: list[str]
) -> None:
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_RESULT, **fields))
        happened, found = await service.start(client, LaunchRequest(program="main.js"), within_s=30), []
        while isinstance(happened.outcome, Stop):
            found.append(values(happened.outcome)["n"])
            happened = await service.resume(client, "", thread_id=None, within_s=10)
        assert found == seen


async def test_a_step_over_a_call_is_not_lost_to_a_hit_in_it_that_does_not_count(stage: Stage) -> None:
    client = stage.client
    async with service_in(stage.workspace, JAVASCRIPT) as service:
        await service.set_breakpoint(client, stage.at(NODE.calls, condition="n == 4"))
        await service.set_breakpoint(client, stage.at(NODE.computes, hit_condition=">= 100"))
        await service.start(client, stage.launch_request(), within_s=30)
        over = stop_of(await service.step(client, "", "over", thread_id=None, within_s=20))
        assert (over.reason, over.frames[0].line, values(over)["n"]) == ("step", NODE.prints, "4")


READS = "let t = '';\nprocess.stdin.on('data', d => t += d).on('end', () => console.log('read', JSON.stringify(t)));\n"


@pytest.mark.parametrize(("stdin", "read"), [("one\ntwo é\n", '"one\\ntwo é\\n"'), (None, '""')])
async def test_a_program_reads_what_it_is_given_and_then_the_end(workspace: Path, stdin: str | None, read: str) -> None:
    (workspace / "main.js").write_text(READS)
    async with service_in(workspace, JAVASCRIPT) as service:
        launch_request = LaunchRequest(program="main.js", stdin=stdin)
        ended = end_of(await service.start(client_of(workspace), launch_request, within_s=30))
        assert f"read {read}" in ended.output


async def test_the_program_has_the_clients_environment_with_the_configurations_on_top(workspace: Path) -> None:
    (workspace / "main.js").write_text(
        "console.log(process.title, process.env.WHO, process.env.EXTRA, process.cwd());\n"
    )
    client = client_of(workspace)
    environment = {**client.environment, "NODE_OPTIONS": "--title=named", "WHO": "client", "EXTRA": "no"}
    client = dataclasses.replace(client, environment=environment)
    (workspace / "sub").mkdir()
    launch_request = LaunchRequest(program="main.js", env={"EXTRA": "yes"}, cwd="sub")
    async with service_in(workspace, JAVASCRIPT) as service:
        ended = end_of(await service.start(client, launch_request, within_s=30))
        assert f"named client yes {workspace / 'sub'}" in ended.output


CHILDREN = {
    "fork": "require('child_process').fork('./child.js').on('exit', c => console.log('child', c));\n",
    "spawn": "require('child_process').spawn('node', ['child.js']).on('exit', c => console.log('child', c));\n",
    "worker": "new (require('worker_threads').Worker)('./child.js').on('exit', c => console.log('child', c));\n",
}


@pytest.mark.parametrize("how", CHILDREN)
async def test_a_breakpoint_in_a_child_process_stops_there_and_the_program_ends_in_order(
    workspace: Path, how: str
) -> None:
    (workspace / "main.js").write_text(CHILDREN[how])
    (workspace / "child.js").write_text("const inner = 6 * 7;\nprocess.exitCode = inner - 37;\n")
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        made, _ = await service.set_breakpoint(client, at(workspace, 2, "child.js"))
        started = await service.start(client, LaunchRequest(program="main.js"), within_s=30)
        stop = stop_of(started)
        assert (Path(stop.frames[0].path).name, stop.hit_breakpoints) == ("child.js", (made.id,))
        evaluated = await service.evaluate(client, "", "inner", frame=None, context="repl", within_s=5)
        assert evaluated.result == "42"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, "child" in ended.output) == (0, True)


async def test_children_beyond_the_bound_run_free_to_their_end(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debuggees, "MAX_DEBUGGEES", 1)
    (workspace / "child.js").write_text("setTimeout(() => console.log('ran'), 1500);\n")
    forking = "for (let n = 0; n < 3; n++) require('child_process').fork('./child.js');\n"
    (workspace / "main.js").write_text(forking)
    async with service_in(workspace, JAVASCRIPT) as service:
        ended = end_of(await service.start(client_of(workspace), LaunchRequest(program="main.js"), within_s=40))
        assert (ended.exit_code, ended.output.count("ran\n"), ended.output.count("[1 child processes")) == (0, 3, 1)


@pytest.mark.parametrize("program", ["main.js", "main.ts"])
async def test_a_breakpoint_in_typescript_binds_and_stops_there(workspace: Path, program: str) -> None:
    """The map says: line n of main.js is line n + 1 of main.ts."""
    script = "function twice(n) {\n  return n * 2;\n}\nconsole.log(twice(21));\n//# sourceMappingURL=main.js.map\n"
    typed = "type Whole = number;\nfunction twice(n: Whole): Whole {\n  return n * 2;\n}\nconsole.log(twice(21));\n"
    lines = "AACA;EACE;AACF;AACA"
    mapped = {"version": 3, "file": "main.js", "sources": ["main.ts"], "names": [], "mappings": lines}
    (workspace / "main.js").write_text(script)
    (workspace / "main.ts").write_text(typed)
    (workspace / "main.js.map").write_text(json.dumps(mapped))
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        made, _ = await service.set_breakpoint(client, at(workspace, 3, "main.ts"))
        stop = stop_of(await service.start(client, LaunchRequest(program=program), within_s=30))
        assert (Path(stop.frames[0].path).name, stop.frames[0].line) == ("main.ts", 3)
        assert (stop.hit_breakpoints, values(stop)["n"]) == ((made.id,), "21")


async def test_typescript_that_node_cannot_run_is_an_error_that_says_what_to_do(workspace: Path) -> None:
    (workspace / "typed.ts").write_text("const n: number = 1;\nconsole.log(n);\n")
    (workspace / "node").write_text("#!/bin/sh\necho v20.20.2\n")
    (workspace / "node").chmod(0o755)
    env = {"PATH": f"{workspace}:{os.environ['PATH']}"}
    async with service_in(workspace, JAVASCRIPT) as service:
        with pytest.raises(DragomanError, match=r"node 20\.20 cannot run TypeScript directly") as caught:
            await service.start(client_of(workspace), LaunchRequest(program="typed.ts", env=env), within_s=30)
    assert caught.value.code == "needs_build"
    assert '"--import", "tsx"' in str(caught.value.hint)


async def test_attaching_where_no_node_listens_is_reported_within_seconds(workspace: Path) -> None:
    where = {"type": "node", "request": "attach", "name": "a", "port": free_port()}
    async with service_in(workspace, JAVASCRIPT) as service:
        with anyio.fail_after(10), pytest.raises(DragomanError) as caught:
            await service.start(client_of(workspace), LaunchRequest(configuration=where), within_s=45)
        assert caught.value.hint is not None


async def test_a_page_in_a_browser_is_refused_with_the_reason(workspace: Path) -> None:
    launch_request = LaunchRequest(
        configuration={"type": "chrome", "request": "launch", "name": "c", "url": "http://localhost"}
    )
    async with service_in(workspace, JAVASCRIPT) as service:
        with pytest.raises(DragomanError, match="Browser debugging") as caught:
            await service.start(client_of(workspace), launch_request, within_s=10)
        assert caught.value.code == "no_browser"


async def test_stopping_ends_the_whole_tree(workspace: Path) -> None:
    (workspace / "main.js").write_text("require('child_process').fork('./child.js');\n")
    (workspace / "child.js").write_text("console.log('ready');\nsetInterval(() => {}, 600000);\n")
    client = client_of(workspace)
    before = set(psutil.Process().children(recursive=True))
    async with service_in(workspace, JAVASCRIPT) as service:
        started = await service.start(client, LaunchRequest(program="main.js"), within_s=2)
        assert started.outcome is None
        await service.stop(client, started.session.id)
        end_of(await service.wait(client, started.session.id, within_s=10))
    await eventually(lambda: not set(psutil.Process().children(recursive=True)) - before)


@pytest.mark.parametrize("more", [{}, {"runtimeExecutable": "${workspaceFolder}/run"}], ids=["node", "as by npm"])
async def test_a_stopped_program_that_is_ended_does_not_continue_from_there(
    workspace: Path, more: dict[str, str]
) -> None:
    (workspace / "main.js").write_text("const n = 1;\nrequire('fs').writeFileSync('went-on', '');\n")
    (workspace / "run").write_text('#!/bin/sh\nnode "$@"\nexit $?\n')
    (workspace / "run").chmod(0o755)
    client = client_of(workspace)
    launch_request = LaunchRequest(
        configuration={"type": "node", "request": "launch", "name": "x", "program": "main.js", **more}
    )
    async with service_in(workspace, JAVASCRIPT) as service:
        await service.set_breakpoint(client, at(workspace, 2))
        stopped = await service.start(client, launch_request, within_s=30)
        assert stop_of(stopped).frames[0].line == 2
        await service.stop(client, stopped.session.id)
        end_of(await service.wait(client, stopped.session.id, within_s=10))
    assert not (workspace / "went-on").exists()


LISTENS = """\
const { url } = require('node:inspector');
const { execFileSync } = require('node:child_process');
console.log('own', url());
console.log('child', execFileSync(process.execPath, ['-p', "require('node:inspector').url()"]).toString());
debugger;
"""


async def test_the_inspector_of_a_launched_program_reveals_its_address_to_nobody(workspace: Path) -> None:
    """Who else is on the machine can connect to its port, and needs the random path, which only the debugger knows. The
    control: without the guard any user is told it, by `/json/list`."""
    (workspace / "main.js").write_text(LISTENS)
    async with service_in(workspace, JAVASCRIPT) as service:
        stop = stop_of(
            await service.start(client_of(workspace), LaunchRequest(program="main.js"), within_s=30 * PATIENCE)
        )
        address = re.findall(r"own ws://(127\.0\.0\.1):(\d+)/(\S+)", stop.output)[0]
        assert re.findall(r"child ws://127\.0\.0\.1:\d+/\S+", stop.output)  # it is debugged as well
        for path in ("/json", "/json/list", "/json/version"):
            answer = await anyio.to_thread.run_sync(asked_over_http, address[0], int(address[1]), path)
            assert address[2] not in answer


def asked_over_http(host: str, port: int, path: str) -> str:
    connection = http.client.HTTPConnection(host, port, timeout=10 * PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()
