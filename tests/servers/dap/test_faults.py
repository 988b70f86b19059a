"""What editors do wrong, and what goes wrong around them: each costs that editor alone, with the reason."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dragoman.io.drivers.dap_editor_driver import MAX_REQUEST_BYTES
from tests.daemons import Cli, eventually
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, Agent, OpenEditor
from tests.servers.dap.editor import Editor, at_pump

SLOWLY = "(time.sleep(0.3) or value) *"
FLOOD = """\
print("ready", flush=True)
for number in range(60_000):
    print(number, "x" * 60)
print("done", flush=True)
"""


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "header"),
        (b"Content-Length: 5\r\n\r\nhello", "JSON"),
        (b'Content-Length: 17\r\n\r\n{"type": "event"}', "not a message"),
        (b"Content-Length: %d\r\n\r\n" % (MAX_REQUEST_BYTES + 1), "announced"),
        (b"Content-Length: 26214400\r\n\r\n" + b" " * 100_000, "announced"),
        (b"x" * 9000, "header"),
        (b"Content-Length: 2\r\n\r\n{}", "not a message"),
        (b"Content-Length: 20000\r\n\r\n" + b"[" * 20000, ""),
    ],
)
def test_what_is_not_the_protocol_ends_that_connection_with_the_reason(
    editor: Editor, editor_at: OpenEditor, result: bytes, reason: str
) -> None:
    editor.initialize()
    editor.send_bytes(result)
    answer = editor.event("output", category="important")["output"]
    assert reason.lower() in answer.lower()
    editor.event("terminated")
    editor.ends()
    with editor_at() as another:
        assert another.initialize()["supportsConfigurationDoneRequest"]


def test_a_message_in_crumbs_is_a_message(editor: Editor) -> None:
    body = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}}'
    for byte in b"Content-Length: %d\r\n\r\n%b" % (len(body), body):
        editor.send_bytes(bytes([byte]))
    assert editor.answer(1)["success"]


def test_half_a_message_and_the_end_is_the_end_of_that_editor_alone(daemon: Cli, editor_at: OpenEditor) -> None:
    with at_pump(daemon) as editor:
        editor.initialize()
        editor.send_bytes(b'Content-Length: 100\r\n\r\n{"seq"')
    with editor_at() as another:
        another.initialize()


def test_a_large_request_is_served(agent: Agent, editor: Editor, program: Path) -> None:
    editor.join(agent.stopped_at(program, IN_LOOP)["session_id"])
    top = editor.frames(editor.event("stopped")["threadId"])[0]["id"]
    text = "x" * 1_000_000
    found = editor.ask("evaluate", expression=f"len('{text}')", frameId=top, context="repl")
    assert found["result"] == "1000000"


def test_what_comes_too_early_or_twice_or_is_unknown_is_refused_and_nothing_ends(
    agent: Agent, editor: Editor, program: Path
) -> None:
    assert editor.refused("threads")[0] == "not_initialized"
    editor.initialize()
    assert editor.refused("initialize", adapterID="x")[0] == "initialized_twice"
    for command in ("threads", "configurationDone", "setBreakpoints", "next"):
        assert editor.refused(command)[0] == "not_attached"
    assert editor.refused("attach", session="debug-none")[0] == "unknown_session"
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.ask("attach", session=session)
    assert editor.refused("attach", session=session)[0] == "attached_twice"
    assert editor.refused("launch", program=str(program))[0] == "attached_twice"
    assert editor.refused("stepBack", threadId=1)[0] == "not_able"  # the debugger below cannot
    assert editor.refused("noSuchCommand")[0] == "not_served"
    assert editor.refused("stackTrace", threadId="one")[0] == "bad_arguments"
    editor.ask("configurationDone")
    editor.ask("configurationDone")
    editor.event("stopped")
    assert len(editor.events("stopped")) == 1


def test_stale_and_unknown_numbers_are_distinguished(agent: Agent, editor: Editor, program: Path) -> None:
    editor.join(agent.stopped_at(program, IN_LOOP)["session_id"])
    thread = editor.event("stopped")["threadId"]
    old = editor.frames(thread)[0]["id"]
    scope = editor.ask("scopes", frameId=old)["scopes"][0]["variablesReference"]
    editor.ask("next", threadId=thread)
    editor.event("stopped")
    assert editor.refused("scopes", frameId=old)[0] == "stale_reference"
    assert editor.refused("variables", variablesReference=scope)[0] == "stale_reference"
    assert editor.refused("evaluate", expression="1", frameId=old)[0] == "stale_reference"
    assert editor.refused("variables", variablesReference=scope + 900_000_000)[0] == "unknown_reference"
    assert editor.refused("source", sourceReference=0)[0] == "no_source"
    assert editor.refused("next", threadId=987654)[0] == "unknown_thread"


def test_of_two_clients_that_step_at_the_same_moment_the_second_learns_the_first(
    agent: Agent, editor_at: OpenEditor, program: Path
) -> None:
    program.write_text(
        program.read_text().replace("doubled = value * 2", "import time; time.sleep(0.3); doubled = value * 2")
    )
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    with editor_at("Zed") as first, editor_at("Emacs") as second:
        for each in (first, second):
            each.join(session)
        thread = first.event("stopped")["threadId"]
        second.event("stopped")
        gate = threading.Barrier(2)
        asked: dict[str, int] = {}

        def step(each: Editor) -> None:
            gate.wait()
            asked[each.name] = each.begin("next", threadId=thread)

        pair = [threading.Thread(target=step, args=(each,)) for each in (first, second)]
        for thread_of_one in pair:
            thread_of_one.start()
        for thread_of_one in pair:
            thread_of_one.join()
        answers = {each.name: each.response(asked[each.name]) for each in (first, second)}
        (done,) = [name for name, it in answers.items() if it["success"]]
        (late,) = [it for name, it in answers.items() if name != done]
        assert late["body"]["error"]["variables"]["code"] == "moved_on"
        assert f"a person in {done} ran `next`" in late["message"]
        for each in (first, second):
            each.event("stopped")
        assert {it["line"] for it in (first.frames(thread)[0], second.frames(thread)[0])} == {IN_LOOP + 1}


def test_an_editor_that_reads_nothing_delays_nobody_and_learns_of_the_gap(
    agent: Agent, editor: Editor, tmp_path: Path
) -> None:
    program = tmp_path / "flood.py"
    program.write_text(FLOOD)
    stop = agent.stopped_at(program, 1)
    editor.join(stop["session_id"])
    editor.event("stopped")
    editor.stop_reading()
    assert agent.call("continue_debugging", timeout_s=50)["status"] == "completed"
    editor.read_on()
    editor.event("terminated")
    assert "characters of output omitted]" in editor.output()
    assert editor.output().endswith("done\n")


def test_an_editor_killed_in_the_middle_of_a_request_leaves_the_session_as_it_is(
    agent: Agent, daemon: Cli, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    with at_pump(daemon, "--attach", session) as editor:
        editor.join(breakpoints={program: [AT_INNER]})
        top = editor.frames(editor.event("stopped")["threadId"])[0]["id"]
        editor.begin("evaluate", expression="__import__('time').sleep(1) or 7", frameId=top, context="repl")
    eventually(lambda: len(agent.call("get_breakpoints")["breakpoints"]) == 1)
    assert agent.call("continue_debugging")["stop_event_data"]["line"] == IN_LOOP


def test_a_session_that_ended_meanwhile_is_not_joined(agent: Agent, editor: Editor, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    agent.call("stop_debugging", session_id=session)
    agent.call("wait_for_stop", session_id=session)
    editor.initialize()
    assert editor.refused("attach", session=session)[0] == "already_ended"


def test_the_end_by_the_agent_reaches_every_editor(
    agent: Agent, editor: Editor, editor_at: OpenEditor, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    with editor_at() as other:
        for each in (editor, other):
            each.join(session)
            each.event("stopped")
        agent.call("stop_debugging", session_id=session)
        for each in (editor, other):
            each.event("terminated")
