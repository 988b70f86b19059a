"""What an editor can inspect beside the stop itself, and how it learns what others changed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.daemons import Cli, eventually
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, Agent
from tests.servers.dap.editor import Editor

LARGE = """\
import threading

def down(left):
    if left:
        return down(left - 1)
    numbers = list(range(5000))
    return numbers

gate = threading.Event()

def waits():
    gate.wait()

worker = threading.Thread(target=waits, name="worker")
worker.start()
down(60)
gate.set()
"""
AT_BOTTOM = 7
UNNAMED = """\
text = "def f():\\n    value = 7\\n    return value / 0\\n"
exec(compile(text, "<made up>", "exec"))
try:
    f()
except ZeroDivisionError:
    pass
"""


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.py"
    path.write_text(LARGE)
    return path


def test_a_deep_stack_and_a_long_list_come_in_pages(agent: Agent, editor: Editor, large: Path) -> None:
    editor.join(agent.stopped_at(large, AT_BOTTOM)["session_id"])
    thread = editor.event("stopped")["threadId"]
    first = editor.ask("stackTrace", threadId=thread, startFrame=0, levels=20)
    rest = editor.ask("stackTrace", threadId=thread, startFrame=20, levels=100)
    assert first["totalFrames"] == rest["totalFrames"] == 62
    assert (len(first["stackFrames"]), len(rest["stackFrames"])) == (20, 42)
    ids = [it["id"] for it in (*first["stackFrames"], *rest["stackFrames"])]
    assert len(set(ids)) == len(ids)
    assert editor.ask("scopes", frameId=ids[-1])["scopes"]
    numbers = editor.ask("evaluate", expression="numbers", frameId=ids[0], context="watch")["variablesReference"]
    page = editor.ask("variables", variablesReference=numbers, filter="indexed", start=4000, count=3)["variables"]
    assert [it["value"] for it in page] == ["4000", "4001", "4002"]


def test_threads_that_come_are_reported_and_each_has_its_stack(agent: Agent, editor: Editor, large: Path) -> None:
    editor.join(agent.stopped_at(large, AT_BOTTOM)["session_id"])
    thread = editor.event("stopped")["threadId"]
    names = {it["name"]: it["id"] for it in editor.ask("threads")["threads"]}
    assert len(names) == 2
    assert {it["threadId"] for it in editor.events("thread")} == set(names.values())
    (other,) = set(names.values()) - {thread}
    assert [it["name"] for it in editor.frames(other)] == ["waits"]
    editor.ask("continue", threadId=thread)
    eventually(lambda: {it["threadId"] for it in editor.events("thread") if it["reason"] == "exited"} >= {other})


def test_a_source_that_is_not_a_file_is_read_by_its_number(agent: Agent, editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text(UNNAMED)
    agent.call("set_breakpoint", kind="exception", exception="raised", condition="ZeroDivisionError")
    stop = agent.call("start_debugging", configuration={
        "type": "python", "request": "launch", "name": "x", "program": str(path), "justMyCode": False,
    })  # fmt: skip
    editor.join(stop["session_id"])
    stopped = editor.event("stopped")
    assert stopped["reason"] == "exception"
    source = editor.frames(stopped["threadId"])[0]["source"]
    assert "sourceReference" in source
    found = editor.ask("source", sourceReference=source["sourceReference"], source=source)
    assert "value" in found["content"]


def test_modules_and_completions_are_the_debuggers_own(agent: Agent, editor: Editor, program: Path) -> None:
    can = editor.join(agent.stopped_at(program, IN_LOOP)["session_id"])
    assert can["supportsModulesRequest"]
    assert can["supportsCompletionsRequest"]
    top = editor.frames(editor.event("stopped")["threadId"])[0]["id"]
    assert any(it.get("path") == str(program) for it in editor.ask("modules")["modules"])
    found = editor.ask("completions", text="tot", column=4, frameId=top)["targets"]
    assert "total" in {it["label"] for it in found}


def test_what_the_agent_changes_makes_an_editor_look_again(agent: Agent, editor: Editor, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session, initialize={"supportsInvalidatedEvent": True})
    top = editor.frames(editor.event("stopped")["threadId"])[0]["id"]
    agent.call("set_variable", name="total", value="55")
    assert editor.event("invalidated")["areas"] == ["variables"]
    assert editor.locals(top)["total"] == "55"


def test_an_editor_that_counts_from_zero_and_writes_addresses_is_answered_alike(
    agent: Agent, editor: Editor, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session, initialize={"linesStartAt1": False, "columnsStartAt1": False, "pathFormat": "uri"})
    thread = editor.event("stopped")["threadId"]
    top = editor.frames(thread)[0]
    assert (top["line"], top["column"], top["source"]["path"]) == (IN_LOOP - 1, 0, program.as_uri())
    asked = {"source": {"path": program.as_uri()}, "breakpoints": [{"line": AT_INNER - 1}]}
    (answer,) = editor.ask("setBreakpoints", **asked)["breakpoints"]
    assert (answer["line"], answer["verified"]) == (AT_INNER - 1, True)
    editor.ask("continue", threadId=thread)
    editor.event("stopped")
    assert editor.frames(thread)[0]["line"] == AT_INNER - 1


def test_refusals_are_in_the_editors_language(editor: Editor) -> None:
    editor.initialize(locale="zh-cn")
    assert editor.refused("threads")[1].startswith("`threads` 需要一个会话")


def test_the_sockets_are_the_owners_alone(daemon: Cli) -> None:
    path = daemon.paths.dap_socket
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
