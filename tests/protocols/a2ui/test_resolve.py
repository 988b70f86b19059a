"""The tree that is drawn: bindings, templates, what is missing, what is too much, and what a click says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    Action,
    RenderNode,
    Surface,
    UpdateDataModel,
    action_of,
    apply,
    resolve,
)
from dragoman.protocols.a2ui.messages import AgentMessage
from tests.protocols.a2ui.strategies import json_values, messages
from tests.protocols.a2ui.vectors import after, expected_surface, one, surface_of, text, v09, v10

NOW = "2026-01-02T03:04:05Z"


def tree(surface: Surface, limits: A2uiLimits | None = None) -> RenderNode:
    node = resolve(surface, limits or A2uiLimits())
    assert node is not None
    return node


def walk(node: RenderNode) -> Iterator[RenderNode]:
    yield node
    for child in node.children:
        yield from walk(child)


def shown(surface: Surface) -> list[str]:
    return [node.properties["text"] for node in walk(tree(surface)) if node.type == "Text"]


def column(name: str, *children: str) -> dict[str, Any]:
    return {"id": name, "component": "Column", "children": list(children)}


def repeat(name: str, child: str, path: str) -> dict[str, Any]:
    return {"id": name, "component": "List", "children": {"componentId": child, "path": path}}


PEOPLE = {"company": "Acme", "people": [{"name": "Ada", "n": 1}, {"name": "Kurt", "n": None}]}


def test_children_are_in_their_places_under_the_property_that_names_them() -> None:
    node = tree(expected_surface("show"))
    assert [(child.component_id, child.slot) for child in node.children] == [
        ("media", "tabs/0/child"),
        ("people", "tabs/1/child"),
    ]
    modal = next(each for each in walk(node) if each.type == "Modal")
    assert [(child.component_id, child.slot) for child in modal.children] == [("icon", "trigger"), ("img", "content")]


def test_a_template_gives_one_copy_for_each_item_with_the_item_as_scope() -> None:
    surface = surface_of(
        repeat("root", "row", "/people"),
        {"id": "row", "component": "Row", "children": ["who", "where"]},
        text("who", {"path": "name"}),
        text("where", {"path": "/company"}),
        data=PEOPLE,
    )
    node = tree(surface)
    assert [(child.id, child.scope) for child in node.children] == [
        ("row@/people/0", "/people/0"),
        ("row@/people/1", "/people/1"),
    ]
    assert shown(surface) == ["Ada", "Acme", "Kurt", "Acme"]


def test_templates_inside_templates_are_relative_to_the_inner_item() -> None:
    data = {"teams": [{"members": [{"n": "a"}, {"n": "b"}]}, {"members": [{"n": "c"}]}]}
    surface = surface_of(
        repeat("root", "team", "/teams"), repeat("team", "one", "members"), text("one", {"path": "n"}), data=data
    )
    assert shown(surface) == ["a", "b", "c"]
    assert [node.scope for node in walk(tree(surface)) if node.type == "Text"] == [
        "/teams/0/members/0",
        "/teams/0/members/1",
        "/teams/1/members/0",
    ]


def test_a_list_of_plain_values_is_bound_to_the_item_itself() -> None:
    assert shown(surface_of(repeat("root", "t", "/l"), text("t", {"path": "."}), data={"l": ["a", 2]})) == ["a", "2"]


def test_a_template_goes_over_an_object_as_over_the_list_of_its_values() -> None:
    data = {"m": {"x/y": {"n": "first"}, "b": {"n": "second"}}}
    surface = surface_of(repeat("root", "t", "/m"), text("t", {"path": "n"}), data=data)
    assert shown(surface) == ["first", "second"]
    assert tree(surface).children[0].scope == "/m/x~1y"


@pytest.mark.parametrize("items", [None, "text", 7, []])
def test_a_template_over_nothing_has_no_copies(items: object) -> None:
    assert tree(surface_of(repeat("root", "t", "/l"), text("t"), data={"l": items})).children == ()


def test_a_tree_of_data_is_drawn_by_one_component_that_names_itself() -> None:
    row = {"id": "row", "component": "Column", "children": {"componentId": "row", "path": "inside"}}
    data: dict[str, Any] = {"files": [{"inside": [{"inside": []}, {}]}, {}]}
    surface = surface_of(repeat("root", "row", "/files"), row, data=data)
    assert [node.scope for node in walk(tree(surface)) if node.component_id == "row"] == [
        "/files/0",
        "/files/0/inside/0",
        "/files/0/inside/1",
        "/files/1",
    ]


def test_bindings_are_read_with_their_places() -> None:
    field = {"id": "root", "component": "TextField", "label": "Name", "value": {"path": "/form/name"}}
    node = tree(surface_of(field, data={"form": {"name": "Ada"}}))
    assert node.properties == {"label": "Name", "value": "Ada"}
    assert node.bindings == {"value": "/form/name"}


@pytest.mark.parametrize(
    ("value", "seen"), [(None, ""), (True, "true"), (2.0, "2"), ({"a": [1]}, '{"a":[1]}'), ("x", "x")]
)
def test_bound_texts_are_texts_whatever_the_data_is(value: object, seen: str) -> None:
    assert shown(surface_of(text("root", {"path": "/v"}), data={"v": value})) == [seen]


def test_what_is_not_there_yet_is_empty() -> None:
    components = [
        column("root", "t", "c", "p", "s", "later"),
        text("t", {"path": "/no"}),
        {"id": "c", "component": "CheckBox", "label": {"path": "/no"}, "value": {"path": "/no"}},
        {"id": "p", "component": "ChoicePicker", "options": [], "value": {"path": "/no"}},
        {"id": "s", "component": "Slider", "max": 9, "value": {"path": "/no"}},
    ]
    found = {node.component_id: node for node in walk(tree(surface_of(*components)))}
    assert found["t"].properties == {"text": ""}
    assert found["c"].properties == {"label": "", "value": False}
    assert found["p"].properties["value"] == []
    assert found["s"].properties["value"] is None
    assert (found["later"].state, found["later"].type) == ("pending", "")


@pytest.mark.parametrize("path", ["/~2", "~", "/" + "a" * 5000])
def test_a_path_that_cannot_be_read_is_empty_and_no_error(path: str) -> None:
    assert shown(surface_of(text("root", {"path": path}), data={"a": 1})) == [""]
    assert tree(surface_of(repeat("root", "t", path), text("t"))).children == ()


def test_titles_of_tabs_and_labels_of_options_are_read_too() -> None:
    tabs = {"id": "root", "component": "Tabs", "tabs": [{"title": {"path": "/n"}, "child": "p"}]}
    picker = {"id": "p", "component": "ChoicePicker", "options": [{"label": {"path": "/n"}, "value": "v"}], "value": []}
    node = tree(surface_of(tabs, picker, data={"n": 5}))
    assert node.properties["tabs"] == [{"title": "5", "child": "p"}]
    assert node.children[0].properties["options"] == [{"label": "5", "value": "v"}]


def test_calls_stay_for_the_renderer_with_their_arguments_read() -> None:
    call = {"call": "formatDate", "args": {"value": {"path": "/at"}, "format": "yyyy"}}
    node = tree(surface_of(text("root", call), data={"at": "2026"}))
    assert node.properties["text"] == {"call": "formatDate", "args": {"value": "2026", "format": "yyyy"}}


def test_the_index_of_1_0_is_the_number_of_the_item() -> None:
    number = {"id": "t", "component": "Text", "text": {"@call": "@index", "args": {"offset": 1}}}
    bare = {"id": "root", "component": "List", "children": {"componentId": "t", "path": "/l"}}
    create = v10("createSurface", surfaceId="s", components=[bare, number], dataModel={"l": ["a", "b"]})
    assert shown(one([create])) == ["1", "2"]


def test_actions_and_checks_wait_for_the_user() -> None:
    action = {"event": {"name": "go", "context": {"v": {"path": "/v"}}}}
    checks = [{"condition": {"path": "/ok"}, "message": "no"}]
    button = {"id": "root", "component": "Button", "child": "t", "action": action, "checks": checks}
    properties = tree(surface_of(button, data={"v": 1, "ok": True})).properties
    assert (properties["action"], properties["checks"]) == (action, checks)


def test_components_of_other_catalogues_are_followed_and_read() -> None:
    own = {"id": "root", "component": "Panel", "child": "a", "children": ["b"], "note": {"path": "/n"}, "x": None}
    node = tree(surface_of(own, text("a"), text("b"), data={"n": [1]}))
    assert node.properties == {"child": "a", "children": ["b"], "note": [1], "x": None}
    assert [(child.component_id, child.slot) for child in node.children] == [("a", "child"), ("b", "children")]


def test_before_there_is_a_root_there_is_no_tree() -> None:
    assert resolve(one({"dataModelUpdate": {"surfaceId": "s", "contents": []}})) is None
    assert tree(one(v09("createSurface", surfaceId="s"))).state == "pending"


# Bounds


@pytest.mark.parametrize(("items", "cut"), [(3, 0), (4, 0), (5, 1), (500, 1)])
def test_a_tree_has_only_so_many_nodes_and_the_cut_is_marked_once(items: int, cut: int) -> None:
    surface = surface_of(repeat("root", "t", "/l"), text("t"), data={"l": [0] * items})
    states = [node.state for node in walk(tree(surface, A2uiLimits(nodes=5)))]
    assert states.count("ready") == min(items, 4) + 1
    assert states.count("cut") == cut


def test_templates_inside_templates_cannot_explode() -> None:
    names = [f"l{depth}" for depth in range(8)]
    lists = [repeat(name, below, "/l") for name, below in zip(["root", *names], [*names, "t"], strict=True)]
    surface = surface_of(*lists, text("t"), data={"l": [0] * 100})
    states = [node.state for node in walk(tree(surface, A2uiLimits(nodes=1000)))]
    assert states.count("ready") == 1000
    assert states.count("cut") <= 10


def test_data_deeper_than_the_tree_may_be_is_cut() -> None:
    row = {"id": "root", "component": "Column", "children": {"componentId": "root", "path": "i"}}
    data: Any = {"i": []}
    for _ in range(20):
        data = {"i": [data]}
    states = [node.state for node in walk(tree(surface_of(row, data=data), A2uiLimits(tree_depth=5)))]
    assert states == ["ready"] * 6 + ["cut"]


@pytest.mark.parametrize("bound", [{"path": "/"}, {"path": "/blob"}, {"call": "f", "args": {"x": {"path": "/blob"}}}])
def test_a_large_value_bound_in_every_copy_of_a_template_is_shown_only_so_often(bound: object) -> None:
    data = {"l": [0] * 1_000, "blob": "x" * 5_000}
    surface = surface_of(repeat("root", "t", "/l"), text("t", bound), data=data)
    node = tree(surface, A2uiLimits(tree_bytes=100_000))
    assert len(msgspec.json.encode(node)) < 200_000
    assert [child.state for child in node.children].count("ready") > 5
    assert node.children[-1].state == "cut"


def test_a_large_component_is_copied_only_so_often() -> None:
    own = {"id": "own", "component": "Own", "rows": [0] * 5_000}
    surface = surface_of(repeat("root", "own", "/l"), own, data={"l": [0] * 1_000})
    states = [node.state for node in walk(tree(surface, A2uiLimits(tree_bytes=100_000)))]
    assert 5 < len(states) < 15
    assert states[-1] == "cut"


def test_many_labels_bound_to_one_large_value_are_shown_only_so_often() -> None:
    options = [{"label": {"path": "/blob"}, "value": str(number)} for number in range(1_000)]
    picker = {"id": "root", "component": "ChoicePicker", "options": options}
    node = tree(surface_of(picker, data={"blob": ["x" * 10_000]}), A2uiLimits(tree_bytes=100_000))
    assert (node.state, node.properties) == ("cut", {})


@pytest.mark.parametrize("child", ["t", "not yet sent"])
def test_the_long_name_of_an_item_is_repeated_only_so_often(child: str) -> None:
    row = {"id": "row", "component": "Row", "children": [child] * 1_000}
    surface = surface_of(repeat("root", "row", "/l"), row, text("t"), data={"l": {"k" * 10_000: 0}})
    assert len(msgspec.json.encode(tree(surface, A2uiLimits(tree_bytes=100_000)))) < 200_000


def test_many_bindings_below_an_item_of_a_long_name_are_reported_only_so_often() -> None:
    own = {"id": "own", "component": "Own", **{f"p{number}": {"path": "x"} for number in range(1_000)}}
    surface = surface_of(repeat("root", "own", "/l"), own, data={"l": {"k" * 10_000: 0}})
    assert len(msgspec.json.encode(tree(surface, A2uiLimits(tree_bytes=100_000)))) < 200_000


def test_a_click_carries_only_so_much() -> None:
    event = {"name": "go", "context": {str(number): {"path": "/blob"} for number in range(100)}}
    button = {"id": "root", "component": "Button", "child": "t", "action": {"event": event}}
    surface = surface_of(button, data={"blob": "x" * 10_000})
    content = action_of(surface, "root", timestamp=NOW, limits=A2uiLimits(tree_bytes=100_000)).context
    assert 5 < sum(value is not None for value in content.values()) < 15


# Actions


def test_a_click_says_what_it_means_with_the_data_of_the_moment() -> None:
    surface = expected_surface("form")
    changed = apply({"f": surface}, UpdateDataModel(surface_id="f", path="/form/name", value="Kurt"))["f"]
    assert action_of(changed, "go", timestamp=NOW) == Action(
        name="submit",
        surface_id="f",
        source_component_id="go",
        timestamp=NOW,
        context={"name": "Kurt", "kind": "new", "n": 3, "dry": False},
    )


def test_a_click_inside_a_template_is_about_its_item() -> None:
    event = {
        "name": "pick",
        "context": {"who": {"path": "name"}, "nth": {"call": "@index"}, "gone": {"path": "no"}},
        "userMessage": {"path": "name"},
    }
    button = {"id": "b", "component": "Button", "child": "t", "action": {"event": event}}
    surface = surface_of(repeat("root", "b", "/people"), button, text("t"), data=PEOPLE)
    action = action_of(surface, "b", scope="/people/1", timestamp=NOW)
    assert action.context == {"who": "Kurt", "nth": 1, "gone": None}
    assert action.user_message == "Kurt"


@pytest.mark.parametrize("component", ["root", "nobody", "local"])
def test_a_click_on_what_has_no_action_is_refused(component: str) -> None:
    local = {"id": "local", "component": "Button", "child": "t", "action": {"functionCall": {"call": "openUrl"}}}
    with pytest.raises(A2uiError) as caught:
        action_of(surface_of(column("root", "local"), local), component, timestamp=NOW)
    assert caught.value.code == "no_action"


def test_a_click_at_a_place_that_is_not_a_pointer_is_refused() -> None:
    with pytest.raises(A2uiError) as caught:
        action_of(expected_surface("form"), "go", scope="people/0", timestamp=NOW)
    assert caught.value.code == "invalid_pointer"


# Laws


@given(st.lists(messages, max_size=8), json_values)
@settings(max_examples=150)
def test_a_surface_that_was_accepted_can_always_be_drawn(all_messages: list[AgentMessage], data: object) -> None:
    for surface in after(all_messages).values():
        filled = apply({surface.id: surface}, UpdateDataModel(surface_id=surface.id, value={"items": data}))
        assert resolve(surface) == resolve(surface)
        assert resolve(filled[surface.id]) == resolve(filled[surface.id])
