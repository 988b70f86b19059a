"""Editors at their socket, and the tools that ask them: honest ones, slow ones, broken ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.io.net.http_server import WEBSOCKET_MESSAGE_CAP
from tests.daemons import call, eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.raw_http import WebSocket
from tests.servers.web.fake_editor import FakeEditor, Refusal, Silence, fake_editor, proved


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("edited")) as place:
        yield place


def test_without_an_editor_every_tool_says_how_to_connect_one(place: DebugWorkspace) -> None:
    asked: dict[str, dict[str, Any]] = {
        "ide_open": {"path": "adding.py"},
        "ide_diff": {"file_path": "adding.py", "text": ""},
        "ide_diagnostics": {},
        "ide_selection": {},
        "ide_open_files": {},
        "ide_notify": {"message": "hello"},
        "ide_run_in_terminal": {"command": "ls"},
    }
    for name, arguments in asked.items():
        answer = place.tool(name, **arguments)
        assert answer["code"] == "no_editor", name
        assert "extension" in answer["hint"]


def test_a_file_is_opened_where_its_path_leads(place: DebugWorkspace) -> None:
    with fake_editor(place, {"open": lambda _: {}}) as editor:
        assert place.tool("ide_open", file_path="adding.py", line=3)["status"] == "opened"
        asked = editor.asked[0]["params"]
    assert (asked["path"], asked["line"], asked["end_line"]) == (str(place.folder / "adding.py"), 3, 3)


@pytest.mark.parametrize("path", ["/etc/passwd", "../home/state", "a/../../x", "/proc/self/environ"])
def test_what_is_outside_of_the_workspace_never_reaches_the_editor(place: DebugWorkspace, path: str) -> None:
    with fake_editor(place, {"open": lambda _: {}, "diff": lambda _: {"decision": "accepted"}}) as editor:
        assert place.tool("ide_open", path=path)["code"] == "not_in_workspace"
        assert place.tool("ide_diff", path=path, text="x")["code"] == "not_in_workspace"
        assert editor.asked == []


@pytest.mark.parametrize("decision", ["accepted", "rejected", "closed"])
def test_what_the_person_decides_about_a_proposal_is_reported(place: DebugWorkspace, decision: str) -> None:
    with fake_editor(place, {"diff": lambda _: {"decision": decision, "is_new": True}}) as editor:
        answer = place.tool("ide_diff", path="new.py", text="print()\n")
        assert (answer["status"], answer["is_new"]) == (decision, True)
        assert editor.asked[0]["params"]["text"] == "print()\n"


def test_a_proposal_that_nobody_decides_is_waited_for_again(place: DebugWorkspace) -> None:
    def silent(_: Any) -> None:
        raise Silence

    with fake_editor(place, {"diff": silent}) as editor:
        assert place.tool("ide_diff", path="new.py", text="x", timeout_s=0.1)["status"] == "waiting"
        eventually(lambda: [it["method"] for it in editor.notified] == ["withdrawn"])
        editor.answers["diff"] = lambda _: {"decision": "accepted"}
        assert place.tool("ide_diff", path="new.py", text="x")["status"] == "accepted"


def test_problems_are_reported_within_the_workspace_escaped_and_with_how_many_more(place: DebugWorkspace) -> None:
    here, hidden = str(place.folder / "adding.py"), "/etc/passwd"
    problem = {"line": 2, "column": 1, "severity": "error", "message": "bad\x1b[31m"}
    problems = {"problems": [{"path": here, **problem}, {"path": hidden, **problem}], "more": 7}
    with fake_editor(place, {"diagnostics": lambda _: problems}):
        answer = place.tool("ide_diagnostics", least="hint")
    assert [it["path"] for it in answer["problems"]] == [here]
    assert answer["more"] == 7
    assert "\x1b" not in answer["problems"][0]["message"]


def test_a_selection_is_reported_without_secrets_and_not_at_all_outside(place: DebugWorkspace) -> None:
    here = {"path": str(place.folder / "adding.py"), "start_line": 1, "end_line": 2}
    secret = "api_key = 'sk-ant-REDACTED'"
    with fake_editor(place, {"selection": lambda _: {**here, "text": secret}}) as editor:
        answer = place.tool("ide_selection")
        assert (answer["status"], answer["start_line"]) == ("selection", 1)
        assert "aaaaaaaa" not in answer["text"]
        editor.answers["selection"] = lambda _: {"path": "/home/other/diary.txt", "text": "dear diary"}
        withheld = place.tool("ide_selection")
        assert (withheld["status"], withheld["text"]) == ("withheld", "")
        editor.answers["selection"] = lambda _: {}
        assert place.tool("ide_selection")["status"] == "nothing"


def test_open_files_outside_are_counted_and_not_named(place: DebugWorkspace) -> None:
    files = [{"path": str(place.folder / "adding.py"), "is_active": True, "is_changed": True}, {"path": "/etc/hosts"}]
    with fake_editor(place, {"open_files": lambda _: {"files": files}}):
        answer = place.tool("ide_open_files")
    assert answer["files"] == [files[0]]
    assert answer["withheld"] == 1


def test_a_command_for_the_terminal_is_one_line_that_can_be_seen(place: DebugWorkspace) -> None:
    with fake_editor(place, {"run_in_terminal": lambda _: {"terminal": "Dragoman"}}) as editor:
        assert place.tool("ide_run_in_terminal", command="make test")["terminal"] == "Dragoman"
        for command in ("ls\nrm -rf .", "ls \u202e", "ls\x1b"):
            assert place.tool("ide_run_in_terminal", command=command)["code"] == "bad_command"
        assert [it["params"]["command"] for it in editor.asked] == ["make test"]


def test_a_refusal_of_the_person_is_reported_as_such(place: DebugWorkspace) -> None:
    def no(_: Any) -> None:
        raise Refusal("not_allowed")

    with fake_editor(place, {"notify": no}):
        assert place.tool("ide_notify", message="hello")["code"] == "not_allowed"


@pytest.mark.parametrize("answer", [None, [], "text", {"files": "all"}, {"files": [{"path": 3}]}])
def test_an_answer_that_makes_no_sense_is_an_error_of_the_editor(place: DebugWorkspace, answer: Any) -> None:
    with fake_editor(place, {"open_files": lambda _: answer}):
        assert place.tool("ide_open_files")["code"] == "bad_editor_answer"


def test_an_editor_that_is_killed_in_the_middle_of_a_request_is_reported_at_once(place: DebugWorkspace) -> None:
    editor: list[FakeEditor] = []

    def die(_: Any) -> None:
        editor[0].leave()
        raise Silence

    with fake_editor(place, {"selection": die}) as started:
        editor.append(started)
        assert place.tool("ide_selection")["code"] == "editor_gone"


def test_the_last_one_looked_at_is_asked(place: DebugWorkspace) -> None:
    with fake_editor(place, {"notify": lambda _: {}}) as one, fake_editor_beside(place) as two:
        place.tool("ide_notify", message="a")
        one.notify("focused", {})
        eventually(lambda: place.tool("ide_notify", message="b") and len(one.asked) > 0, every_s=0.02)
        assert len(two.asked) >= 1


class fake_editor_beside:
    """Another, that may leave without being the last."""

    def __init__(self, place: DebugWorkspace) -> None:
        self._editor = FakeEditor(place, {"notify": lambda _: {}})

    def __enter__(self) -> FakeEditor:
        return self._editor

    def __exit__(self, *_: object) -> None:
        self._editor.leave()


@pytest.mark.parametrize("path", ["/api/editor", "/link/editor"])
@pytest.mark.parametrize("purpose", ["", "mcp", "page", "editor"])
def test_no_token_gets_a_socket_only_a_proof_does(place: DebugWorkspace, path: str, purpose: str) -> None:
    daemon = place.daemon
    token = daemon.paths.token_file(purpose).read_text().strip() if purpose else "wrong"
    hello = {"name": "Fake Code", "folders": [], "features": []}
    with WebSocket(daemon.port, path, [daemon.host, ("Authorization", f"Bearer {token}")]) as wire:
        wire.send(json.dumps({"method": "hello", "params": hello}).encode())
        assert wire.status == 404 or wire.close_code() == 4403
    with proved(place) as wire:
        wire.send(json.dumps({"method": "hello", "params": hello}).encode())
        assert wire.receive_json()["method"] == "welcome"


@pytest.mark.parametrize(
    "first",
    [b"", b"no json", b"[]", b'{"method": "hello"}', b'{"method": "x", "params": {}}', b'{"id": "x"}', b"[" * 50_000],
)
def test_a_peer_that_does_not_identify_itself_is_disconnected(place: DebugWorkspace, first: bytes) -> None:
    daemon = place.daemon
    with proved(place) as wire:
        wire.send(first)
        assert wire.close_code() == 4400
    daemon.assert_serves()


def test_a_silent_peer_is_disconnected(place: DebugWorkspace) -> None:
    daemon = place.daemon
    daemon.patch("dragoman.servers.web.editor_api:HELLO_WITHIN_S", 0.1)
    with proved(place) as wire:
        assert wire.close_code() == 4400
    daemon.patch("dragoman.servers.web.editor_api:HELLO_WITHIN_S", 5.0)


def test_an_answer_that_is_too_large_ends_the_connection_and_the_question(place: DebugWorkspace) -> None:
    editor = FakeEditor(place, {"selection": lambda _: {"text": "x" * (WEBSOCKET_MESSAGE_CAP + 1)}})
    assert place.tool("ide_selection")["code"] == "editor_gone"
    editor.leave()
    place.daemon.assert_serves()


def test_a_folder_that_is_open_by_a_link_is_the_same_one_and_its_files_have_the_editors_names(
    place: DebugWorkspace, tmp_path: Path
) -> None:
    link = tmp_path / "linked"
    link.symlink_to(place.folder)
    with fake_editor(place, {"open": lambda _: {}}, folders=[str(link)]) as editor:
        assert place.tool("ide_open", path="adding.py")["status"] == "opened"
        assert editor.asked[0]["params"]["path"] == str(link / "adding.py")


def test_a_rotated_token_ends_the_connection(place: DebugWorkspace) -> None:
    editor = FakeEditor(place, {"notify": lambda _: {}})
    call(place.daemon.paths, "token_rotate", {"purpose": "page"})
    assert place.tool("ide_notify", message="there?")["status"] == "shown"  # the page's is another's
    call(place.daemon.paths, "token_rotate", {"purpose": "editor"})
    eventually(lambda: place.tool("ide_notify", message="there?").get("code") == "no_editor", every_s=0.02)
    editor.leave()


def test_many_questions_at_once_each_get_their_own_answer(place: DebugWorkspace) -> None:
    lock, found = threading.Lock(), []

    def ask(line: int) -> None:
        answer = place.tool("ide_open", path="adding.py", line=line)
        with lock:
            found.append(answer["line"])

    with fake_editor(place, {"open": lambda _: {}}):
        threads = [threading.Thread(target=ask, args=(line,)) for line in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(found) == list(range(1, 9))


def test_what_only_an_editor_can_resolve_in_a_launch_file_is_asked_of_it(place: DebugWorkspace) -> None:
    inline = {"name": "asked", "type": "debugpy", "request": "launch", "program": "${command:choose.program}"}
    refusal = place.tool("start_debugging", configuration=inline)
    assert refusal["status"] != "Stopped"
    program = str(place.folder / "adding.py")
    with fake_editor(place, {"variable": lambda it: {"value": program}}) as editor:
        started = place.tool("start_debugging", configuration=inline, timeout_s=20)
        assert [it["params"]["variable"] for it in editor.asked] == ["command:choose.program"]
        assert "the sum is 6" in json.dumps(started)


def test_each_kind_of_input_without_a_default_is_asked_of_the_editor_once(place: DebugWorkspace) -> None:
    inputs = [
        {"id": "which", "type": "pickString", "description": "Which?", "options": ["words.py", "other.py"]},
        {"id": "word", "type": "promptString", "description": "A word"},
        {"id": "number", "type": "command", "command": "others.choose"},
    ]
    asked = {
        "name": "Asked", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/${input:which}",
        "args": ["${input:word}", "${input:word}", "${input:number}", "${command:Choose}"],
    }  # fmt: skip
    (place.folder / "words.py").write_text("import sys\nprint(sys.argv[1:])\n")
    launch = place.folder / ".vscode" / "launch.json"
    launch.parent.mkdir(exist_ok=True)
    launch.write_text(json.dumps({"version": "0.2.0", "configurations": [asked], "inputs": inputs}))
    data = {"input:which": "words.py", "input:word": "spoken", "input:number": "7", "command:Choose": "8"}
    with fake_editor(place, {"variable": lambda it: {"value": data[it["variable"]]}}) as editor:
        started = place.tool("start_debugging", configuration_name="Asked", timeout_s=20)
        assert str(["spoken", "spoken", "7", "8"]) in json.dumps(started)
        assert [it["params"]["variable"] for it in editor.asked] == list(data)
