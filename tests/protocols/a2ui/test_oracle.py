"""The protocol's own library as a second opinion: what we write it accepts, and where it sets data, so do we."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.a2ui import snapshot, to_v09
from dragoman.protocols.a2ui.catalogue import BASIC
from dragoman.protocols.a2ui.messages import (
    AgentMessage,
)
from dragoman.protocols.a2ui.pointer import MISSING, PointerError, format_pointer, get, put
from tests.protocols.a2ui.strategies import json_values, messages
from tests.protocols.a2ui.vectors import SURFACES, expected_surface, vector

core = pytest.importorskip("a2ui.core", reason="needs the a2ui-core package")
schema = pytest.importorskip("a2ui.core.schema")
catalogue_v09 = pytest.importorskip("a2ui.core.basic_catalog.v0_9.components")


def accept(written: list[dict[str, Any]], version: Any) -> None:
    """Raises where one of their closed envelopes does not take a message of ours."""
    version.A2uiMessageListWrapper.model_validate({"messages": copy.deepcopy(written)})


@pytest.mark.parametrize("name", SURFACES)
def test_their_envelopes_take_what_we_write(name: str) -> None:
    accept(to_v09(snapshot(expected_surface(name))), schema.v0_9)


@pytest.mark.parametrize("name", SURFACES)
def test_their_envelopes_take_our_vectors(name: str) -> None:
    accept(vector(name)["dialects"]["0.8"], schema.v0_8)


@given(messages)
def test_their_envelopes_take_any_message_of_the_model(message: AgentMessage) -> None:
    accept(to_v09([message]), schema.v0_9)


@pytest.mark.parametrize("name", ["button", "form", "show"])
def test_their_catalogue_takes_the_components_we_write_as_0_9(name: str) -> None:
    written = to_v09(snapshot(expected_surface(name)))
    components = [it for message in written for it in message.get("updateComponents", {}).get("components", [])]
    assert components
    for component in components:
        flat = {key: value for key, value in component.items() if key != "weight"}
        getattr(catalogue_v09, f"{component['component']}Component").model_validate(flat)


def test_we_know_the_components_they_know() -> None:
    theirs = {name.removesuffix("Component") for name in vars(catalogue_v09) if name.endswith("Component")}
    assert BASIC.keys() == theirs - {"Any", ""}


@given(
    st.dictionaries(st.sampled_from("ab"), json_values),
    st.lists(st.sampled_from(["a", "b", "0", "1"]), min_size=1, max_size=4).map(tuple),
    json_values.filter(lambda value: value is not None),
)
def test_data_is_set_where_they_set_it(document: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    theirs = core.DataModel(copy.deepcopy(document))
    try:
        expected = theirs.set(format_pointer(path), value).get("/")
    except core.A2uiDataError:
        expected = MISSING
    assert _put(document, path, value) == expected


def _put(document: object, path: tuple[str, ...], value: object) -> Any:
    try:
        return put(document, path, value)
    except PointerError:
        return MISSING


@given(json_values, st.lists(st.sampled_from(["a", "b", "0", "1", "~", "x/y"]), max_size=4).map(tuple))
def test_data_is_found_where_they_find_it(document: object, path: tuple[str, ...]) -> None:
    found = get({"a": document}, ("a", *path))
    theirs = core.DataModel({"a": copy.deepcopy(document)}).get(format_pointer(("a", *path)))
    assert (None if found is MISSING else found) == theirs
