"""Surfaces out in the protocol document's dialect: what went in comes out, and what it cannot say is made readable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocols.a2ui import DELETE, Surface, UpdateDataModel, apply_all, flat_list, read
from tests.protocols.a2ui.strategies import messages
from tests.protocols.a2ui.vectors import after

Json = dict[str, Any]
CREATED = {
    "type": "createSurface",
    "surface": {"id": "s1", "title": "代码分析结果"},
    "components": [
        {"id": "c1", "type": "Text", "props": {"text": "分析完成"}},
        {"id": "c2", "type": "CodeBlock", "props": {"code": "console.log('hello')"}},
        {"id": "c3", "type": "Button", "props": {"label": "Run"}},
        {"id": "c4", "type": "FileTree", "props": {"items": ["src/main.ts"]}},
        {"id": "c5", "type": "Chart3D", "props": {"title": "unknown"}},
    ],
}


def surface(*documents: object) -> Surface:
    (found,) = apply_all({}, read(list(documents))).values()
    return found


def created(drawn: Surface) -> list[Json]:
    return flat_list.create_surface("s1", drawn, flat_list.components_of(drawn))


def flat(*components: Json, data: Json | None = None) -> list[Json]:
    filled = [{"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": data}}] if data else []
    return flat_list.components_of(
        surface(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}},
            *filled,
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": list(components)}},
        )
    )


@pytest.mark.requirement(
    "a2ui:create-surface:type",
    "a2ui:create-surface:surface-id",
    "a2ui:create-surface:surface-title",
    "a2ui:create-surface:components",
)
def test_what_was_drawn_in_the_documents_form_comes_out_as_it_went_in() -> None:
    assert created(surface(CREATED)) == [CREATED]


def test_a_surface_gets_its_data_after_it_was_created() -> None:
    update = {"type": "updateDataModel", "surfaceId": "s1", "pointer": "/results/0", "value": {"status": "done"}}
    _, data = created(surface(CREATED, update))
    assert data == {
        "type": "updateDataModel",
        "surfaceId": "s1",
        "pointer": "",
        "value": {"results": [{"status": "done"}]},
    }


@pytest.mark.requirement("a2ui:update-data-model:pointer", "a2ui:update-data-model:value")
@pytest.mark.parametrize(
    ("path", "place"), [("/results/0", "/results/0"), ("/", ""), ("", ""), ("/a~1b/~0", "/a~1b/~0")]
)
def test_data_is_set_by_a_json_pointer(path: str, place: str) -> None:
    update = flat_list.update_data_model("s1", UpdateDataModel(surface_id="s", path=path, value={"status": "done"}))
    assert update == {"type": "updateDataModel", "surfaceId": "s1", "pointer": place, "value": {"status": "done"}}


def test_what_is_deleted_is_null() -> None:
    assert flat_list.update_data_model("s1", UpdateDataModel(surface_id="s", path="/a", value=DELETE))["value"] is None


def test_a_tree_is_listed_in_the_order_in_which_it_is_drawn() -> None:
    drawn = flat(
        {"id": "root", "component": "Column", "children": ["row", "card"]},
        {"id": "row", "component": "Row", "children": ["b", "a"]},
        {"id": "a", "component": "Text", "text": "second"},
        {"id": "b", "component": "Text", "text": "first", "variant": "h2"},
        {"id": "card", "component": "Card", "child": "c"},
        {"id": "c", "component": "Text", "text": "third"},
    )
    assert [(it["id"], it["props"]["text"]) for it in drawn] == [("b", "first"), ("a", "second"), ("c", "third")]


def test_a_button_has_the_text_below_it_as_its_label_and_no_action() -> None:
    drawn = flat(
        {"id": "root", "component": "Button", "child": "row", "action": {"event": {"name": "go"}}},
        {"id": "row", "component": "Row", "children": ["i", "t"]},
        {"id": "i", "component": "Icon", "name": "check"},
        {"id": "t", "component": "Text", "text": "Run"},
    )
    assert drawn == [{"id": "root", "type": "Button", "props": {"label": "check Run"}}]


def test_what_is_bound_shows_the_data_and_each_copy_of_a_template_has_an_id_of_its_own() -> None:
    drawn = flat(
        {"id": "root", "component": "List", "children": {"componentId": "item", "path": "/rows"}},
        {"id": "item", "component": "Text", "text": {"path": "name"}},
        data={"rows": [{"name": "a"}, {"name": "b"}]},
    )
    assert [it["props"] for it in drawn] == [{"text": "a"}, {"text": "b"}]
    assert len({it["id"] for it in drawn}) == 2


@pytest.mark.parametrize(
    ("component", "result"),
    [
        ({"component": "Markdown", "text": "# Hi"}, {"type": "Text", "props": {"text": "# Hi"}}),
        ({"component": "Terminal", "text": "$ ls"}, {"type": "CodeBlock", "props": {"code": "$ ls"}}),
        ({"component": "Text", "text": {"call": "formatDate", "args": {}}}, {"type": "Text", "props": {"text": ""}}),
        ({"component": "Progress", "value": 0.5}, {"type": "Progress", "props": {"value": 0.5}}),
    ],
)
def test_what_the_document_does_not_have_is_readable_or_a_placeholder(component: Json, result: Json) -> None:
    assert flat({"id": "root", **component}) == [{"id": "root", **result}]


def test_a_list_that_would_be_too_long_is_cut() -> None:
    data = {"rows": [{"name": "x" * 100}] * 9_000}
    drawn = flat(
        {"id": "root", "component": "List", "children": {"componentId": "item", "path": "/rows"}},
        {"id": "item", "component": "Text", "text": {"path": "name"}},
        data=data,
    )
    assert 0 < len(drawn) <= 1_000


@settings(max_examples=100)
@given(st.lists(messages, max_size=8))
def test_every_surface_can_be_written(drawn: Any) -> None:
    for each in after(drawn).values():
        for component in flat_list.components_of(each):
            assert component.keys() == {"id", "type", "props"}
