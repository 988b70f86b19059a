"""The components known by name: their properties, the kind of each, and its name in 0.8.

Other types are kept as they are, since agents may have their own catalogues; `child` and `children` are followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from dragoman.protocols.a2ui.messages import Component

# How a property is written: the four dynamic kinds may be a literal, a {path} or a {call}; `static` is plain JSON.
Kind = Literal["string", "number", "boolean", "strings", "static", "child", "children", "tabs", "options", "action"]


class Property(msgspec.Struct, frozen=True):
    kind: Kind
    v08: str | None = None  # None: 0.8 has no such property


def _of(kind: Kind, v08: str | None = None) -> Property:
    return Property(kind, v08)


_LAYOUT = {
    "children": _of("children", "children"),
    "justify": _of("static", "distribution"),
    "align": _of("static", "alignment"),
}
_CHECKS = {"checks": _of("static")}

BASIC: Mapping[str, Mapping[str, Property]] = {
    "Text": {"text": _of("string", "text"), "variant": _of("static", "usageHint")},
    "Image": {
        "url": _of("string", "url"),
        "description": _of("string", "altText"),
        "fit": _of("static", "fit"),
        "variant": _of("static", "usageHint"),
    },
    "Icon": {"name": _of("string", "name")},
    "Video": {"url": _of("string", "url"), "posterUrl": _of("string")},
    "AudioPlayer": {"url": _of("string", "url"), "description": _of("string", "description")},
    "Row": _LAYOUT,
    "Column": _LAYOUT,
    "List": {
        "children": _of("children", "children"),
        "direction": _of("static", "direction"),
        "align": _of("static", "alignment"),
    },
    "Card": {"child": _of("child", "child")},
    "Tabs": {"tabs": _of("tabs", "tabItems")},
    "Modal": {"trigger": _of("child", "entryPointChild"), "content": _of("child", "contentChild")},
    "Divider": {"axis": _of("static", "axis")},
    "Button": {
        "child": _of("child", "child"),
        "variant": _of("static", "primary"),
        "action": _of("action", "action"),
        **_CHECKS,
    },
    "TextField": {
        "label": _of("string", "label"),
        "value": _of("string", "text"),
        "placeholder": _of("string"),
        "variant": _of("static", "textFieldType"),
        "validationRegexp": _of("static", "validationRegexp"),
        **_CHECKS,
    },
    "CheckBox": {"label": _of("string", "label"), "value": _of("boolean", "value"), **_CHECKS},
    "ChoicePicker": {
        "label": _of("string"),
        "variant": _of("static", "maxAllowedSelections"),
        "options": _of("options", "options"),
        "value": _of("strings", "selections"),
        "displayStyle": _of("static", "variant"),
        "filterable": _of("static", "filterable"),
        **_CHECKS,
    },
    "Slider": {
        "label": _of("string", "label"),
        "min": _of("static", "minValue"),
        "max": _of("static", "maxValue"),
        "value": _of("number", "value"),
        "steps": _of("static"),
        **_CHECKS,
    },
    "DateTimeInput": {
        "value": _of("string", "value"),
        "enableDate": _of("static", "enableDate"),
        "enableTime": _of("static", "enableTime"),
        "min": _of("string"),
        "max": _of("string"),
        "label": _of("string"),
        **_CHECKS,
    },
}

# The protocol document's components that the basic catalogue lacks; its Text and Button are the basic ones.
OWN: Mapping[str, Mapping[str, Property]] = {
    "CodeBlock": {"code": _of("string"), "language": _of("string")},
    "FileTree": {"items": _of("strings"), "action": _of("action")},
}

KNOWN: Mapping[str, Mapping[str, Property]] = {**BASIC, **OWN}

_UNKNOWN_TYPE: Mapping[str, Property] = {
    "child": _of("child"),
    "children": _of("children"),
    "action": _of("action"),
    **_CHECKS,
}

# 0.8 calls one component otherwise; the reference renderer's own schema spells another without its capital B.
FROM_V08_TYPE = {"MultipleChoice": "ChoicePicker", "Checkbox": "CheckBox"}


def properties_of(component_type: str) -> Mapping[str, Property]:
    return KNOWN.get(component_type, _UNKNOWN_TYPE)


class Reference(msgspec.Struct, frozen=True):
    """A child: which property names it, and for a list template the path of its list."""

    slot: str
    component_id: str
    template_path: str | None = None


def is_template(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"componentId", "path"}


def references(component: Component) -> Iterator[Reference]:
    """The children a component names, in order. What is not of the right shape is passed over."""
    for name, spec in properties_of(component.type).items():
        if spec.kind in _FOLLOW and name in component.properties:
            yield from _FOLLOW[spec.kind](name, component.properties[name])


def malformed_reference(component: Component) -> str:
    """The first property that should name children and does not; empty if there is none, or the type is not known."""
    for name, spec in KNOWN.get(component.type, {}).items():
        well_formed = _WELL_FORMED.get(spec.kind)
        if well_formed and name in component.properties and not well_formed(component.properties[name]):
            return name
    return ""


def _follow_child(name: str, value: Any) -> Iterator[Reference]:
    if isinstance(value, str):
        yield Reference(name, value)


def _follow_children(name: str, value: Any) -> Iterator[Reference]:
    if is_template(value):
        if isinstance(value["componentId"], str) and isinstance(value["path"], str):
            yield Reference(name, value["componentId"], value["path"])
    elif isinstance(value, list):
        for item in value:
            yield from _follow_child(name, item)


def _follow_tabs(name: str, value: Any) -> Iterator[Reference]:
    for index, tab in enumerate(value if isinstance(value, list) else ()):
        if isinstance(tab, dict):
            yield from _follow_child(f"{name}/{index}/child", tab.get("child"))


def _is_child_list(value: Any) -> bool:
    if is_template(value):
        return isinstance(value["componentId"], str) and isinstance(value["path"], str)
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_tabs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(tab, dict) and isinstance(tab.get("child"), str) for tab in value)


_FOLLOW = {"child": _follow_child, "children": _follow_children, "tabs": _follow_tabs}
_WELL_FORMED = {
    "child": lambda value: isinstance(value, str),
    "children": _is_child_list,
    "tabs": _is_tabs,
}
