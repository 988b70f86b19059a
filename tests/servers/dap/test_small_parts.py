"""The parts that need no debugger: source locations, launch requests, attribution, and the change signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.debug import model
from dragoman.debug.service import DebugService
from dragoman.debug.session.lifecycle import ChangeSignal
from dragoman.debug.session.output import SessionOutput
from dragoman.journal import Journal
from dragoman.protocols.control import Hello
from dragoman.servers.dap import connection
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.servers.dap.editor_context import EditorContext, launch_request_from, starts_program
from dragoman.servers.dap.errors import error_body, read_only
from dragoman.terminal.agent_terminals.pool import NeedsTrustError
from dragoman.workspace import breakpoints
from dragoman.workspace.breakpoints import Breakpoint, BreakpointRegistry
from tests.servers.dap.dap_fixture import visiting
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio


def test_lines_columns_and_paths_are_as_the_editor_counts_and_writes_them() -> None:
    from_zero = EditorCoordinates(0, 0, as_uri=True)
    assert (from_zero.line(5), from_zero.column(1)) == (4, 0)
    assert (from_zero.our_line(4), from_zero.our_column(0)) == (5, 1)
    assert from_zero.path("/a b/ü.py") == "file:///a%20b/%C3%BC.py"
    assert from_zero.our_path("file:///a%20b/%C3%BC.py") == "/a b/ü.py"
    usual = EditorCoordinates()
    assert (usual.line(5), usual.our_column(None), usual.path("/x"), usual.our_path("/x")) == (5, None, "/x", "/x")


def test_a_refusal_for_want_of_trust_names_the_folder_for_editors_that_can_ask() -> None:
    _, body = error_body(NeedsTrustError(Path("/home/me/shop")), "launch", "en")
    assert body["error"]["variables"]["folder"] == "/home/me/shop"
    _, body = error_body(read_only(command="launch"), "launch", "en")
    assert "folder" not in body["error"]["variables"]


def test_what_the_editor_does_itself_is_not_done_again() -> None:
    given = {"type": "dragoman", "dragomanType": "python", "program": "a.py", "preLaunchTask": "build", "__id": 1}
    assert launch_request_from(given, "launch").configuration == {
        "type": "python",
        "program": "a.py",
        "request": "launch",
    }


def test_a_configuration_of_launch_json_is_named_with_its_inputs() -> None:
    request = launch_request_from({"configurationName": "Tests", "inputs": {"which": "all"}, "noDebug": True}, "launch")
    assert (request.configuration_name, request.inputs, request.no_debug) == ("Tests", {"which": "all"}, True)


@pytest.mark.parametrize("given", [{}, {"type": "dragoman"}, {"program": 7}, {"program": ""}])
def test_a_configuration_without_a_target_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(DragomanError) as refused:
        launch_request_from(given, "launch")
    assert refused.value.code == "no_target"


def test_an_attach_to_a_program_is_distinguished_from_one_to_a_session() -> None:
    assert starts_program({"processId": 7})
    assert not starts_program({"session": "debug-1", "program": "a.py"})
    assert not starts_program({"type": "dragoman", "request": "attach"})
    assert starts_program({"type": "lua", "request": "attach", "connectionPort": 8818})
    assert starts_program({"type": "lua", "request": "attach", "VSCodeAsClient": True})
    assert not starts_program({"type": "lua", "connectionPort": 8818, "session": "debug-1"})


def test_who_says_nothing_true_of_itself_is_nowhere_and_has_nothing() -> None:
    about = {"workspace": 7, "cwd": "relative", "environment": {"A": 1, "B": "2"}, "session": [], "read_only": "yes"}
    editor_context = EditorContext.of(Hello("dap", "1", about=about))
    assert (editor_context.workspace, editor_context.cwd, editor_context.session, editor_context.read_only) == (
        Path("/"),
        Path("/"),
        "",
        False,
    )
    assert editor_context.environment == {"B": "2"}
    assert not editor_context.client("x").trusts_workspace


def test_a_persons_own_folder_is_trusted_when_they_open_it(tmp_path: Path) -> None:
    editor_context = EditorContext(Path("/"), Path("/")).at(str(tmp_path))
    assert editor_context.client("x").trusts_workspace
    assert editor_context.cwd == tmp_path


def test_a_person_is_distinguished_from_a_program_by_the_id_and_the_name_is_one_short_line() -> None:
    id = model.new_person_id("Visual\nStudio \x1b[31mCode" + "x" * 100)
    assert model.is_person(id)
    result = model.person_label(id)
    assert result is not None
    assert str(result).startswith("a person in Visual Studio \\x1b[31mCode")
    assert len(str(result)) < 80
    assert model.person_label("mcp-1f2e") is None
    assert model.new_person_id("x") != model.new_person_id("x")


def test_a_refusal_has_the_same_number_for_a_code_and_no_template_in_its_words() -> None:
    text, body = error_body(read_only(command="{next}"), "next", "en")
    assert "{next}" in text
    assert body["error"]["format"] == "{text}"
    assert body["error"]["id"] == error_body(read_only(command="x"), "evaluate", "zh")[1]["error"]["id"]
    assert body["error"]["showUser"]


async def test_a_beat_wakes_every_follower_once_and_is_not_missed() -> None:
    changes, entries = ChangeSignal(), list[int]()

    async def follow() -> None:
        entries.append(await changes.wait_for_change(0))

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        group.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        changes.notify()
        changes.notify()
    assert entries == [2, 2]
    assert await changes.wait_for_change(1) == 2


def test_output_is_read_on_by_pieces_with_their_categories() -> None:
    changes = ChangeSignal()
    output = SessionOutput(kept=10, changes=changes)
    output.append("stdout", "one\n")
    output.append("stderr", "two\n")
    assert [(it.category, it.text) for it in output.pieces(2)] == [("stdout", "e\n"), ("stderr", "two\n")]
    assert output.pieces(8) == []
    output.append("stdout", "three\n")
    assert (output.pieces(0)[0].text, output.start, changes.change_count) == ("two\n", 4, 3)


async def test_a_list_is_replaced_at_once_and_what_stays_keeps_its_id(tmp_path: Path) -> None:
    def at(line: int, owner: str = "me", condition: str = "") -> Breakpoint:
        return Breakpoint(id=0, owner=owner, path="/a.py", line=line, condition=condition)

    async with Journal.open(tmp_path / "journal", stores=(breakpoints.STORE,)) as journal:
        book = BreakpointRegistry(journal, SystemClock())
        theirs = await book.add("w", at(1, "another"))
        first = await book.replace("w", lambda it: it.owner == "me", [at(1), at(2)])
        again = await book.replace("w", lambda it: it.owner == "me", [at(3), at(2, condition="x")])
        assert again[1].id == first[1].id
        assert [(it.line, it.condition) for it in book.of("w") if it.owner == "me"] == [(2, "x"), (3, "")]
        assert book.has(theirs.id)
        assert not book.has(first[0].id)
        before = journal.last_sequence
        assert await book.replace("w", lambda it: it.owner == "me", [at(3), at(2, condition="x")]) == again
        assert journal.last_sequence == before
        with pytest.raises(DragomanError) as refused:
            await book.replace("w", lambda _: False, [at(line) for line in range(2000)])
        assert refused.value.code == "too_many_breakpoints"
        reopened = BreakpointRegistry(journal, SystemClock())
        await reopened.load()
        assert sorted(it.id for it in reopened.of("w")) == sorted(it.id for it in book.of("w"))


@pytest.mark.parametrize(
    ("given", "bound"),
    [({"program": "app.py"}, "_OPENED_WITHIN_S"), ({"configurationName": "Asks the person"}, "_ASKED_WITHIN_S")],
)
async def test_a_debugger_that_does_not_come_is_reported_in_words_and_a_person_who_is_asked_has_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], bound: str
) -> None:
    monkeypatch.setattr(connection, bound, 0.05)
    monkeypatch.setattr(DebugService, "open", lambda *_: anyio.sleep_forever())
    async with opened(tmp_path) as bench, visiting(bench, "") as peer:
        await peer.asks("initialize", adapterID="x")
        assert await peer.asks("launch", **given) == {"code": "not_opened"}
