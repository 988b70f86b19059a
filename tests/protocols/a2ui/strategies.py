"""Hypothesis: messages of the model, all of them and those that 0.8 can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dragoman.protocols.a2ui import Component, CreateSurface, DeleteSurface, UpdateComponents, UpdateDataModel
from dragoman.protocols.a2ui.messages import DELETE, AgentMessage

ids = st.sampled_from(["root", "a", "b", "c", "d", "x/y", "ü~1"])
surface_ids = st.sampled_from(["s", "t", "main"])
texts = st.text(st.characters(codec="utf-8"), max_size=12)
# Within what every JSON reader keeps: no number that a double cannot hold exactly.
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
tokens = st.lists(st.sampled_from(["a", "b", "0", "1", "2", "-", "", "a/b", "~", "x"]) | texts, max_size=4)

paths = st.sampled_from(["/a", "/a/b", "/items", "name", ".", "/x~1y", "/items/0"])
bindings = st.fixed_dictionaries({"path": paths})
calls = st.fixed_dictionaries({"call": st.just("formatString"), "args": st.fixed_dictionaries({"value": texts})})
names = st.text("abcdefgh", min_size=1, max_size=6).filter(lambda name: name not in ("id", "component"))

child_lists = st.lists(ids, max_size=3) | st.fixed_dictionaries({"componentId": ids, "path": paths})
actions = st.fixed_dictionaries(
    {"event": st.fixed_dictionaries({"name": texts}, optional={"context": st.dictionaries(names, texts | bindings)})}
)


def _component(kind: str, **properties: st.SearchStrategy[Any]) -> st.SearchStrategy[Component]:
    optional = st.fixed_dictionaries({}, optional=properties)
    return st.builds(Component, ids, st.just(kind), optional)


dynamic_texts = texts | bindings | calls
components = st.one_of(
    _component("Text", text=dynamic_texts, variant=st.sampled_from(["h1", "body"]), weight=numbers),
    _component("Column", children=child_lists, align=st.just("start")),
    _component("List", children=child_lists),
    _component("Card", child=ids, accessibility=st.just({"label": "card"})),
    _component("Tabs", tabs=st.lists(st.fixed_dictionaries({"title": dynamic_texts, "child": ids}), max_size=2)),
    _component("Button", child=ids, action=actions, variant=st.sampled_from(["primary", "default"])),
    _component("CheckBox", label=dynamic_texts, value=st.booleans() | bindings),
    _component("Own", payload=json_values, child=ids, children=child_lists),
)


def _unique(found: list[Component]) -> tuple[Component, ...]:
    return tuple({component.id: component for component in found}.values())


creates = st.builds(
    CreateSurface,
    surface_id=surface_ids,
    catalog_id=st.sampled_from(["own:1", "dragoman:dev/1"]),
    theme=st.dictionaries(names, texts, max_size=2),
    send_data_model=st.booleans(),
)
updates = st.builds(
    UpdateComponents, surface_id=surface_ids, components=st.lists(components, min_size=1, max_size=5).map(_unique)
)
data_updates = st.builds(
    UpdateDataModel, surface_id=surface_ids, path=paths | st.just(""), value=json_values | st.just(DELETE)
)
deletes = st.builds(DeleteSurface, surface_id=surface_ids)
messages: st.SearchStrategy[AgentMessage] = st.one_of(creates, updates, data_updates, deletes)

# What 0.8 is read into: surfaces that an update creates, that are created twice, and that have a root of any name.
v08_messages: st.SearchStrategy[AgentMessage] = st.one_of(
    st.builds(CreateSurface, surface_id=surface_ids, root=ids, existing=st.just("keep")),
    st.builds(
        UpdateComponents,
        surface_id=surface_ids,
        components=st.lists(components, min_size=1, max_size=5).map(_unique),
        implicit=st.just(True),
    ),
    st.builds(
        UpdateDataModel,
        surface_id=surface_ids,
        path=st.sampled_from(["", "/a", "/a/b", "/items/0"]),
        value=json_values,
        implicit=st.just(True),
    ),
    deletes,
)
