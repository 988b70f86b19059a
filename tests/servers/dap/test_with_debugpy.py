"""What debugpy can do beyond the usual, through the DAP server: in one session, as an editor with menus for it asks."""

from __future__ import annotations

from pathlib import Path

from tests.servers.dap.conftest import Agent
from tests.servers.dap.editor import Editor

PROGRAM = """\
import json

def inner(value):
    return value + 1

first = 1
second = inner(inner(first))
third = json.dumps(second)
"""
AT_CALLS = 7


def test_targets_to_step_into_or_to_go_to_completions_assignments_and_modules(
    agent: Agent, editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "calls.py"
    path.write_text(PROGRAM)
    can = editor.join(agent.stopped_at(path, AT_CALLS)["session_id"])
    thread = editor.event("stopped")["threadId"]
    frame = editor.frames(thread)[0]["id"]
    _check_capabilities(can)

    assert editor.ask("setExpression", expression="first", value="40", frameId=frame)["value"] == "40"
    offered = editor.ask("completions", text="json.dum", column=9, frameId=frame)["targets"]
    assert {"dump", "dumps"} <= {it["label"] for it in offered}
    assert "calls.py" in str(editor.ask("modules")["modules"])
    assert editor.refused("readMemory", memoryReference="0x1", count=1)[0] == "not_able"

    (back,) = editor.ask("gotoTargets", source={"path": str(path)}, line=6)["targets"]
    editor.ask("goto", threadId=thread, targetId=back["id"])
    assert editor.event("stopped")["reason"] == "goto"
    assert editor.frames(thread)[0]["line"] == 6
    answer = agent.call("wait_for_stop")["stop_event_data"]
    assert (answer["line"], answer["reason"]) == (6, "goto")
    editor.ask("next", threadId=thread)
    editor.event("stopped")

    frame = editor.frames(thread)[0]["id"]
    targets = editor.ask("stepInTargets", frameId=frame)["targets"]
    assert [it["label"].split("(")[0] for it in targets[:2]] == ["inner", "inner"]
    editor.ask("stepIn", threadId=thread, targetId=targets[1]["id"])  # the outer call
    editor.event("stopped")
    assert editor.locals(editor.frames(thread)[0]["id"])["value"] == "2"


def _check_capabilities(can: dict[str, object]) -> None:
    has = ("GotoTargetsRequest", "StepInTargetsRequest", "CompletionsRequest", "ModulesRequest", "SetExpression")
    lacks = ("ReadMemoryRequest", "WriteMemoryRequest", "DisassembleRequest", "RestartFrame", "StepBack")
    assert [name for name in (*has, *lacks) if can[f"supports{name}"]] == list(has)
