"""The page's side of the canvas: it is shown every surface whole, acts on one, and closes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from dragoman.io.drivers.control_client import ControlClient
from dragoman.servers.web import canvas_api
from dragoman.servers.web.canvas_api import CanvasApi
from tests.canvas.canvas_fixture import studio
from tests.canvas.test_service import surface
from tests.raw_http import Answer
from tests.servers.target_daemon import TargetDaemon

DRAWING = {
    "title": "A form",
    "components": [
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
        {"id": "label", "component": "Text", "text": "Go"},
        {
            "id": "go",
            "component": "Button",
            "child": "label",
            "action": {"event": {"name": "go", "context": {"who": {"path": "/name"}}}},
        },
    ],
}


def tool(victim: TargetDaemon, name: str, **arguments: Any) -> Any:
    about = {"workspace": "/", "cwd": "/", "environment": {}}
    with ControlClient.open(victim.paths, role="tools", about=about) as link:
        return link.call("call", {"tool": name, "arguments": arguments})["data"]


def post(victim: TargetDaemon, path: str, body: Any) -> Answer:
    return victim.ask_page(path, "POST", body)


def surfaces(victim: TargetDaemon) -> Any:
    return victim.ask_page("/api/canvas").json()["surfaces"]


@pytest.fixture
def drawn(victim: TargetDaemon) -> dict[str, str]:
    assert tool(victim, "show_canvas", surface_id="form", **DRAWING)["status"] == "shown"
    return {"drawer": "shell", "surface_id": "form"}


@pytest.mark.requirement("canvas:messages:buffered")
def test_every_surface_is_shown_whole_as_0_9(victim: TargetDaemon, drawn: dict[str, str]) -> None:
    (shown,) = surfaces(victim)
    assert {name: shown[name] for name in drawn} == drawn
    assert (shown["title"], shown["version"] >= 1) == ("A form", True)
    assert shown["actions"] == {"go": "go"}
    create, update = shown["messages"]
    assert create["createSurface"]["surfaceId"] == "form"
    assert [it["id"] for it in update["updateComponents"]["components"]] == ["name", "label", "go", "root"]


def test_what_is_there_is_listed_without_what_is_drawn(victim: TargetDaemon, drawn: dict[str, str]) -> None:
    listed = victim.ask_page("/api/canvas/list").json()["surfaces"]
    assert listed == [{**drawn, "title": "A form", "asking": "no"}]


@pytest.mark.anyio
async def test_all_surfaces_together_are_reported_within_a_bound_and_the_newest_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canvas_api, "ANSWER_BYTES", 100_000)
    text = {"id": "root", "component": "Text", "text": "x" * 30_000}
    async with studio(tmp_path) as (service, _):
        for number in range(20):
            await service.draw("a", "/", surface(f"s{number}", text, data={"large": "y" * 30_000}))
        answer = await CanvasApi(service).show(Request({"type": "http"}))
    shown = json.loads(bytes(answer.body))["surfaces"]
    assert len(answer.body) < 100_000 + 150_000 + 20 * 1_000
    states = [it["tree"]["state"] for it in shown]
    assert (states[0], states[-1], len(states)) == ("ready", "cut", 20)


def test_an_action_carries_the_typed_text_to_the_drawer(victim: TargetDaemon, drawn: dict[str, str]) -> None:
    acted = post(victim, "/api/canvas/act", {**drawn, "component_id": "go", "changes": [["/name", "Ada"]]}).json()
    assert (acted["name"], acted["context"]) == ("go", {"who": "Ada"})
    (result,) = tool(victim, "read_actions", timeout_s=5)["actions"]
    assert (result["id"], result["context"]) == (acted["id"], {"who": "Ada"})
    (shown,) = surfaces(victim)
    assert {"surfaceId": "form", "value": {"name": "Ada"}} in [it.get("updateDataModel") for it in shown["messages"]]


@pytest.mark.requirement("canvas:messages:forwarded")
def test_changes_reach_an_open_page_in_their_order(victim: TargetDaemon, drawn: dict[str, str]) -> None:
    with victim.feed() as feed:
        feed.receive_json()
        for number in range(5):
            tool(victim, "update_canvas", surface_id=drawn["surface_id"], changes={"/number": number})
        received: list[Any] = []
        while len(received) < 5:
            received += [it["event"]["body"] for it in feed.receive_json()["events"]]
    values = [message["updateDataModel"]["value"] for body in received for message in body["messages"]]
    assert values == [0, 1, 2, 3, 4]
    versions = [body["versions"]["form"] for body in received]
    assert versions == list(range(versions[0], versions[0] + 5))


def test_a_person_closes_a_surface_and_the_feed_reports_it(victim: TargetDaemon, drawn: dict[str, str]) -> None:
    with victim.feed() as feed:
        feed.receive_json()
        assert post(victim, "/api/canvas/remove", drawn).json() == {"removed": True}
        event = feed.receive_json()["events"][0]["event"]
        assert (event["kind"], event["body"]["by"]) == ("canvas.surface_removed", "the page")
    assert surfaces(victim) == []
    assert post(victim, "/api/canvas/remove", drawn).status == 404


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"component_id": "none"}, 404, "unknown_component"),
        ({"surface_id": "none"}, 404, "unknown_surface"),
        ({"drawer": "another"}, 404, "unknown_surface"),
        ({"component_id": 5}, 400, "bad_request"),
        ({"more": 5}, 400, "bad_request"),
        ({"changes": [["no pointer", 1]]}, 400, "bad_request"),
        ({"changes": [["/a", 1]] * 300}, 413, "too_much_entered"),
    ],
)
def test_invalid_requests_are_explained(
    victim: TargetDaemon, drawn: dict[str, str], changed: dict[str, Any], status: int, code: str
) -> None:
    refused = post(victim, "/api/canvas/act", {**drawn, "component_id": "go", **changed})
    assert (refused.status, refused.json()["error"]["code"]) == (status, code)


def test_what_is_of_no_shape_of_ours_is_refused(victim: TargetDaemon) -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    assert post(victim, "/api/canvas/act", deep).status == 400
    assert post(victim, "/api/canvas/remove", {"drawer": 3}).status == 400
