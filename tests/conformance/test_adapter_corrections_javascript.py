"""Wrong reports of js-debug about breakpoints, and what Dragoman reports instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.debug.backends.adapters.javascript import JAVASCRIPT
from dragoman.debug.model import LaunchRequest, RunTarget
from tests.conformance.test_javascript import PROGRAM, at
from tests.conformance.test_python import client_of, service_in, stop_of
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120), pytest.mark.needs("javascript")]


@pytest.fixture(autouse=True)
def adapter(home: Path) -> None:
    give_adapters(home)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "main.js").write_text(PROGRAM)
    return tmp_path


async def test_each_stop_names_its_own_breakpoint_after_others_were_set_while_it_ran(workspace: Path) -> None:
    """js-debug gives the second of a list that it is sent again the id of the first."""
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        first, _ = await service.set_breakpoint(client, at(workspace, 9))
        await service.start(client, LaunchRequest(program="main.js"), within_s=30)
        ids = {9: first.id}
        for line in (3, 8):
            ids[line] = (await service.set_breakpoint(client, at(workspace, line)))[0].id
        for line in (8, 3, 9, 8):
            stop = stop_of(await service.resume(client, "", thread_id=None, within_s=10))
            assert (stop.frames[0].line, stop.hit_breakpoints) == (line, (ids[line],))
        bound = {made.line: binding.line for made, binding in service.breakpoints(client)}
        assert bound == {3: 3, 8: 8, 9: 9}


async def test_a_run_to_a_place_names_no_breakpoint_of_anybody(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace, JAVASCRIPT) as service:
        await service.set_breakpoint(client, at(workspace, 9))
        await service.start(client, LaunchRequest(program="main.js"), within_s=30)
        until = RunTarget(path=str(workspace / "main.js"), line=3)
        stop = stop_of(await service.resume(client, "", thread_id=None, within_s=10, until=until))
        assert (stop.frames[0].line, stop.hit_breakpoints) == (3, ())


async def test_why_a_breakpoint_is_not_bound_is_a_sentence_and_is_gone_once_it_is(workspace: Path) -> None:
    client = client_of(workspace)
    (workspace / "other.js").write_text("exports.never = 1;\n")
    async with service_in(workspace, JAVASCRIPT) as service:
        bound, _ = await service.set_breakpoint(client, at(workspace, 9))
        loose, _ = await service.set_breakpoint(client, at(workspace, 1, "other.js"))
        stop_of(await service.start(client, LaunchRequest(program="main.js"), within_s=30))
        assert service.binding(client, bound.id).message == ""
        assert "The debugger did not bind it" in service.binding(client, loose.id).message
