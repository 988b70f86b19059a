"""A read-only editor sees everything and changes nothing; each attempt is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Cli
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, MANY, Agent, SharedAgent
from tests.servers.dap.editor import Editor, at_pump


@pytest.fixture
def agent(shared_agent: SharedAgent) -> Agent:
    return shared_agent


@pytest.fixture
def program(shared_folder: Path) -> Path:
    return shared_folder / "program.py"


@pytest.fixture
def session(agent: Agent, program: Path) -> str:
    return str(agent.stopped_at(program, IN_LOOP)["session_id"])


@pytest.fixture
def watcher(daemon: Cli, session: str) -> Iterator[Editor]:
    with at_pump(daemon, "--attach", session, "--read-only") as editor:
        yield editor


def test_it_sees_the_stop_the_stack_and_the_variables_and_follows_along(agent: Agent, watcher: Editor) -> None:
    can = watcher.join()
    assert not any(can[name] for name in ("supportsSetVariable", "supportsRestartRequest", "supportsTerminateRequest"))
    top = watcher.frames(watcher.event("stopped")["threadId"])[0]
    assert watcher.locals(top["id"])["count"] == str(MANY)
    assert watcher.ask("evaluate", expression="count", frameId=top["id"], context="hover")["result"] == str(MANY)
    agent.call("step_execution", step_type="over")
    watcher.event("continued")
    watcher.event("stopped")


def test_whatever_would_change_something_is_refused(agent: Agent, watcher: Editor, session: str) -> None:
    watcher.join()
    thread = watcher.event("stopped")["threadId"]
    top = watcher.frames(thread)[0]["id"]
    changes: list[tuple[str, dict[str, Any]]] = [
        *[(command, {"threadId": thread}) for command in ("continue", "next", "stepIn", "stepOut", "pause")],
        ("restart", {}),
        ("terminate", {}),
        ("dragomanRemoveBreakpoint", {"id": 1}),
        ("dragomanChangeBreakpoint", {"id": 1, "line": 1}),
        ("disconnect", {"terminateDebuggee": True}),
        ("setVariable", {"variablesReference": 1, "name": "count", "value": "1"}),
        ("setExpression", {"expression": "count", "value": "1", "frameId": top}),
        ("evaluate", {"expression": "exit()", "frameId": top, "context": "repl"}),
        ("evaluate", {"expression": "count.bit_length()", "frameId": top, "context": "watch"}),
    ]
    for command, arguments in changes:
        code, text = watcher.refused(command, **arguments)
        assert (command, code) == (command, "read_only")
        assert "is read-only" in text
    assert agent.call("wait_for_stop", session_id=session)["stop_event_data"]["line"] == IN_LOOP


def test_its_breakpoints_say_that_they_are_not_set(agent: Agent, watcher: Editor, program: Path) -> None:
    watcher.join()
    (result,) = watcher.set_lines(program, AT_INNER)
    assert not result["verified"]
    assert "is read-only" in result["message"]
    assert watcher.ask("setExceptionBreakpoints", filters=[])["breakpoints"] == []
    assert len(agent.call("get_breakpoints")["breakpoints"]) == 1


def test_the_editor_itself_may_ask_to_watch_only(agent: Agent, editor: Editor, session: str) -> None:
    editor.join(session, readOnly=True)
    thread = editor.event("stopped")["threadId"]
    assert editor.refused("next", threadId=thread)[0] == "read_only"
    assert agent.call("step_execution", step_type="over")["status"] == "stopped"


def test_nothing_is_started_for_it(daemon: Cli, program: Path) -> None:
    with at_pump(daemon, "--read-only") as watcher:
        watcher.initialize()
        assert watcher.refused("launch", program=str(program))[0] == "read_only"
