"""Write a surface in the dialect of the protocol document, a flat list of components.

The dialect has no tree, and its readers bind no data. Therefore:

- components are listed in the order in which they are drawn, with the values that they are bound to; what only lays
  others out (Row, Column, Card …) is left out;
- a Button has the text of its child as its `label`; actions are left out: its readers answer with the component's id;
- Markdown is a Text, a Terminal a CodeBlock; what else the document does not have is sent as it is, and shown by its
  readers as a placeholder;
- there is no message that removes a surface: it is left without components.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dragoman.protocols.a2ui import pointer
from dragoman.protocols.a2ui.messages import DEFAULT_LIMITS, DELETE, UpdateDataModel
from dragoman.protocols.a2ui.render_tree import RenderNode, resolve
from dragoman.protocols.a2ui.surface import Surface

Json = dict[str, Any]

_LIMITS = msgspec.structs.replace(DEFAULT_LIMITS, nodes=1_000, tree_bytes=512 << 10)
"""The whole list is built and sent with every change, so its limits are lower than those of a page."""
_LAYOUT = frozenset({"Row", "Column", "List", "Card", "Tabs", "Modal"})
_INNER = frozenset({"action", "checks", "child", "children", "tabs", "trigger", "content", "weight", "accessibility"})
_DOCUMENT_TYPES = {"Markdown": ("Text", "text", "text"), "Terminal": ("CodeBlock", "text", "code")}
"""The type in the document, Dragoman's property, and its name in that type."""


def create_surface(name: str, surface: Surface, components: list[Json]) -> list[Json]:
    """A surface with its data, which the document's own create message does not carry."""
    created: Json = {
        "type": "createSurface",
        "surface": {"id": name, "title": surface.title},
        "components": components,
    }
    if surface.data_model == {}:
        return [created]
    return [created, _set_data(name, "", surface.data_model)]


def update_components(name: str, components: list[Json]) -> Json:
    return {"type": "updateComponents", "surfaceId": name, "components": components}


def update_data_model(name: str, message: UpdateDataModel) -> Json:
    """A deletion is sent as null: the document has no other form for it."""
    place = pointer.format_pointer(pointer.parse(message.path))
    return _set_data(name, place, None if message.value is DELETE else message.value)


def components_of(surface: Surface) -> list[Json]:
    root = resolve(surface, _LIMITS)
    return [_written(node) for node in _listed(root)] if root else []


def _set_data(name: str, place: str, value: Any) -> Json:
    return {"type": "updateDataModel", "surfaceId": name, "pointer": place, "value": value}


def _listed(node: RenderNode) -> Iterator[RenderNode]:
    if node.state != "ready":
        return
    if node.type not in _LAYOUT:
        yield node
    for child in node.children if node.type != "Button" else ():
        yield from _listed(child)


def _written(node: RenderNode) -> Json:
    written_type, own, name = _DOCUMENT_TYPES.get(node.type, (node.type, "", ""))
    props = {"label": _text_of(node)} if node.type == "Button" else {}
    props |= _props(node)
    return {"id": node.id, "type": written_type, "props": {name: props.get(own, "")} if own else props}


def _props(node: RenderNode) -> Json:
    return {name: _literal(value) for name, value in node.properties.items() if name not in _INNER}


def _literal(value: Any) -> Any:
    """The renderer runs a function of the catalogue, and the document's readers have none."""
    return "" if isinstance(value, dict) and isinstance(value.get("call"), str) else value


def _text_of(node: RenderNode) -> str:
    """The text of a button: the texts below it."""
    own = [str(_literal(node.properties[name])) for name in ("text", "name") if name in node.properties]
    return " ".join(filter(None, [*own, *map(_text_of, node.children)]))
