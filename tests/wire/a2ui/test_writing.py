"""0.8 and 0.9 out: golden outputs, round trips, and what becomes of things 0.8 cannot say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocols.a2ui import (
    DELETE,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    RenderNode,
    Surface,
    UpdateComponents,
    UpdateDataModel,
    read,
    resolve,
    snapshot,
    to_v08,
    to_v09,
)
from dragoman.protocols.a2ui.messages import AgentMessage
from tests.wire.a2ui.strategies import messages, v08_messages
from tests.wire.a2ui.vectors import WRITTEN, after, expected_surface, one, played, same, surface_of, text, v09, vector

WRITERS = {"0.8": to_v08, "0.9": to_v09}


@pytest.mark.parametrize(("name", "dialect"), WRITTEN)
def test_the_golden_outputs(name: str, dialect: str) -> None:
    assert WRITERS[dialect](snapshot(expected_surface(name))) == vector(name)["written"][dialect]


@pytest.mark.parametrize("name", ["button", "form", "show"])
@pytest.mark.parametrize("dialect", ["0.8", "0.9"])
def test_what_was_written_is_read_as_the_same_surface(name: str, dialect: str) -> None:
    surface = one(WRITERS[dialect](snapshot(expected_surface(name))))
    assert {**surface.components} == expected_surface(name).components
    assert (surface.data_model, surface.root) == (expected_surface(name).data_model, expected_surface(name).root)


def back(written: list[dict[str, Any]]) -> list[AgentMessage]:
    return [incoming.message for incoming in read(written)]


@given(messages)
def test_a_message_survives_0_9(message: AgentMessage) -> None:
    assert back(to_v09([message])) == [message]


@given(v08_messages)
@settings(max_examples=300)
def test_a_message_that_0_8_can_say_survives_it(message: AgentMessage) -> None:
    assert back(to_v08([message])) == [message]


@given(st.lists(messages, max_size=6))
def test_surfaces_survive_0_9(all_messages: list[AgentMessage]) -> None:
    for surface in after(all_messages).values():
        assert same(one(to_v09(snapshot(surface))), surface)


def _shape(node: RenderNode | None) -> object:
    return node and (node.component_id, node.state, [_shape(child) for child in node.children])


@given(st.lists(messages, max_size=6))
def test_whatever_0_8_cannot_say_the_tree_keeps_its_shape(all_messages: list[AgentMessage]) -> None:
    for surface in after(all_messages).values():
        if isinstance(surface.data_model, dict) and "" not in surface.data_model and "." not in surface.data_model:
            written = one(to_v08(snapshot(surface)))
            plain = Surface(id="x", root=surface.root, components=surface.components)
            again = Surface(id="x", root=written.root, components=written.components)
            assert _shape(resolve(again)) == _shape(resolve(plain))


# 0.9


def test_a_root_of_another_name_gets_a_column_called_root() -> None:
    create = CreateSurface(surface_id="s", root="main", existing="keep")
    filled = UpdateComponents(surface_id="s", components=(Component("main", "Text", {"text": "hi"}),), implicit=True)
    surface = one(to_v09([create, filled]))
    assert surface.root == "root"
    node = resolve(surface)
    assert node is not None
    assert [child.component_id for child in node.children] == ["main"]


def test_a_replaced_list_is_an_update_whose_root_reaches_only_the_new() -> None:
    old = vector("analysis")["dialects"]["seed"][0]
    new = {"type": "updateComponents", "surfaceId": "s1", "components": [{"id": "c9", "type": "Text", "props": {}}]}
    surface = one(to_v09([incoming.message for incoming in read([old, new])]))
    node = resolve(surface)
    assert node is not None
    assert [child.component_id for child in node.children] == ["c9"]


def test_a_surface_without_a_catalogue_is_given_the_basic_one() -> None:
    (written,) = to_v09([CreateSurface(surface_id="s")])
    assert written["createSurface"]["catalogId"].endswith("/v0_9/catalogs/basic/catalog.json")


def test_a_deletion_has_no_value_and_a_null_has_one() -> None:
    gone, null = to_v09([UpdateDataModel(surface_id="s", path="/a", value=value) for value in (DELETE, None)])
    assert gone["updateDataModel"] == {"surfaceId": "s", "path": "/a"}
    assert null["updateDataModel"] == {"surfaceId": "s", "path": "/a", "value": None}


def test_function_messages_pass_through_0_9_and_end_at_0_8() -> None:
    message = FunctionMessage(key="callFunction", call_id="1", body={"functionCallId": "1"})
    assert to_v09([message]) == [{"version": "v0.9", "callFunction": {"functionCallId": "1"}}]
    assert to_v08([message]) == []


# What 0.8 cannot say


def v08(component: dict[str, Any]) -> dict[str, Any]:
    """The properties of the only component, written as 0.8."""
    written = to_v08(snapshot(surface_of(component)))
    (update,) = (message["surfaceUpdate"] for message in written if "surfaceUpdate" in message)
    ((_, properties),) = update["components"][0]["component"].items()
    found: dict[str, Any] = properties
    return found


CALL = {"call": "formatString", "args": {"value": "x"}}


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        (text("a", CALL), {"text": {"literalString": ""}}),
        (text("a", 5), {"text": {"literalString": "5"}}),
        (text("a", None), {"text": {"literalString": ""}}),
        ({**text("a"), "accessibility": {"label": "x"}, "made": "up"}, {"text": {"literalString": "x"}}),
        (
            {"id": "a", "component": "CheckBox", "label": "L", "value": CALL},
            {"label": {"literalString": "L"}, "value": {"literalBoolean": False}},
        ),
        (
            {"id": "a", "component": "Slider", "max": 9, "value": CALL, "steps": 3},
            {"maxValue": 9, "value": {"literalNumber": 0}},
        ),
        ({"id": "a", "component": "Slider", "max": 9, "value": True}, {"maxValue": 9, "value": {"literalNumber": 0}}),
        ({"id": "a", "component": "Icon", "name": {"svgPath": "M0 0"}}, {"name": {"literalString": "help"}}),
        ({"id": "a", "component": "Icon", "name": "skipNext"}, {"name": {"literalString": "help"}}),
        ({"id": "a", "component": "Icon", "name": "check"}, {"name": {"literalString": "check"}}),
        ({"id": "a", "component": "Icon", "name": {"path": "/i"}}, {"name": {"path": "/i"}}),
        ({"id": "a", "component": "Button", "child": "t", "variant": "borderless"}, {"child": "t"}),
        ({"id": "a", "component": "Button", "child": "t", "checks": [{"condition": CALL}]}, {"child": "t"}),
        (
            {"id": "a", "component": "Image", "url": "u", "fit": "cover"},
            {"url": {"literalString": "u"}, "fit": "cover"},
        ),
        (
            {"id": "a", "component": "ChoicePicker", "label": "L", "value": ["x", 1], "options": "none"},
            {"selections": {"literalArray": ["x", "1"]}, "options": []},
        ),
        (
            {"id": "a", "component": "CodeBlock", "code": "x = 1", "language": "python"},
            {"text": {"literalString": "```python\nx = 1\n```"}},
        ),
        ({"id": "a", "component": "CodeBlock", "code": "```\n"}, {"text": {"literalString": "````\n```\n\n````"}}),
        ({"id": "a", "component": "CodeBlock", "code": {"path": "/c"}}, {"text": {"path": "/c"}}),
        (
            {"id": "a", "component": "FileTree", "items": ["src", "src/a.py"]},
            {"text": {"literalString": "- src\n- src/a.py"}},
        ),
        ({"id": "a", "component": "FileTree", "items": {"path": "/files"}}, {"text": {"path": "/files"}}),
        (
            {"id": "a", "component": "Chart", "series": [1], "children": ["t"], "weight": 2},
            {"series": [1], "children": {"explicitList": ["t"]}},
        ),
    ],
)
def test_what_0_8_cannot_say_gives_way_by_rule(component: dict[str, Any], expected: dict[str, Any]) -> None:
    assert v08(component) == expected


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (
            {"functionCall": {"call": "openUrl", "args": {"url": "u"}}},
            {"name": "openUrl", "context": [{"key": "url", "value": {"literalString": "u"}}]},
        ),
        ({"functionCall": {"call": "close"}}, {"name": "close"}),
        (
            {"event": {"name": "n", "context": {"a": None, "b": [1], "c": CALL, "d": {"path": "/x"}}}},
            {
                "name": "n",
                "context": [
                    {"key": "b", "value": {"literalString": "[1]"}},
                    {"key": "c", "value": {"literalString": ""}},
                    {"key": "d", "value": {"path": "/x"}},
                ],
            },
        ),
        ("odd", "odd"),
    ],
)
def test_an_action_is_always_an_event_with_plain_context(action: object, expected: object) -> None:
    assert v08({"id": "a", "component": "Button", "child": "t", "action": action})["action"] == expected
    assert v08({"id": "a", "component": "Own", "action": action})["action"] == expected


@pytest.mark.parametrize(
    ("path", "value", "body"),
    [
        (
            "/a",
            {"b": {"c": 1}, "n": None},
            {"path": "/a", "contents": [{"key": "b", "valueMap": [{"key": "c", "valueNumber": 1}]}]},
        ),
        ("/a", True, {"path": "/a", "contents": [{"key": ".", "valueBoolean": True}]}),
        ("/a", "x", {"path": "/a", "contents": [{"key": ".", "valueString": "x"}]}),
        ("/a", [1, None], {"path": "/a", "contents": [{"key": ".", "valueString": "[1,null]"}]}),
        ("/a", None, {"path": "/a", "contents": [{"key": ".", "valueString": ""}]}),
        ("/a", DELETE, {"path": "/a", "contents": [{"key": ".", "valueString": ""}]}),
        ("", DELETE, {"contents": []}),
        ("/", [1], {"contents": []}),
        ("", {"x": 1.5}, {"contents": [{"key": "x", "valueNumber": 1.5}]}),
    ],
)
def test_data_is_written_as_typed_contents(path: str, value: object, body: dict[str, Any]) -> None:
    message = UpdateDataModel(surface_id="s", path=path, value=value)
    assert to_v08([message]) == [{"dataModelUpdate": {"surfaceId": "s", **body}}]


def test_begin_rendering_comes_before_all_of_its_surface() -> None:
    create = CreateSurface(surface_id="s", theme={"title": "no", "font": "Inter"})
    filled = UpdateComponents(surface_id="s", components=(Component("root", "Divider"),))
    written = to_v08([create, CreateSurface(surface_id="t"), filled, DeleteSurface(surface_id="s")])
    assert [next(iter(message)) for message in written] == [
        "beginRendering",
        "beginRendering",
        "surfaceUpdate",
        "deleteSurface",
    ]
    assert written[0]["beginRendering"] == {"surfaceId": "s", "root": "root", "styles": {"font": "Inter"}}


def test_a_new_root_of_a_replaced_list_is_told() -> None:
    message = UpdateComponents(surface_id="s", components=(), replace=True, root="top")
    assert to_v08([message]) == [{"beginRendering": {"surfaceId": "s", "root": "top"}}]


def test_what_openclaws_nodes_were_recorded_to_receive_is_read() -> None:
    jsonl = (
        '{"surfaceUpdate": {"surfaceId": "main", "components": [{"id": "root", "component": '
        '{"Text": {"text": {"literalString": "hi"}}}}]}}\n{"beginRendering": {"surfaceId": "main", "root": "root"}}'
    )
    surface = one(jsonl)
    assert surface.components == {"root": Component("root", "Text", {"text": "hi"})}
    assert to_v08(snapshot(surface)) == [
        {"beginRendering": {"surfaceId": "main", "root": "root"}},
        {
            "surfaceUpdate": {
                "surfaceId": "main",
                "components": [{"id": "root", "component": {"Text": {"text": {"literalString": "hi"}}}}],
            }
        },
    ]


@pytest.mark.parametrize(
    ("named", "written"),
    [
        ("", None),
        ("https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json", None),
        ("https://a2ui.org/specification/v0_8/standard_catalog_definition.json", None),
        ("dragoman:dev/1", None),
        ("own:1", "own:1"),
    ],
)
def test_a_catalogue_is_named_where_it_is_somebodys_own(named: str, written: str | None) -> None:
    (begin,) = to_v08([CreateSurface(surface_id="s", catalog_id=named)])
    assert begin["beginRendering"].get("catalogId") == written


def test_a_surface_passes_from_each_dialect_to_each_other() -> None:
    surface = expected_surface("form")
    through = one(to_v09(snapshot(one(to_v08(snapshot(one(to_v09(snapshot(surface)))))))))
    assert through.components == surface.components
    assert through.data_model == surface.data_model
    assert played([v09("deleteSurface", surfaceId="f")], {"f": through}) == {}


@pytest.mark.parametrize("value", [{"path": "/v"}, {"call": "f"}, ["primary"], 7, None])
def test_a_button_of_no_variant_that_0_8_knows_is_written_without_one(value: object) -> None:
    update = UpdateComponents(surface_id="s", components=(Component("b", "Button", {"child": "t", "variant": value}),))
    (written,) = to_v08([update])
    assert written["surfaceUpdate"]["components"] == [{"id": "b", "component": {"Button": {"child": "t"}}}]


@pytest.mark.parametrize("code", ["a", "```\na", "~~~~\n```", "`````\n~~~~~~"])
def test_code_cannot_close_the_fence_around_it(code: str) -> None:
    update = UpdateComponents(surface_id="s", components=(Component("c", "CodeBlock", {"code": code}),))
    (written,) = to_v08([update])
    shown = written["surfaceUpdate"]["components"][0]["component"]["Text"]["text"]["literalString"]
    fence, *inside, end = shown.split("\n")
    assert fence == end
    assert set(fence) == {"`"}
    assert fence not in code
    assert "\n".join(inside) == code
