"""A2UI 0.9 as it is written: golden outputs and round trips."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.a2ui import (
    DELETE,
    Component,
    CreateSurface,
    FunctionMessage,
    UpdateComponents,
    UpdateDataModel,
    read,
    resolve,
    snapshot,
    to_v09,
)
from dragoman.protocols.a2ui.messages import AgentMessage
from tests.protocols.a2ui.strategies import messages
from tests.protocols.a2ui.vectors import SURFACES, after, expected_surface, one, played, same, v09, vector


@pytest.mark.parametrize("name", SURFACES)
def test_the_golden_outputs(name: str) -> None:
    assert to_v09(snapshot(expected_surface(name))) == vector(name)["written"]["0.9"]


@pytest.mark.parametrize("name", ["button", "form", "show"])
def test_what_was_written_is_read_as_the_same_surface(name: str) -> None:
    surface = one(to_v09(snapshot(expected_surface(name))))
    assert {**surface.components} == expected_surface(name).components
    assert (surface.data_model, surface.root) == (expected_surface(name).data_model, expected_surface(name).root)


def back(written: list[dict[str, Any]]) -> list[AgentMessage]:
    return [incoming.message for incoming in read(written)]


@given(messages)
def test_a_message_survives_0_9(message: AgentMessage) -> None:
    assert back(to_v09([message])) == [message]


@given(st.lists(messages, max_size=6))
def test_surfaces_survive_0_9(all_messages: list[AgentMessage]) -> None:
    for surface in after(all_messages).values():
        assert same(one(to_v09(snapshot(surface))), surface)


def test_a_root_of_another_name_gets_a_column_called_root() -> None:
    create = CreateSurface(surface_id="s", root="main", existing="keep")
    filled = UpdateComponents(surface_id="s", components=(Component("main", "Text", {"text": "hi"}),), implicit=True)
    surface = one(to_v09([create, filled]))
    assert surface.root == "root"
    node = resolve(surface)
    assert node is not None
    assert [child.component_id for child in node.children] == ["main"]


def test_a_replaced_list_is_an_update_that_reaches_only_the_new_root() -> None:
    old = vector("analysis")["dialects"]["flat-list"][0]
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


def test_function_messages_pass_through_0_9() -> None:
    message = FunctionMessage(key="callFunction", call_id="1", body={"functionCallId": "1"})
    assert to_v09([message]) == [{"version": "v0.9", "callFunction": {"functionCallId": "1"}}]


def test_what_openclaws_nodes_were_recorded_to_receive_is_read() -> None:
    jsonl = (
        '{"surfaceUpdate": {"surfaceId": "main", "components": [{"id": "root", "component": '
        '{"Text": {"text": {"literalString": "hi"}}}}]}}\n{"beginRendering": {"surfaceId": "main", "root": "root"}}'
    )
    surface = one(jsonl)
    assert surface.components == {"root": Component("root", "Text", {"text": "hi"})}


def test_a_surface_that_is_written_twice_stays_the_same() -> None:
    surface = expected_surface("form")
    through = one(to_v09(snapshot(one(to_v09(snapshot(surface))))))
    assert through.components == surface.components
    assert through.data_model == surface.data_model
    assert played([v09("deleteSurface", surfaceId="f")], {"f": through}) == {}
