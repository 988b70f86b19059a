"""An agent draws in one call, learns what to repair and where, and gets each action of the person once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.canvas.catalogue import COMPONENT_NAMES
from dragoman.canvas.service import CanvasService
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.tools.canvas import canvas_tools
from dragoman.tools.canvas.user_input import AskUserParameters
from dragoman.tools.registry import ToolRegistry
from dragoman.workspace.caller import Caller
from tests.canvas.canvas_fixture import studio

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[dict[str, Any]]]


@asynccontextmanager
async def agent(folder: Path, *, watchers: int = 1, id: str = "mcp-1") -> AsyncIterator[tuple[Call, CanvasService]]:
    async with studio(folder / "journal") as (service, _):
        toolbox = ToolRegistry(canvas_tools(service, lambda: watchers, SUBJECTS))
        caller = Caller(id=id, workspace=folder, cwd=folder)

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            outcome = await toolbox.call(name, arguments, caller)
            text = "\n".join(line.in_language("en") for line in outcome.lines)
            return {**outcome.data.model_dump(), "text": text, "is_error": outcome.is_error}

        yield call, service


STOP = {
    "reason": "exception",
    "exception": {"type": "ValueError", "message": "no \x1b[2J price"},
    "source": {"path": "/project/app.py"},
    "line": 12,
    "source_lines": {"start": 10, "lines": ["def total():", "    x = 1", "    raise ValueError"]},
    "call_stack": [{"function_name": "total", "file_path": "/project/app.py", "line_number": 12}],
    "top_frame_variables": {"scope_name": "Locals", "variables": [{"name": "x", "value": "1", "type": "int"}]},
    "output": "so far\n",
}
FAILURE = {
    "command": {"command": "make test", "cwd": "/project", "exit_code": 2},
    "error_lines": ["app.py:3: error"],
    "output_tail": "app.py:3: error\nmake: *** failed\n",
}


async def stop(_: Caller, session_id: str) -> dict[str, Any]:
    if session_id == "running":
        raise DragomanError(
            "not_stopped", localize("The program is not stopped: the session is {state}.", state="Running")
        )
    return STOP


async def failure(_: Caller, command_id: str) -> dict[str, Any]:
    return {**FAILURE, "error_lines": []} if command_id else FAILURE


SUBJECTS = {"stop": stop, "failure": failure}
DELETED = {"deleteSurface": {"surfaceId": "no"}}
TABLE = {"id": "t", "component": "Table", "columns": [{"key": "a"}], "rows": {"path": "/rows"}}


async def test_components_without_a_root_are_stacked(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        words = [{"id": "w", "component": "Text", "text": "Go"}, {"id": "b", "component": "Button", "child": "w"}]
        shown = await call("show_canvas", components=[TABLE, *words], data={"rows": [{"a": 1}]}, title="Rows")
        (drawn,) = service.surfaces()
        assert drawn.surface.components["root"].properties["children"] == ["t", "b"]
        assert (shown["status"], shown["surface_id"], drawn.surface.title) == ("shown", "main", "Rows")
        assert drawn.surface.data_model == {"rows": [{"a": 1}]}


async def test_showing_again_replaces_and_updating_changes(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        await call("show_canvas", components=[TABLE], data={"rows": [1, 2]})
        await call("show_canvas", components=[{"id": "m", "component": "Markdown", "text": {"path": "/text"}}])
        assert set(service.surfaces()[0].surface.components) == {"root", "m"}
        changed = await call("update_canvas", changes={"/text": "now", "/gone": None}, components=[TABLE])
        assert changed["version"] > 1
        assert service.surfaces()[0].surface.data_model == {"text": "now"}
        assert (await call("update_canvas", remove=True))["status"] == "removed"
        assert service.surfaces() == ()


@pytest.mark.parametrize(
    ("arguments", "code", "pointer"),
    [
        ({"components": [{**TABLE, "colums": []}]}, "invalid_message", "/components/0/colums"),
        (
            {"messages": [{"deleteSurface": {"surfaceId": "no"}}]},
            "unknown_surface",
            "/messages/0/deleteSurface/surfaceId",
        ),
        ({}, "nothing_to_draw", ""),
    ],
)
async def test_what_is_wrong_is_reported_with_its_place_in_the_call(
    tmp_path: Path, arguments: dict[str, Any], code: str, pointer: str
) -> None:
    async with agent(tmp_path) as (call, service):
        answer = await call("show_canvas", **arguments)
        assert (answer["status"], answer["code"], answer["is_error"]) == ("error", code, True)
        assert answer["pointer"] == pointer
        assert service.surfaces() == ()


async def test_an_unknown_component_is_drawn_as_a_placeholder_and_the_agent_is_warned(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        unknown = [{"id": "x", "component": "Tabel"}, {"id": "y", "component": "Gauge\x1b[2J"}]
        answer = await call("show_canvas", components=unknown)
        assert (answer["status"], answer["is_error"], len(answer["warnings"])) == ("shown", False, 2)
        assert "'Tabel'; Table?" in answer["text"]
        assert "list_components" in answer["text"]
        assert "\x1b" not in answer["text"]
        assert service.surfaces()[0].surface.components["x"].type == "Tabel"
        repaired = await call("update_canvas", components=[{"id": i, "component": "Divider"} for i in ("x", "y")])
        assert repaired["warnings"] == []


async def test_a_stop_is_shown_with_one_call(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        own = {"id": "own", "component": "Markdown", "text": "Look at `x`."}
        assert (await call("show_canvas", subject="stop", components=[own]))["warnings"] == []
        (drawn,) = service.surfaces()
        parts = drawn.surface.components
        assert drawn.surface.title == "stopped at app.py:12"
        assert parts["root"].properties["children"] == ["why", "source", "beside", "printed", "own"]
        assert parts["beside"].properties["children"] == ["stack", "variables"]
        assert parts["source"].properties["marked"] == [12]
        assert parts["variables"].properties["variables"] == [{"name": "x", "value": "1", "type": "int"}]
        refused = await call("show_canvas", subject="stop", subject_id="running")
        assert (refused["code"], refused["is_error"]) == ("not_stopped", True)


async def test_a_failed_command_is_shown_with_one_call(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        await call("show_canvas", subject="failure", title="Look")
        (drawn,) = service.surfaces()
        parts = drawn.surface.components
        assert (drawn.surface.title, parts["command"].properties["code"]) == ("Look", "make test")
        assert parts["errors"].properties["code"] == "app.py:3: error"
        assert parts["command"].properties["title"] == "in /project, exit code 2"
        await call("show_canvas", subject="failure", subject_id="command-1")
        (drawn,) = service.surfaces()
        assert drawn.surface.title == "failed: make test"
        assert "errors" not in drawn.surface.components


async def test_an_agent_learns_that_nobody_looks(tmp_path: Path) -> None:
    async with agent(tmp_path, watchers=0) as (call, _):
        assert "no page is open" in (await call("show_canvas", components=[TABLE]))["text"]


async def test_actions_are_reported_once_and_a_time_without_any_is_not_an_error(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        await call("show_canvas", components=[{"id": "f", "component": "FileTree", "items": ["a.py"]}])
        await service.act("mcp-1", "main", "f", details={"path": "a.py\x1b[2J"}, by="page")
        answer = await call("read_actions", timeout_s=1)
        assert [(it["name"], it["context"]) for it in answer["actions"]] == [("onSelect", {"path": "a.py\\x1b[2J"})]
        assert "\x1b" not in answer["text"]
        nothing = await call("read_actions", timeout_s=0)
        assert (nothing["status"], nothing["is_error"]) == ("timeout", False)


async def test_no_other_client_of_the_folder_takes_what_was_done_for_one_that_is_there(tmp_path: Path) -> None:
    form = {"id": "form", "component": "Form", "title": "Log in", "fields": [{"name": "pin", "kind": "secret"}]}
    async with agent(tmp_path) as (call, service):
        other = ToolRegistry(canvas_tools(service, lambda: 1, SUBJECTS))
        stranger = Caller(id="mcp-2", workspace=tmp_path, cwd=tmp_path)
        wanted = {"surface_id": "main", "timeout_s": 0}
        await call("show_canvas", components=[form])
        await service.act("mcp-1", "main", "form", details={"values": {"pin": "4711"}}, by="page")
        assert (await other.call("read_actions", wanted, stranger)).data.model_dump()["actions"] == []
        assert len((await call("read_actions", timeout_s=0))["actions"]) == 1
        await service.act("mcp-1", "main", "form", details={"values": {"pin": "4712"}}, by="page")
        service.left("mcp-1")  # for who comes back under another name
        assert len((await other.call("read_actions", wanted, stranger)).data.model_dump()["actions"]) == 1


async def answer_when_asked(service: CanvasService, details: dict[str, Any]) -> None:
    while not service.surfaces():  # noqa: ASYNC110  nothing rings when a surface is drawn
        await anyio.sleep(0.005)
    drawn = service.surfaces()[0]
    await service.act(drawn.drawer, drawn.surface.id, "form", details=details, by="page")


@pytest.mark.parametrize(
    ("details", "status", "values"),
    [({"values": {"branch": "dev"}}, "answered", {"branch": "dev"}), ({}, "cancelled", {})],
)
async def test_a_question_is_answered_or_closed_and_its_form_goes(
    tmp_path: Path, details: dict[str, Any], status: str, values: dict[str, Any]
) -> None:
    fields = [{"name": "branch", "kind": "choice", "options": ["main", "dev"]}]
    async with agent(tmp_path) as (call, service):
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(answer_when_asked, service, details)
                answer = await call("ask_user", title="Which?", text="**Choose**", fields=fields, timeout_s=10)
        assert (answer["status"], answer["values"]) == (status, values)
        assert service.surfaces() == ()


async def test_questions_that_the_person_takes_away_are_closed_and_an_answer_before_that_counts(tmp_path: Path) -> None:
    async def take_away(service: CanvasService, *, answers: bool) -> None:
        while not service.surfaces():  # noqa: ASYNC110  nothing rings when a surface is drawn
            await anyio.sleep(0.005)
        (drawn,) = service.surfaces()
        if answers:
            await service.act(drawn.drawer, drawn.surface.id, "form", details={"values": {"n": "1"}}, by="page")
        await service.remove(drawn.drawer, drawn.surface.id, by="page")

    async with agent(tmp_path) as (call, service):
        for answers, status in ((False, "cancelled"), (True, "answered")):
            with anyio.fail_after(10):
                async with anyio.create_task_group() as group:
                    group.start_soon(partial(take_away, service, answers=answers))
                    answer = await call("ask_user", title="Which?", fields=[{"name": "n"}], timeout_s=30)
            assert (answer["status"], answer["is_error"]) == (status, False)


def test_a_person_has_three_quarters_of_a_minute_unless_the_agent_says_otherwise() -> None:
    assert AskUserParameters.model_fields["timeout_s"].default == 45


async def test_a_question_nobody_answers_is_closed_and_a_late_answer_is_refused_plainly(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        answer = await call("ask_user", title="Which?", text="**Choose**", fields=[{"name": "n"}], timeout_s=0)
        assert (answer["status"], answer["is_error"]) == ("timeout", False)
        assert "closed" in answer["text"]
        (drawn,) = service.surfaces()
        shown = {it.id: it.properties.get("text") for it in drawn.surface.components.values()}
        assert set(shown) == {"root", "title", "text", "closed"}
        assert (shown["title"], shown["text"]) == ("Which?", "**Choose**")
        assert "no answer came in time" in str(shown["closed"])
        with pytest.raises(DragomanError) as late:
            await service.act("mcp-1", answer["surface_id"], "form", details={"values": {"n": "late"}}, by="page")
        assert late.value.code == "surface_closed"
        assert (await call("read_actions", surface_id=answer["surface_id"], timeout_s=0))["actions"] == []


async def test_questions_that_were_closed_go_when_new_ones_are_asked(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        await call("show_canvas", components=[{"id": "t", "component": "Text", "text": "stays"}], surface_id="mine")
        asked = [await call("ask_user", title="Which?", fields=[{"name": "n"}], timeout_s=0) for _ in range(3)]
        assert {it.surface.id for it in service.surfaces()} == {"mine", asked[-1]["surface_id"]}


async def test_questions_of_a_caller_that_stopped_waiting_are_closed(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service), anyio.create_task_group() as group:

        async def ask() -> None:
            await call("ask_user", title="Which?", fields=[{"name": "n"}], timeout_s=600)

        group.start_soon(ask)
        while not service.surfaces():  # noqa: ASYNC110  nothing rings when a surface is drawn
            await anyio.sleep(0.005)
        group.cancel_scope.cancel()
    (drawn,) = service.surfaces()
    assert drawn.asking == "closed"


async def test_a_closed_surface_that_is_drawn_again_is_open(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, service):
        name = (await call("ask_user", title="Which?", fields=[{"name": "n"}], timeout_s=0))["surface_id"]
        again = {"id": "again", "component": "Confirm", "message": "Again?"}
        assert not (await call("update_canvas", surface_id=name, components=[again]))["is_error"]
        await service.act("mcp-1", name, "again", details={"confirmed": True}, by="page")
        assert len((await call("read_actions", timeout_s=1))["actions"]) == 1


async def test_components_are_listed_briefly_and_by_name_in_full(tmp_path: Path) -> None:
    async with agent(tmp_path) as (call, _):
        brief = await call("list_components")
        assert [it["name"] for it in brief["components"]] == list(COMPONENT_NAMES)
        assert len(brief["text"]) < 3000
        (chart,) = (await call("list_components", names=["Chart"]))["components"]
        assert chart["example"]["kind"] == "line"
        assert "series" in chart["properties"]["$defs"]["Chart"]["required"]
        assert (await call("list_components", names=["Grid"]))["code"] == "unknown_component"


@pytest.mark.parametrize("name", COMPONENT_NAMES)
async def test_every_example_that_is_listed_can_be_shown(tmp_path: Path, name: str) -> None:
    async with agent(tmp_path) as (call, _):
        (entries,) = (await call("list_components", names=[name]))["components"]
        stand_ins = [{"id": it, "component": "Text", "text": it} for it in ("a", "b", "label", "item", "open")]
        shown = await call("show_canvas", components=[{"id": "x", "component": name, **entries["example"]}, *stand_ins])
        assert shown["status"] == "shown", shown
