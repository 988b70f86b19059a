"""Debugging real Ruby programs through the engine and rdbg."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil
import pytest

from dragoman.debug.adapters import RUBY
from dragoman.debug.adapters.finding import require_adapter
from dragoman.debug.service import Wish
from dragoman.errors import DragomanError
from dragoman.transport.streams import free_port
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage, running_program
from tests.conformance.test_python import client_of, end_of, eventually, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("ruby")]

LANGUAGE = Language("ruby", RUBY, "ruby/main.rb", computes=2, calls=10, prints=11)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestRuby(Behaviours):
    """What every language does."""


RAISES = """def risky(n)
  raise ArgumentError, "too large" if n > 2
  n
end

begin
  risky(3)
rescue ArgumentError
  puts "rescued"
end
5.times { |n| risky(n) }
"""
WAITS = """n = 0
loop do
  sleep 0.1
  n += 1
end
"""


async def test_what_nothing_rescues_stops_where_it_was_raised(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text(RAISES)
    client = client_of(tmp_path)
    async with service_in(tmp_path, RUBY) as service:
        stop = stop_of(await service.start(client, Wish(program="main.rb"), within_s=60))
        assert (stop.reason, stop.frames[0].line, "rescued" in stop.output) == ("exception", 2, True)
        assert stop.raised is not None
        assert (stop.raised.type, stop.raised.uncaught) == ("ArgumentError", True)
        assert "too large" in stop.raised.message
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert ended.exit_code == 1


async def test_an_exception_that_is_rescued_stops_where_a_breakpoint_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text(RAISES)
    client = client_of(tmp_path)
    async with service_in(tmp_path, RUBY) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, kind="exception", filter="raised"))
        stop = stop_of(await service.start(client, Wish(program="main.rb"), within_s=60))
        assert (stop.reason, "rescued" in stop.output) == ("exception", False)
        assert (await service.evaluate(client, "", "n", frame=None, context="repl", within_s=10)).result == "3"


async def test_a_syntax_error_is_told_in_rubys_own_words(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text("def f(\n")
    async with service_in(tmp_path, RUBY) as service:
        with pytest.raises(DragomanError, match="syntax error") as caught:
            await service.start(client_of(tmp_path), Wish(program="main.rb"), within_s=60)
        assert caught.value.code == "adapter_gone"


async def test_a_program_that_listens_is_attached_to_and_lives_on(tmp_path: Path) -> None:
    source = tmp_path / "main.rb"
    source.write_text(WAITS)
    client, port = client_of(tmp_path), free_port()
    rdbg = str(require_adapter("ruby", os.environ))
    with running_program(rdbg, "-n", "--open", "--port", str(port), "-c", "--", "ruby", str(source)) as running:
        await eventually(lambda: is_open(port))
        async with service_in(tmp_path, RUBY) as service:
            await service.set_breakpoint(client, Breakpoint(id=0, path=str(source), line=4))
            wanted = {"type": "rdbg", "request": "attach", "name": "x", "debugPort": str(port)}
            started = await service.start(client, Wish(configuration=wanted), within_s=60)
            assert stop_of(started).frames[0].line == 4
            await service.stop(client, "")
            await service.wait(client, started.session.id, within_s=10)
            assert running.poll() is None


async def test_attaching_without_a_port_says_how_to_start_the_program(tmp_path: Path) -> None:
    wanted = {"type": "rdbg", "request": "attach", "name": "x", "processId": 1}
    async with service_in(tmp_path, RUBY) as service:
        with pytest.raises(DragomanError, match="rdbg --open") as caught:
            await service.start(client_of(tmp_path), Wish(configuration=wanted), within_s=10)
        assert caught.value.code == "cannot_attach"


def is_open(port: int) -> bool:
    """Without connecting, which rdbg would take for its debugger."""
    return any(it.laddr.port == port and it.status == "LISTEN" for it in psutil.net_connections("tcp") if it.laddr)


async def test_an_element_that_rdbg_cannot_set_is_refused_and_the_session_stays(stage: Stage) -> None:
    """It ends the session at a `setVariable` that it never said it could do."""
    client = stage.client
    async with service_in(stage.workspace, RUBY) as service:
        await service.set_breakpoint(client, stage.at(LANGUAGE.computes))
        await service.start(client, stage.wish(), within_s=30)
        made = await service.evaluate(client, "", "[1, 2]", frame=None, context="repl", within_s=10)
        with pytest.raises(DragomanError) as caught:
            await service.set_variable(client, "", name="0", value="7", reference=made.reference, frame=None)
        assert caught.value.code == "not_supported"
        answer = await service.evaluate(client, "", "n + 40", frame=None, context="repl", within_s=10)
        assert answer.result == "40"
