"""Programs that cannot be parsed, by the real debugger of each language: an error with its place, and nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers import give_adapters
from tests.tools.debug.test_with_debugpy import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

BROKEN = "const a = 1;\nfunction f() {\n  return {key: 1 2};\n}\n"


@pytest.fixture(autouse=True)
def adapters(home: Path) -> None:
    give_adapters(home)


@pytest.mark.requirement("debug:start:error-compile")
@pytest.mark.parametrize(
    ("file", "source", "line", "error"),
    [
        pytest.param("a.js", BROKEN, 3, "SyntaxError: ", marks=pytest.mark.needs("javascript")),
        pytest.param("a.cjs", BROKEN, 3, "SyntaxError: ", marks=pytest.mark.needs("javascript")),
        pytest.param("a.mjs", BROKEN, 3, "SyntaxError: ", marks=pytest.mark.needs("javascript")),
        pytest.param("a.rb", "a = 1\ndef f(\n  a\nend end\n", 4, "syntax error", marks=pytest.mark.needs("ruby")),
        pytest.param("a.lua", "local a = 1\nlocal b = = 2\n", 2, "unexpected symbol", marks=pytest.mark.needs("lua")),
    ],
)
async def test_what_cannot_be_parsed_is_an_error_with_its_place(
    tmp_path: Path, file: str, source: str, line: int, error: str
) -> None:
    (tmp_path / file).write_text(source)
    async with agent_in(tmp_path) as agent:
        answer = await agent.call("start_debugging", program=file)
        assert (answer["status"], answer["code"]) == ("error", "syntax_error"), answer
        details = answer["details"]
        assert (details["path"], details["line"]) == (str(tmp_path / file), line)
        assert details["error"].startswith(error)
        sessions = (await agent.call("list_sessions"))["sessions"]
        assert "Stopped" not in [it["state"] for it in sessions]


@pytest.mark.needs("javascript")
async def test_a_running_program_that_loads_what_cannot_be_parsed_stops_there(tmp_path: Path) -> None:
    (tmp_path / "broken.js").write_text(BROKEN)
    (tmp_path / "main.js").write_text("const a = 1;\nrequire('./broken.js');\n")
    (tmp_path / "json.js").write_text("const a = 1;\nJSON.parse('{');\n")
    async with agent_in(tmp_path) as agent:
        for file in ("main.js", "json.js"):
            answer = await agent.call("start_debugging", program=file)
            assert (answer["status"], answer["stop_event_data"]["line"]) == ("stopped", 2)
            assert answer["stop_event_data"]["source"]["name"] == file
            ended = await agent.call("continue_debugging")
            assert (ended["status"], ended["exit_code"]) == ("completed", 1)


@pytest.mark.parametrize(
    ("file", "source", "broken"),
    [
        ("a.py", "x = 1\nprint(x)\n", "x = 1\nprint(x\n"),
        pytest.param("a.js", "let a = 1;\na = 2;\n", BROKEN, marks=pytest.mark.needs("javascript")),
        pytest.param("a.rb", "a = 1\na = 2\n", "a = 1\ndef f(\n", marks=pytest.mark.needs("ruby")),
    ],
)
async def test_a_program_broken_since_it_stopped_is_reported_at_its_restart(
    tmp_path: Path, file: str, source: str, broken: str
) -> None:
    (tmp_path / file).write_text(source)
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path=file, line_number=2)
        assert (await agent.call("start_debugging", program=file))["status"] == "stopped"
        (tmp_path / file).write_text(broken)
        answer = await agent.call("restart_debugging")
        assert (answer["status"], answer["code"]) == ("error", "syntax_error"), answer
