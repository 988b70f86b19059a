"""The protocol document's own canvas: its three messages, its components, and what acting on each says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.canvas.catalogue import action_names
from dragoman.canvas.service import CanvasService
from dragoman.protocols.a2ui import RenderNode, resolve
from tests.canvas.canvas_fixture import studio

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


def create(*components: Json, name: str = "s") -> Json:
    return {"type": "createSurface", "surface": {"id": name, "title": "Result"}, "components": list(components)}


def component(kind: str, id: str = "c", **props: Any) -> Json:
    return {"id": id, "type": kind, "props": props}


async def draw(canvas: CanvasService, *messages: Json) -> None:
    for message in messages:
        await canvas.draw("gateway", "", message, strict=False)


def shown(canvas: CanvasService, name: str = "s") -> list[RenderNode]:
    tree = resolve(canvas.surface("gateway", name).surface)
    assert tree is not None
    return list(tree.children)


@pytest.mark.requirement("canvas:surface:created")
async def test_a_surface_has_its_title_and_its_first_components(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(component("Text", text="hello")))
        assert canvas.surface("gateway", "s").surface.title == "Result"
        assert [node.properties["text"] for node in shown(canvas)] == ["hello"]


@pytest.mark.requirement("canvas:surface:components-replaced", "canvas:surface:belongs")
async def test_new_components_take_the_place_of_all_that_their_surface_had(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(component("Text", text="a"), component("Text", "d", text="b")))
        await draw(canvas, create(component("Text", text="other"), name="t"))
        update = {"type": "updateComponents", "surfaceId": "s", "components": [component("Text", "e", text="new")]}
        await draw(canvas, update)
        assert [node.properties["text"] for node in shown(canvas)] == ["new"]
        assert [node.properties["text"] for node in shown(canvas, "t")] == ["other"]


@pytest.mark.requirement("canvas:surface:data-updated", "canvas:surface:data-bound")
async def test_what_is_bound_shows_the_data_as_it_is_now(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(component("Text", text={"path": "/a/b"})))
        for value in ("one", "two"):
            await draw(canvas, {"type": "updateDataModel", "surfaceId": "s", "pointer": "/a/b", "value": value})
            assert [node.properties["text"] for node in shown(canvas)] == [value]


@pytest.mark.requirement(
    "canvas:catalogue:text",
    "canvas:catalogue:button",
    "canvas:catalogue:code-block",
    "canvas:catalogue:file-tree",
    "canvas:catalogue:chart",
)
@pytest.mark.parametrize(
    ("kind", "props"),
    [
        ("Text", {"text": "hello"}),
        ("CodeBlock", {"code": "x = 1"}),
        ("FileTree", {"items": ["a.py", "b/c.py"]}),
        ("Chart", {"title": "Memory"}),
        ("Confirm", {"message": "Sure?"}),
        ("Gauge", {"anything": [1, {"goes": True}]}),
    ],
)
async def test_the_documents_components_are_kept_with_their_properties(tmp_path: Path, kind: str, props: Json) -> None:
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(component(kind, **props)))
        (node,) = shown(canvas)
        assert (node.type, {name: node.properties[name] for name in props}) == (kind, props)


async def test_each_component_says_what_acting_on_it_is_called(tmp_path: Path) -> None:
    tree, sure, press = component("FileTree", "tree"), component("Confirm", "sure"), component("Button", "press")
    own = {"id": "own", "type": "Confirm", "props": {"action": {"event": {"name": "agreed"}}}}
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(tree, sure, press, own, component("Text", "words")))
        names = action_names(canvas.surface("gateway", "s").surface)
    assert names == {"tree": "onSelect", "sure": "onConfirm", "press": "onClick", "own": "agreed"}


@pytest.mark.requirement(
    "canvas:catalogue:button-click", "canvas:catalogue:file-tree-select", "canvas:action:forwarded"
)
@pytest.mark.parametrize(
    ("drawn", "details", "name", "context"),
    [
        (component("Button", label="Go"), {}, "onClick", {"componentId": "c"}),
        (component("Button"), {}, "onClick", {"componentId": "c"}),
        (component("FileTree", items=["a.py"]), {"path": "a.py"}, "onSelect", {"path": "a.py"}),
        (component("Confirm", message="?"), {"confirmed": True}, "onConfirm", {"componentId": "c", "confirmed": True}),
        (
            component("Confirm", message="?"),
            {"confirmed": False},
            "onConfirm",
            {"componentId": "c", "confirmed": False},
        ),
    ],
)
async def test_an_action_reaches_its_drawer_under_the_documents_names(
    tmp_path: Path, drawn: Json, details: Json, name: str, context: Json
) -> None:
    async with studio(tmp_path) as (canvas, _):
        await draw(canvas, create(drawn))
        await canvas.act("gateway", "s", "c", details=details, by="the page")
        (taken,) = await canvas.actions("gateway", within_s=0)
        assert (taken.name, taken.context) == (name, context)
