"""Debugging real Ruby programs through the engine and rdbg."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import RUBY
from dragoman.debug.model import LaunchRequest
from tests.conformance.scenario import PROGRAMS, Language, Stage
from tests.conformance.test_python import client_of, service_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("ruby")]

LANGUAGE = Language("ruby", RUBY, "ruby/main.rb", computes=2, calls=10, prints=11)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


async def test_a_syntax_error_is_reported_in_rubys_own_words(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text("def f(\n")
    async with service_in(tmp_path, RUBY) as service:
        with pytest.raises(DragomanError, match="syntax error") as caught:
            await service.start(client_of(tmp_path), LaunchRequest(program="main.rb"), within_s=60)
        assert caught.value.code == "adapter_gone"


async def test_attaching_without_a_port_says_how_to_start_the_program(tmp_path: Path) -> None:
    wanted = {"type": "rdbg", "request": "attach", "name": "x", "processId": 1}
    async with service_in(tmp_path, RUBY) as service:
        with pytest.raises(DragomanError, match="rdbg --open") as caught:
            await service.start(client_of(tmp_path), LaunchRequest(configuration=wanted), within_s=10)
        assert caught.value.code == "cannot_attach"


async def test_an_element_that_rdbg_cannot_set_is_refused_and_the_session_stays(stage: Stage) -> None:
    """It ends the session at a `setVariable` that it never said it could do."""
    client = stage.client
    async with service_in(stage.workspace, RUBY) as service:
        await service.set_breakpoint(client, stage.at(LANGUAGE.computes))
        await service.start(client, stage.launch_request(), within_s=30)
        made = await service.evaluate(client, "", "[1, 2]", frame=None, context="repl", within_s=10)
        with pytest.raises(DragomanError) as caught:
            await service.set_variable(client, "", name="0", value="7", reference=made.reference, frame=None)
        assert caught.value.code == "not_supported"
        answer = await service.evaluate(client, "", "n + 40", frame=None, context="repl", within_s=10)
        assert answer.result == "40"
