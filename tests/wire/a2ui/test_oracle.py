"""The protocol's own library as a second opinion: what we write it accepts, and where it sets data, so do we."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.protocols.a2ui import snapshot, to_v08, to_v09
from dragoman.protocols.a2ui.catalogue import BASIC
from dragoman.protocols.a2ui.markdown_fallback import OWN_TYPES, to_markdown
from dragoman.protocols.a2ui.messages import (
    AgentMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.pointer import MISSING, PointerError, format_pointer, get, put
from tests.wire.a2ui.strategies import json_values, messages
from tests.wire.a2ui.vectors import SURFACES, expected_surface, vector

core = pytest.importorskip("a2ui.core", reason="needs the a2ui-core package")
schema = pytest.importorskip("a2ui.core.schema")
catalogue_v08 = pytest.importorskip("a2ui.core.basic_catalog.v0_8.components")
catalogue_v09 = pytest.importorskip("a2ui.core.basic_catalog.v0_9.components")


ICONS: list[AgentMessage] = [
    CreateSurface(surface_id="icons"),
    UpdateComponents(
        surface_id="icons",
        components=(
            Component("root", "Column", {"children": ["a", "b", "c"]}),
            Component("a", "Icon", {"name": "check"}),
            Component("b", "Icon", {"name": "skipNext"}),
            Component("c", "Icon", {"name": {"svgPath": "M0"}}),
        ),
    ),
]


def accept(written: list[dict[str, Any]], version: Any) -> None:
    """Raises where one of their closed envelopes does not take a message of ours."""
    version.A2uiMessageListWrapper.model_validate({"messages": copy.deepcopy(written)})


@pytest.mark.parametrize("name", SURFACES)
def test_their_envelopes_take_what_we_write(name: str) -> None:
    parts = snapshot(expected_surface(name))
    accept(to_v08(parts), schema.v0_8)
    accept(to_v09(parts), schema.v0_9)


@pytest.mark.parametrize("name", SURFACES)
def test_their_validator_takes_the_surfaces_we_write_as_0_8(name: str) -> None:
    """Strictly: an order in which a surface is made first, a catalogue that it knows, properties and icons it knows."""
    options = core.MessageProcessorOptions(validation_config=core.STRICT_VALIDATION)
    standard = pytest.importorskip("a2ui.core.basic_catalog.v0_8").BasicCatalog()
    processor = core.MessageProcessor([standard], options=options)
    written = to_v08([*_in_the_standard_catalogue(snapshot(expected_surface(name))), *ICONS])
    processor.process_messages(copy.deepcopy(written))
    behind = [*written[1:], written[0]]
    with pytest.raises(core.A2uiError):
        core.MessageProcessor([standard], options=options).process_messages(behind)


@pytest.mark.parametrize("name", sorted(OWN_COMPONENTS))
def test_their_validator_takes_components_of_our_own_as_0_8(name: str) -> None:
    """By their examples, and with every property bound that may be; written as they are it refuses them."""
    options = core.MessageProcessorOptions(validation_config=core.STRICT_VALIDATION)
    standard = pytest.importorskip("a2ui.core.basic_catalog.v0_8").BasicCatalog()
    bound = {"title": {"path": "/t"}, "rows": {"path": "/r"}, "text": {"path": "/t"}, "message": {"path": "/m"}}
    for more in ({}, {"title": "Look", "weight": 1}, bound):
        parts = (
            Component("root", "Column", {"children": ["own"]}),
            Component("own", name, {**OWN_COMPONENTS[name].example, **more}),
        )
        made = UpdateComponents(surface_id="s", components=parts)
        written = to_v08([CreateSurface(surface_id="s", root="root"), made])
        core.MessageProcessor([standard], options=options).process_messages(copy.deepcopy(written))
        update = next(it["surfaceUpdate"] for it in written if "surfaceUpdate" in it)
        assert list(update["components"][1]["component"]) == ["Text"]
        update["components"][1]["component"] = {name: OWN_COMPONENTS[name].example}
        with pytest.raises(core.A2uiError):
            core.MessageProcessor([standard], options=options).process_messages(written)


def test_what_our_own_components_say_is_in_their_text() -> None:
    table = {
        "columns": [{"key": "n"}, {"key": "ms", "title": "Time"}],
        "rows": [{"n": "a|b", "ms": 3}],
        "caption": "Tests",
    }
    assert (
        to_markdown(Component("t", "Table", table)).properties["text"]
        == "**Tests**\n\n| n | Time |\n| --- | --- |\n| a/b | 3 |"
    )
    change = {"path": "app.py", "original": "a = 1\nb\n", "modified": "a = 2\nb\n"}
    assert "-a = 1\n+a = 2\n b" in to_markdown(Component("d", "Diff", change)).properties["text"]
    shown = to_markdown(Component("o", "Terminal", {"text": "\x1b[32mok\x1b[0m ```"})).properties["text"]
    assert shown == "````\nok ```\n````"
    tree = {"variables": [{"name": "o", "value": "O()", "children": [{"name": "t", "value": "0"}]}]}
    assert to_markdown(Component("v", "VariableTree", tree)).properties["text"] == "- `o`: O()\n  - `t`: 0"
    assert frozenset(OWN_COMPONENTS) == OWN_TYPES


def _in_the_standard_catalogue(parts: Iterable[AgentMessage]) -> list[AgentMessage]:
    own = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
    return [msgspec.structs.replace(it, catalog_id=own) if isinstance(it, CreateSurface) else it for it in parts]


@pytest.mark.parametrize("name", SURFACES)
def test_their_envelopes_take_our_vectors(name: str) -> None:
    accept(vector(name)["dialects"]["0.8"], schema.v0_8)


@given(messages)
def test_their_envelopes_take_any_message_of_the_model(message: AgentMessage) -> None:
    accept(to_v09([message]), schema.v0_9)
    # Maps inside maps are written as the reference renderer reads them; the schema of 0.8 allows one level.
    if not isinstance(message, (UpdateDataModel, DeleteSurface)):
        accept(to_v08([message]), schema.v0_8)


@pytest.mark.parametrize("name", ["button", "form", "show"])
def test_their_catalogue_takes_the_components_we_write_as_0_9(name: str) -> None:
    written = to_v09(snapshot(expected_surface(name)))
    components = [it for message in written for it in message.get("updateComponents", {}).get("components", [])]
    assert components
    for component in components:
        flat = {key: value for key, value in component.items() if key != "weight"}
        getattr(catalogue_v09, f"{component['component']}Component").model_validate(flat)


@pytest.mark.parametrize("name", ["button", "form", "show"])
def test_their_catalogue_takes_the_components_we_write_as_0_8(name: str) -> None:
    written = to_v08(snapshot(expected_surface(name)))
    components = [it for message in written for it in message.get("surfaceUpdate", {}).get("components", [])]
    assert components
    for component in components:
        ((kind, properties),) = component["component"].items()
        getattr(catalogue_v08, f"{kind}Component").model_validate(
            {"id": component["id"], "component": kind, **properties}
        )


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
