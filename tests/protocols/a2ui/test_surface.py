"""Surfaces: what messages make of them, their bounds, and that nothing changes in place."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    Component,
    CreateSurface,
    DeleteSurface,
    Surface,
    Surfaces,
    UpdateComponents,
    UpdateDataModel,
    apply,
    for_viewer,
    read,
    snapshot,
    to_v09,
)
from dragoman.protocols.a2ui.messages import ROOT, AgentMessage
from dragoman.protocols.a2ui.values import size_of
from tests.protocols.a2ui.strategies import messages, v08_messages
from tests.protocols.a2ui.vectors import SURFACES, after, expected_surface, one, played, surface_of, text, v09, vector

CREATE = v09("createSurface", surfaceId="s")


def card(name: str, child: str) -> dict[str, Any]:
    return {"id": name, "component": "Card", "child": child}


def update(*components: dict[str, Any]) -> dict[str, Any]:
    return v09("updateComponents", surfaceId="s", components=list(components))


def data(value: object, path: str = "") -> dict[str, Any]:
    return v09("updateDataModel", surfaceId="s", path=path, value=value)


def refused(document: object, limits: A2uiLimits, before: Surfaces | None = None) -> tuple[str, str]:
    with pytest.raises(A2uiError) as caught:
        played(document, before, limits)
    return caught.value.code, caught.value.pointer


def test_components_are_exchanged_by_id_and_keep_their_place() -> None:
    surface = one([CREATE, update(text("a", "1"), text("b", "2")), update(text("c", "3"), text("a", "4"))])
    assert [(name, each.properties["text"]) for name, each in surface.components.items()] == [
        ("a", "4"),
        ("b", "2"),
        ("c", "3"),
    ]


def test_a_surface_is_deleted_with_all_it_had_and_can_be_made_again() -> None:
    surfaces = played([CREATE, update(text("root")), v09("deleteSurface", surfaceId="s")])
    assert surfaces == {}
    assert played(CREATE, surfaces)["s"].components == {}


def test_data_is_set_below_what_is_there_and_deleted_from_it() -> None:
    surface = one([CREATE, data({"a": {"b": 1}}), data(2, "/a/c"), v09("updateDataModel", surfaceId="s", path="/a/b")])
    assert surface.data_model == {"a": {"c": 2}}


@pytest.mark.parametrize("path", ["", "/"])
def test_without_a_path_the_whole_model_is_replaced_or_emptied(path: str) -> None:
    assert one([CREATE, data({"a": 1}), data([1, 2], path)]).data_model == [1, 2]
    assert one([CREATE, data({"a": 1}), v09("updateDataModel", surfaceId="s", path=path)]).data_model == {}


def test_other_surfaces_are_untouched_and_shared() -> None:
    before = played([CREATE, v09("createSurface", surfaceId="t")])
    after = played(data({"a": 1}), before)
    assert after["t"] is before["t"]
    assert before["s"].data_model == {}


def test_children_that_have_not_come_yet_are_not_an_error() -> None:
    assert one([CREATE, update(card("root", "later"))]).components["root"].properties == {"child": "later"}


def test_the_theme_and_the_request_for_the_data_model_are_kept() -> None:
    create = v09("createSurface", surfaceId="s", catalogId="c", theme={"title": "T", "x": 1}, sendDataModel=True)
    surface = one(create)
    assert (surface.catalog_id, surface.send_data_model) == ("c", True)
    assert (surface.theme, surface.title) == ({"title": "T", "x": 1}, "T")


def test_a_title_that_is_not_text_is_not_a_title() -> None:
    assert one(v09("createSurface", surfaceId="s", theme={"title": 5})).title == ""
    assert CreateSurface(surface_id="s", theme={"title": []}).title == ""


# Circles and depth


def test_a_diamond_is_not_a_circle() -> None:
    top = {"id": "root", "component": "Row", "children": ["a", "b"]}
    assert len(surface_of(top, card("a", "c"), card("b", "c"), text("c")).components) == 4


def test_a_circle_is_named_by_its_members_and_leaves_the_surface_as_it_was() -> None:
    before = {"s": surface_of(card("root", "a"), card("a", "b"))}
    with pytest.raises(A2uiError, match="b → root → a → b"):
        played(update(card("b", "root")), before)
    assert "b" not in before["s"].components


def test_a_circle_away_from_the_root_is_found_too() -> None:
    assert (
        refused([CREATE, update(text("root"), card("x", "y"), card("y", "x"))], A2uiLimits())[0] == "circular_reference"
    )


@pytest.mark.parametrize("path", ["/items", "", "."])
def test_a_template_that_starts_again_inside_itself_is_a_circle(path: str) -> None:
    again = {"id": "root", "component": "List", "children": {"componentId": "root", "path": path}}
    assert refused([CREATE, update(again)], A2uiLimits())[0] == "circular_reference"


def test_a_template_over_a_part_of_its_own_item_goes_down_the_data_and_ends() -> None:
    tree = {"id": "root", "component": "Column", "children": {"componentId": "root", "path": "inside"}}
    assert surface_of(tree).components["root"].properties["children"]["path"] == "inside"


def test_tabs_and_modals_are_part_of_the_graph() -> None:
    tabs = {"id": "root", "component": "Tabs", "tabs": [{"title": "T", "child": "m"}]}
    modal = {"id": "m", "component": "Modal", "trigger": "t", "content": "root"}
    assert refused([CREATE, update(tabs, modal)], A2uiLimits())[0] == "circular_reference"


def chain(length: int, start: int = 0) -> list[dict[str, Any]]:
    return [card(f"c{index}", f"c{index + 1}") for index in range(start, start + length - 1)] + [
        text(f"c{start + length - 1}")
    ]


@pytest.mark.parametrize(("length", "fits"), [(4, True), (5, True), (6, False)])
def test_components_are_nested_only_so_deep(length: int, fits: bool) -> None:
    limits = A2uiLimits(tree_depth=5)
    if fits:
        assert len(one([CREATE, update(*chain(length))], limits).components) == length
    else:
        assert refused([CREATE, update(*chain(length))], limits) == ("too_deep", "/1/updateComponents/components/0")


def test_a_tall_part_hung_below_a_deep_one_is_too_deep() -> None:
    limits = A2uiLimits(tree_depth=5)
    before = played([CREATE, update(*chain(3))], limits=limits)
    hung = [card("c2", "c3"), *chain(3, start=3)]
    assert refused(update(*hung), limits, before) == ("too_deep", "/updateComponents/components/0")


def test_a_very_long_chain_is_refused_without_recursion() -> None:
    limits = A2uiLimits(components=10_000)
    assert refused([CREATE, update(*chain(5_000))], limits)[0] == "too_deep"


# Bounds: one below, at, and one above.


@pytest.mark.parametrize(("count", "fits"), [(2, True), (3, True), (4, False)])
def test_a_surface_has_only_so_many_components(count: int, fits: bool) -> None:
    limits = A2uiLimits(components=3)
    split = [CREATE, update(text("c0")), update(*(text(f"c{index}") for index in range(1, count)))]
    if fits:
        assert len(one(split, limits).components) == count
    else:
        assert refused(split, limits) == ("too_many_components", "/2/updateComponents/components/2")


@pytest.mark.parametrize(("count", "fits"), [(2, True), (3, True), (4, False)])
def test_a_surface_names_only_so_many_children(count: int, fits: bool) -> None:
    limits = A2uiLimits(children=4)
    rows = [{"id": "b", "component": "Row", "children": ["x"] * (count - 1)}, text("t")]
    push = [CREATE, update(card("a", "x")), update(text("x"), *rows), update(text("x", "y"))]
    if fits:
        assert set(one([*push, update(card("c", "x"))], limits).components) == {"a", "b", "c", "t", "x"}
    else:
        assert refused([*push, update(card("c", "x"))], limits) == (
            "too_many_children",
            "/4/updateComponents/components/0",
        )


@pytest.mark.parametrize(("count", "fits"), [(1, True), (2, True), (3, False)])
def test_there_are_only_so_many_surfaces(count: int, fits: bool) -> None:
    limits = A2uiLimits(surfaces=2)
    push = [v09("createSurface", surfaceId=f"s{index}") for index in range(count)]
    if fits:
        assert len(played(push, limits=limits)) == count
    else:
        assert refused(push, limits) == ("too_many_surfaces", "/2/createSurface/surfaceId")


def test_surfaces_that_come_into_being_without_being_created_are_counted_too() -> None:
    limits = A2uiLimits(surfaces=1)
    old: list[dict[str, Any]] = [{"dataModelUpdate": {"surfaceId": name, "contents": []}} for name in ("a", "b")]
    assert refused(old, limits) == ("too_many_surfaces", "/1/dataModelUpdate/surfaceId")


@pytest.mark.parametrize(("extra", "fits"), [(-1, True), (0, True), (1, False)])
def test_a_data_model_has_only_so_many_bytes(extra: int, fits: bool) -> None:
    whole = {"a": "x" * 20, "b": 1}
    limits = A2uiLimits(data_model_bytes=size_of(whole) - extra)
    push = [CREATE, data({"a": "x" * 20}), data(1, "/b")]
    if fits:
        assert one(push, limits).data_model == whole
    else:
        assert refused(push, limits) == ("data_model_too_large", "/2/updateDataModel/value")


@pytest.mark.parametrize(("extra", "fits"), [(-1, True), (0, True), (1, False)])
def test_the_components_of_a_surface_have_only_so_many_bytes(extra: int, fits: bool) -> None:
    parts = [Component("a", "Text", {"text": "new"}), Component("b", "Text", {"text": "x" * 20})]
    limits = A2uiLimits(component_bytes=sum(map(size_of, parts)) - extra)
    push = [CREATE, update(text("a", "old")), update(text("a", "new"), text("b", "x" * 20))]
    if fits:
        assert one(push, limits).component_bytes == sum(map(size_of, parts))
    else:
        assert refused(push, limits) == ("surface_too_large", "/2/updateComponents/components/1")


@pytest.mark.parametrize(("steps", "fits"), [(4, True), (5, True), (6, False)])
def test_a_data_model_is_nested_only_so_deep_however_it_is_built(steps: int, fits: bool) -> None:
    limits = A2uiLimits(json_depth=6)
    push = [CREATE, data([], "/" + "/".join("a" * steps))]
    if fits:
        assert one(push, limits).id == "s"
    else:
        assert refused(push, limits) == ("too_deep", "/1/updateDataModel/value")
    assert refused([CREATE, data(1, "/a" * 7)], limits) == ("too_deep", "/1/updateDataModel/path")


def test_replacing_all_components_starts_the_count_of_bytes_again() -> None:
    first = vector("analysis")["dialects"]["flat-list"][0]
    small = {"type": "updateComponents", "surfaceId": "s1", "components": []}
    surface = one([first, small])
    assert surface.component_bytes == sum(size_of(component) for component in surface.components.values())


# Laws


@given(st.lists(messages, max_size=8))
def test_the_same_messages_make_the_same_surfaces(all_messages: list[AgentMessage]) -> None:
    given_ones = copy.deepcopy(all_messages)
    assert after(all_messages) == after(given_ones)
    assert all_messages == given_ones


@given(st.lists(messages, max_size=8), messages)
def test_applying_changes_nothing_that_was_there_before(before: list[AgentMessage], message: AgentMessage) -> None:
    surfaces = after(before)
    kept = copy.deepcopy(surfaces)
    with contextlib.suppress(A2uiError):
        apply(surfaces, message)
    assert surfaces == kept


@given(st.lists(messages, max_size=8))
def test_a_snapshot_makes_the_surface_again(all_messages: list[AgentMessage]) -> None:
    for surface in after(all_messages).values():
        assert after(snapshot(surface)) == {surface.id: surface}


@given(st.lists(messages, max_size=8))
def test_the_count_of_bytes_is_always_what_the_components_have(all_messages: list[AgentMessage]) -> None:
    for surface in after(all_messages).values():
        assert surface.component_bytes == sum(size_of(component) for component in surface.components.values())


def test_a_surface_that_is_not_shown_yet_has_a_snapshot_too() -> None:
    surface = one({"surfaceUpdate": {"surfaceId": "s", "components": [{"id": "a", "component": {"Text": {}}}]}})
    parts = snapshot(surface)
    assert [type(part) for part in parts] == [CreateSurface, UpdateComponents]
    assert after(parts) == {"s": surface}


@pytest.mark.parametrize("name", SURFACES)
def test_the_order_of_data_and_components_does_not_matter(name: str) -> None:
    push = vector(name)["dialects"]["0.9"]
    assert one(push).data_model == one([push[0], *reversed(push[1:])]).data_model == expected_surface(name).data_model


def test_a_surface_knows_nothing_of_the_dialect_it_came_in() -> None:
    assert {type(incoming.message) for incoming in read(vector("form")["dialects"]["0.8"])} <= {
        CreateSurface,
        UpdateComponents,
        UpdateDataModel,
    }
    assert Surface(id="s").data_model == {}


# What a viewer is told


def viewed(all_messages: list[AgentMessage]) -> tuple[Surfaces, Surfaces]:
    """The surfaces, and the ones of a viewer who reads 0.9 strictly."""
    ours: Surfaces = {}
    theirs: Surfaces = {}
    for message in all_messages:
        try:
            applied = apply(ours, message)
        except A2uiError:
            continue
        theirs = played(to_v09(for_viewer(ours, message)), theirs)
        ours = applied
    return ours, theirs


def seen_by(surface: Surface) -> object:
    return surface.id, surface.theme, surface.components, surface.data_model


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("dialect", ["flat-list", "0.8", "0.9", "1.0"])
def test_a_viewer_of_0_9_sees_what_came_in_any_dialect(name: str, dialect: str) -> None:
    push = vector(name)["dialects"].get(dialect, vector(name)["dialects"]["0.9"])
    ours, theirs = viewed([incoming.message for incoming in read(push)])
    assert [seen_by(surface) for surface in theirs.values()] == [seen_by(surface) for surface in ours.values()]


@given(st.lists(messages | v08_messages, max_size=10))
def test_a_viewer_is_never_sent_what_0_9_refuses(all_messages: list[AgentMessage]) -> None:
    assume(not _needs_two_roots(all_messages))
    ours, theirs = viewed(all_messages)
    assert ours.keys() == theirs.keys()
    for name, surface in ours.items():
        assert theirs[name].data_model == surface.data_model
        # A root of another name is put below one called root, which may hide a component of that name.
        assert {key: each for key, each in theirs[name].components.items() if key != ROOT} == {
            key: each for key, each in surface.components.items() if key != ROOT
        }


def _needs_two_roots(all_messages: list[AgentMessage]) -> bool:
    """A child called `root` below a root of another name: 0.9 has no words for that (see `to_v09`)."""
    elsewhere = any(getattr(message, "root", "") not in ("", ROOT) for message in all_messages)
    components = [each for it in all_messages if isinstance(it, UpdateComponents) for each in it.components]
    return elsewhere and any(f"'{ROOT}'" in repr(each.properties) for each in components)


def test_a_surface_that_is_shown_as_it_was_is_not_made_again() -> None:
    filled = {"surfaceUpdate": {"surfaceId": "s", "components": [{"id": "root", "component": {"Text": {}}}]}}
    before = played(filled)
    for root, theme in (("root", {}), ("root", {"font": "Inter"}), ("other", {})):
        begin = CreateSurface(surface_id="s", root=root, theme=theme, existing="keep")
        result = for_viewer(before, begin)
        assert bool(result) == ((root, theme) != ("root", {}))
        assert [type(each) for each in result[:2]] == [DeleteSurface, CreateSurface][: len(result)]
