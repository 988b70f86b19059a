"""One surface, said in every dialect, is one surface; and what is peculiar to each dialect."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.protocols.a2ui import (
    DELETE,
    A2uiError,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    UpdateComponents,
    UpdateDataModel,
    apply,
    read,
)
from dragoman.protocols.a2ui.catalogue import BASIC, KNOWN
from tests.protocols.a2ui.vectors import (
    DIALECTS,
    expected_surface,
    one,
    played,
    same,
    single,
    surface_of,
    text,
    v09,
    v10,
    vector,
)


@pytest.mark.parametrize(("name", "dialect"), DIALECTS)
def test_every_dialect_gives_the_same_surface(name: str, dialect: str) -> None:
    surface = one(vector(name)["dialects"][dialect])
    assert same(surface, expected_surface(name))
    assert {incoming.dialect for incoming in read(vector(name)["dialects"][dialect])} == {dialect}


def test_the_vectors_have_every_component_of_the_basic_catalogue() -> None:
    used = {row[1] for name in ("form", "show", "analysis") for row in vector(name)["surface"]["components"]}
    assert used >= BASIC.keys()
    assert len(BASIC) == 18
    assert {"Text", "Button", "CodeBlock", "FileTree"} <= KNOWN.keys()


# The protocol document's dialect


@pytest.mark.requirement(
    "a2ui:create-surface:type",
    "a2ui:create-surface:surface-id",
    "a2ui:create-surface:surface-title",
    "a2ui:create-surface:components",
    "a2ui:component:id",
    "a2ui:component:type",
    "a2ui:component:props",
    "a2ui:component:example-text",
    "a2ui:component:example-code-block",
)
def test_the_documents_surface_is_created_with_title_and_components() -> None:
    created, filled = read(vector("analysis")["dialects"]["flat-list"][0])
    assert isinstance(created.message, CreateSurface)
    assert (created.message.surface_id, created.message.title) == ("s1", "代码分析结果")
    assert isinstance(filled.message, UpdateComponents)
    assert filled.message.components[1:] == (
        Component("c1", "Text", {"text": "分析完成"}),
        Component("c2", "CodeBlock", {"code": "console.log('hello')"}),
    )


@pytest.mark.requirement(
    "a2ui:update-components:type", "a2ui:update-components:surface-id", "a2ui:update-components:components"
)
def test_the_documents_update_replaces_the_whole_list() -> None:
    before = played(vector("analysis")["dialects"]["flat-list"])
    update = {
        "type": "updateComponents",
        "surfaceId": "s1",
        "components": [{"id": "c1", "type": "Text", "props": {"text": "更新后的内容"}}],
    }
    after = played(update, before)["s1"]
    assert list(after.components) == ["root", "c1"]
    assert after.components["root"].properties == {"children": ["c1"]}
    assert after.components["c1"].properties == {"text": "更新后的内容"}
    assert after.data_model == before["s1"].data_model


@pytest.mark.requirement(
    "a2ui:update-data-model:type",
    "a2ui:update-data-model:surface-id",
    "a2ui:update-data-model:pointer",
    "a2ui:update-data-model:value",
)
def test_the_documents_data_update_has_a_pointer_and_any_value() -> None:
    message = single(vector("analysis")["dialects"]["flat-list"][1]).message
    assert message == UpdateDataModel(surface_id="s1", path="/results/0", value={"status": "done"})


def test_creating_the_documents_surface_again_starts_it_afresh() -> None:
    first = vector("analysis")["dialects"]["flat-list"]
    surface = one([*first, {"type": "createSurface", "surface": {"id": "s1"}, "components": []}])
    assert surface.components == {"root": Component("root", "Column", {"children": []})}
    assert (surface.data_model, surface.title) == ({}, "")


def test_the_documents_button_keeps_an_action_and_a_child_of_its_own() -> None:
    action = {"event": {"name": "mine"}}
    props = [{"label": "A", "action": action}, {"child": "t"}, {}]
    components = [{"id": f"b{index}", "type": "Button", "props": each} for index, each in enumerate(props)]
    found = one({"type": "createSurface", "surface": {"id": "s"}, "components": components}).components
    assert found["b0"].properties == {"child": "b0-label", "action": action}
    assert found["b1"].properties == {"child": "t"}
    assert (found["b2"].properties["child"], found["b2-label"].properties) == ("b2-label", {"text": ""})


def test_made_ids_avoid_the_ones_that_are_taken() -> None:
    components = [
        {"id": "b", "type": "Button", "props": {"label": "Go"}},
        {"id": "b-label", "type": "Text", "props": {"text": "taken"}},
        {"id": "root", "type": "Text", "props": {"text": "taken too"}},
    ]
    surface = one({"type": "createSurface", "surface": {"id": "s"}, "components": components})
    assert surface.root == "root-"
    assert surface.components["root-"].properties == {"children": ["b", "b-label", "root"]}
    assert surface.components["b"].properties["child"] == "b-label-"
    assert surface.components["b-label"].properties == {"text": "taken"}


def test_made_ids_are_no_longer_than_ids_may_be() -> None:
    button = {"id": "b" * 256, "type": "Button", "props": {"label": "Go"}}
    surface = one({"type": "createSurface", "surface": {"id": "s"}, "components": [button]})
    assert max(map(len, surface.components)) == 256
    assert len(surface.components) == 3


def test_a_tree_in_the_documents_dialect_keeps_its_own_root() -> None:
    components = [{"id": "root", "type": "Column", "props": {"children": ["a"]}}, {"id": "a", "type": "Text"}]
    surface = one({"type": "createSurface", "surface": {"id": "s"}, "components": components})
    assert surface.root == "root"
    assert list(surface.components) == ["root", "a"]


def test_the_documents_dialect_can_delete_too() -> None:
    assert single({"type": "deleteSurface", "surfaceId": "s"}).message == DeleteSurface(surface_id="s")


# 0.8


def v08_component(properties: dict[str, Any], kind: str = "Text") -> Component:
    raw = {"surfaceUpdate": {"surfaceId": "s", "components": [{"id": "a", "component": {kind: properties}}]}}
    message = read(raw)[-1].message
    assert isinstance(message, UpdateComponents)
    return message.components[0]


@pytest.mark.parametrize(
    ("wrapped", "plain"),
    [
        ({"literalString": "x"}, "x"),
        ({"literalNumber": 1.5}, 1.5),
        ({"literalBoolean": False}, False),
        ({"literalArray": ["a"]}, ["a"]),
        ({"literal": 3}, 3),
        ({"path": "/a"}, {"path": "/a"}),
        ({"explicitList": ["a"]}, ["a"]),
        ({"template": {"componentId": "t", "dataBinding": "/l"}}, {"componentId": "t", "path": "/l"}),
        ({"literalString": "x", "other": 1}, {"literalString": "x", "other": 1}),
        ({"literalString": "x", "literalNumber": 1}, {"literalString": "x", "literalNumber": 1}),
        ([{"label": {"literalString": "deep"}}], [{"label": "deep"}]),
    ],
)
def test_values_of_0_8_are_unwrapped_at_any_depth(wrapped: object, plain: object) -> None:
    assert v08_component({"text": wrapped}).properties == {"text": plain}


def test_a_literal_beside_a_path_is_the_first_value_there() -> None:
    components = [
        {"id": "root", "component": {"Text": {"text": {"path": "/user/name", "literalString": "Ada"}}}},
        {"id": "inside", "component": {"Text": {"text": {"path": "name", "literalString": "nobody"}}}},
    ]
    surface = one({"surfaceUpdate": {"surfaceId": "s", "components": components}})
    assert surface.components["root"].properties == {"text": {"path": "/user/name"}}
    assert surface.components["inside"].properties == {"text": {"path": "name"}}
    assert surface.data_model == {"user": {"name": "Ada"}}


@pytest.mark.parametrize(
    ("limit", "variant"), [({"maxAllowedSelections": 1}, "mutuallyExclusive"), ({}, "multipleSelection")]
)
def test_the_choice_of_0_8_becomes_a_picker(limit: dict[str, int], variant: str) -> None:
    choice = {"selections": {"literalArray": ["a"]}, "options": [], "variant": "chips", **limit}
    component = v08_component(choice, "MultipleChoice")
    assert component.type == "ChoicePicker"
    assert component.properties == {"value": ["a"], "options": [], "displayStyle": "chips", "variant": variant}


def test_surfaces_of_0_8_are_filled_before_they_are_shown() -> None:
    filled = {"surfaceUpdate": {"surfaceId": "s", "components": [{"id": "top", "component": {"Text": {}}}]}}
    surface = one(filled)
    assert surface.root == ""
    shown = played({"beginRendering": {"surfaceId": "s", "root": "top"}}, {"s": surface})["s"]
    assert (shown.root, shown.components) == ("top", surface.components)


def test_an_update_of_0_8_exchanges_by_id_and_keeps_the_rest() -> None:
    def update(*names: str) -> dict[str, Any]:
        components = [{"id": name, "component": {"Text": {"text": {"literalString": names[0]}}}} for name in names]
        return {"surfaceUpdate": {"surfaceId": "s", "components": components}}

    surface = one([update("a", "b"), update("b", "c")])
    assert {name: component.properties["text"] for name, component in surface.components.items()} == {
        "a": "a",
        "b": "b",
        "c": "b",
    }


@pytest.mark.parametrize(
    ("path", "contents", "expected"),
    [
        ("/", [{"key": "n", "valueNumber": 1}], {"n": 1}),
        ("user", [{"key": "n", "valueString": "x"}], {"old": 1, "user": {"n": "x"}}),
        ("/user", [{"key": ".", "valueString": "x"}], {"old": 1, "user": "x"}),
        ("/user", [{"key": "l", "valueString": '["a", 1]'}], {"old": 1, "user": {"l": ["a", 1]}}),
        ("/user", [{"key": "l", "valueString": "[not json]"}], {"old": 1, "user": {"l": "[not json]"}}),
        (
            "/user",
            [{"key": "l", "valueString": "[" * 2000 + "]" * 2000}],
            {"old": 1, "user": {"l": "[" * 2000 + "]" * 2000}},
        ),
        ("/user", [], {"old": 1, "user": {}}),
    ],
)
def test_typed_contents_become_plain_json(path: str, contents: list[Any], expected: object) -> None:
    first = {"dataModelUpdate": {"surfaceId": "s", "contents": [{"key": "old", "valueNumber": 1}]}}
    update = {"dataModelUpdate": {"surfaceId": "s", "path": path, "contents": contents}}
    assert one([first, update]).data_model == expected


def test_an_action_of_0_8_without_context_stays_without() -> None:
    component = v08_component({"child": "t", "action": {"name": "go"}}, "Button")
    assert component.properties["action"] == {"event": {"name": "go"}}


# 0.9 and 1.0


@pytest.mark.parametrize(
    ("version", "dialect"),
    [("v0.9", "0.9"), ("0.9", "0.9"), ("v0.9.1", "0.9"), ("v1.0", "1.0"), ("1.0-rc.2", "1.0"), ("v0.8", "0.8")],
)
def test_the_version_shows_the_dialect_where_the_keys_do_not(version: str, dialect: str) -> None:
    assert single({"version": version, "deleteSurface": {"surfaceId": "s"}}).dialect == dialect


@pytest.mark.parametrize("version", ["v0.90", "v0.7", "", "latest", 9, None])
def test_other_versions_are_refused(version: object) -> None:
    with pytest.raises(A2uiError, match=r"v0\.8, v0\.9 or v1\.0"):
        read({"version": version, "deleteSurface": {"surfaceId": "s"}})


def test_0_9_deletes_by_leaving_the_value_out_and_1_0_by_null() -> None:
    assert single(v09("updateDataModel", surfaceId="s", path="/a")).message == UpdateDataModel(
        surface_id="s", path="/a", value=DELETE
    )
    kept = single(v09("updateDataModel", surfaceId="s", path="/a", value=None)).message
    assert kept == UpdateDataModel(surface_id="s", path="/a", value=None)
    gone = single(v10("updateDataModel", surfaceId="s", path="/a", value=None)).message
    assert gone == UpdateDataModel(surface_id="s", path="/a", value=DELETE)


def test_the_marks_of_1_0_are_taken_off_bindings_and_calls() -> None:
    marked = {
        "id": "root",
        "component": "Own",
        "a": {"@path": "/x"},
        "b": {"@call": "f", "args": {"v": {"@path": "y"}}},
        "c": {"@@path": 1, "@index": 2},
        "d": {"path": "/as/before"},
    }
    surface = one([v10("createSurface", surfaceId="s", components=[marked])])
    assert surface.components["root"].properties == {
        "a": {"path": "/x"},
        "b": {"call": "f", "args": {"v": {"path": "y"}}},
        "c": {"@path": 1, "@index": 2},
        "d": {"path": "/as/before"},
    }


def test_a_surface_of_1_0_gets_its_data_before_its_components() -> None:
    create = v10("createSurface", surfaceId="s", components=[text("root")], dataModel={"a": 1})
    assert [type(incoming.message) for incoming in read(create)] == [CreateSurface, UpdateDataModel, UpdateComponents]


@pytest.mark.parametrize("key", ["callRendererFunction", "agentFunctionResponse", "callFunction", "actionResponse"])
def test_function_messages_are_carried_and_change_nothing(key: str) -> None:
    surfaces = {"s": surface_of(text("root"))}
    body = {"functionCallId": "f1", "value": 3}
    message = single(v10(key, **body)).message
    assert message == FunctionMessage(key=key, call_id="f1", body=body)
    assert apply(surfaces, message) is surfaces


def test_unknown_component_types_are_kept_as_they_are() -> None:
    surface = surface_of({"id": "root", "component": "Chart", "title": "Sales", "series": [1, {"path": "/y"}]})
    assert surface.components["root"] == Component("root", "Chart", {"title": "Sales", "series": [1, {"path": "/y"}]})
