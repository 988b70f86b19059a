"""Breakpoints in the code of libraries, which debugpy passes over as not the user's own: they stop, or say why not."""

from __future__ import annotations

import json.decoder
import json.encoder
import posixpath
import sys
from pathlib import Path

import pytest

from dragoman.debug.model import LaunchRequest
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import client_of, end_of, service_in, stop_of
from tests.conformance.test_python_processes import LOOP, attaching, free_port, listening, running

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

CHILD = "import json\njson.loads('[2]')\n"
PROGRAM = f"""\
import json, os, subprocess, sys
json.loads("[1]")
json.dumps([1])
child = subprocess.run([sys.executable, "-c", {CHILD!r}], env={{}}, capture_output=True, text=True)
print(child.stdout, child.stderr)
subprocess.run([sys.executable, "child.py"], env={{}})
"""


def place_in(module: object, text: str) -> Breakpoint:
    path = str(getattr(module, "__file__", ""))
    lines = Path(path).read_text().splitlines()
    return Breakpoint(id=0, path=path, line=next(at for at, line in enumerate(lines, 1) if text in line))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "child.py").write_text(CHILD)
    return tmp_path


DECODES = place_in(json.decoder, "obj, end = self.raw_decode(s, idx=_w(s, 0).end())")
ENCODES = place_in(json.encoder, "chunks = self.iterencode(o, _one_shot=True)")


async def test_a_breakpoint_in_the_standard_library_stops_also_in_children_and_when_set_later(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        decodes, _ = await service.set_breakpoint(client, DECODES)
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        stop = stop_of(first)
        assert (stop.frames[0].path, stop.frames[0].line, stop.hit_breakpoints) == (
            DECODES.path,
            DECODES.line,
            (decodes.id,),
        )
        encodes, binding = await service.set_breakpoint(client, ENCODES)
        assert binding.verified
        second = stop_of(await service.resume(client, first.session.id, thread_id=None, within_s=10))
        assert second.hit_breakpoints == (encodes.id,)
        for _ in range(2):  # in each of the children, whose environment has nothing of ours
            child = stop_of(await service.resume(client, first.session.id, thread_id=None, within_s=20))
            assert (child.hit_breakpoints, child.frames[0].path) == ((decodes.id,), DECODES.path)
        ended = end_of(await service.resume(client, first.session.id, thread_id=None, within_s=20))
        assert (ended.exit_code, first.session.output.since(0, most=4000)[0].strip()) == (0, "")


async def test_a_function_of_a_library_stops_where_its_module_is_named(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        named = Breakpoint(id=0, kind="function", function="json.decoder.JSONDecoder.decode")
        made, _ = await service.set_breakpoint(client, named)
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert (stop.hit_breakpoints, Path(stop.frames[0].path).name) == ((made.id,), "decoder.py")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="modules are frozen since 3.11")
async def test_a_breakpoint_in_a_frozen_module_says_why_it_cannot_stop_and_what_to_do(tmp_path: Path) -> None:
    """Of a program that was there before us; what we start has no frozen modules."""
    (tmp_path / "main.py").write_text(LOOP)
    client, port = client_of(tmp_path), free_port()
    place = place_in(posixpath, "i = p.rfind(sep) + 1")
    with running(sys.executable, "-m", "debugpy", "--listen", str(port), str(tmp_path / "main.py")):
        await listening(port)
        async with service_in(tmp_path) as service:
            made, _ = await service.set_breakpoint(client, place)
            own, _ = await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "main.py"), line=5))
            attached = await service.start(client, attaching(connect={"port": port}), within_s=20)
            assert stop_of(attached).hit_breakpoints == (own.id,)
            binding = attached.session.breakpoint_sync.binding_of(made.id)
    assert not binding.verified
    assert "frozen_modules=off" in binding.message
