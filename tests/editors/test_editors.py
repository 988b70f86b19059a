"""Editors that are asked: who is chosen, and what becomes of a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.editors import Editor, EditorInfo, EditorRegistry, read_editor_info
from dragoman.editors.registry import EDITORS_AT_MOST, OUTGOING_AT_MOST, QUESTIONS_AT_MOST

pytestmark = pytest.mark.anyio
HERE = Path("/home/me/project")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def about(name: str = "Code", folder: Path = HERE, *features: str) -> EditorInfo:
    return EditorInfo(name, (folder,), frozenset(features or ("open",)))


async def answer(editor: Editor, result: Any = None, error: dict[str, Any] | None = None) -> dict[str, Any]:
    asked = await editor.outgoing.receive()
    editor.handle_answer(asked["id"], result, error)
    return asked


async def refusal(
    editors: EditorRegistry, method: str = "open", within_s: float = 1.0, folder: Path = HERE
) -> DragomanError:
    with pytest.raises(DragomanError) as caught:
        await editors.ask(folder, method, {}, within_s)
    return caught.value


async def test_a_question_goes_to_the_editor_of_the_folder_and_its_answer_comes_back() -> None:
    editors = EditorRegistry()
    with editors.connected(about("elsewhere", Path("/other"))), editors.connected(about()) as here:
        async with anyio.create_task_group() as group:
            group.start_soon(answer, here, {"done": True})
            assert await editors.ask(HERE / "src", "open", {"line": 3}, 1) == {"done": True}


async def test_of_several_editors_the_one_looked_at_last_is_asked() -> None:
    editors = EditorRegistry()
    with editors.connected(about("first")) as first, editors.connected(about("second")) as second:
        assert editors.of(HERE, "open") is second
        await editors.call(first, "focused", {})
        assert editors.of(HERE, "open") is first


async def test_one_that_can_is_asked_before_one_that_was_looked_at_later() -> None:
    editors = EditorRegistry()
    with editors.connected(about("new", HERE, "diff")) as new, editors.connected(about("old")):
        assert editors.of(HERE, "diff") is new
        assert (await refusal(editors, "notify")).code == "editor_cannot"


async def test_without_an_editor_the_message_says_how_to_connect_one() -> None:
    error = await refusal(EditorRegistry())
    assert error.code == "no_editor"
    assert "extension" in str(error.hint)


async def test_a_folder_with_a_name_that_only_begins_alike_is_another() -> None:
    editors = EditorRegistry()
    with editors.connected(about()):
        assert (await refusal(editors, folder=Path("/home/me/project-two"))).code == "no_editor"


async def test_an_editor_that_moves_to_another_folder_is_found_there() -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor:
        await editors.call(editor, "moved", {"name": "Code", "folders": ["/new"], "features": ["open"]})
        assert editors.of(Path("/new"), "open") is editor
        assert (await refusal(editors)).code == "no_editor"


async def test_what_is_not_answered_in_time_is_withdrawn_and_a_late_answer_is_nobodys() -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor:
        assert (await refusal(editors, within_s=0.01)).code == "editor_silent"
        asked, withdrawn = await editor.outgoing.receive(), await editor.outgoing.receive()
        assert withdrawn == {"method": "withdrawn", "params": {"id": asked["id"]}}
        editor.handle_answer(asked["id"], "late", None)
        editor.handle_answer(999, "never asked", None)


async def test_an_editor_that_disconnects_in_the_middle_of_a_request_is_reported_at_once() -> None:
    editors = EditorRegistry()
    left: list[Editor] = []
    editors.on_disconnect = left.append
    async with anyio.create_task_group() as group:
        with editors.connected(about()) as editor:
            caught: list[DragomanError] = []

            async def ask() -> None:
                caught.append(await refusal(editors, within_s=60))

            group.start_soon(ask)
            await editor.outgoing.receive()
    assert [error.code for error in caught] == ["editor_gone"]
    assert left == [editor]


@pytest.mark.parametrize(
    ("error", "code"), [({"code": "not_allowed"}, "not_allowed"), ({"message": "no\x1b[2J\nway"}, "editor_refused")]
)
async def test_a_refusal_is_reported_as_what_it_is_and_its_words_are_not_commands(
    error: dict[str, Any], code: str
) -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor:
        async with anyio.create_task_group() as group:
            group.start_soon(answer, editor, None, error)
            caught = await refusal(editors)
    assert caught.code == code
    assert "\x1b" not in str(caught)


async def test_questions_are_bounded() -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor:
        async with anyio.create_task_group() as group:
            for _ in range(QUESTIONS_AT_MOST):
                group.start_soon(refusal, editors, "open", 0.2)
            await anyio.wait_all_tasks_blocked()
            assert (await refusal(editors)).code == "too_many_questions"
        assert editor in editors.all


async def test_one_that_reads_nothing_is_disconnected() -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor:
        for _ in range(OUTGOING_AT_MOST):
            editor.notify("welcome", {})
        assert (await refusal(editors)).code == "editor_gone"
        taken = [message async for message in editor.outgoing]  # what was on its way, then the end
    assert len(taken) == OUTGOING_AT_MOST


async def test_there_is_room_for_so_many_editors_and_no_more() -> None:
    editors = EditorRegistry()
    stack = [editors.connected(about()) for _ in range(EDITORS_AT_MOST)]
    for each in stack:
        each.__enter__()
    with pytest.raises(DragomanError, match="Limit reached"), editors.connected(about()):
        pass
    for each in stack:
        each.__exit__(None, None, None)
    assert editors.all == ()


async def test_a_call_that_no_editor_may_make_is_refused() -> None:
    editors = EditorRegistry()
    with editors.connected(about()) as editor, pytest.raises(DragomanError) as caught:
        await editors.call(editor, "shutdown", {})
    assert caught.value.code == "unknown_method"


@pytest.mark.parametrize(
    "about",
    [{}, {"name": 1, "folders": [], "features": []}, {"name": "a", "folders": "/", "features": []},
     {"name": "a", "folders": ["/"] * 101, "features": []}, {"name": "a", "folders": [1], "features": []}],
)  # fmt: skip
def test_what_no_editor_says_of_itself_is_not_read(about: dict[str, Any]) -> None:
    assert read_editor_info(about) is None


def test_a_folder_that_is_not_an_absolute_path_is_left_out() -> None:
    result = read_editor_info({"name": "a", "folders": ["here", "/there", "/a\0b"], "features": ["x"]})
    assert result is not None
    assert result.folders == (Path("/there"),)
