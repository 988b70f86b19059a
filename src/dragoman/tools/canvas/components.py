"""The canvas tool `list_components`: what can be drawn, with the properties and an example of each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from dragoman.canvas.catalogue import COMPONENT_NAMES, schema_of
from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import LocalizedText, localize
from dragoman.protocols.a2ui.catalogue import BASIC
from dragoman.tools.tool import Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_BASIC_EXAMPLES: dict[str, dict[str, Any]] = {
    "Text": {"text": "Hello", "variant": "h2"},
    "Button": {"child": "label", "variant": "primary", "action": {"event": {"name": "go"}}},
    "Row": {"children": ["a", "b"], "align": "center"},
    "Column": {"children": ["a", "b"]},
    "List": {"children": {"componentId": "item", "path": "/items"}},
    "Card": {"child": "a"},
    "Tabs": {"tabs": [{"title": "One", "child": "a"}]},
    "Modal": {"trigger": "open", "content": "a"},
    "Divider": {},
    "Image": {"url": "data:image/png;base64,…", "description": "A plot"},
    "Icon": {"name": "check"},
    "Video": {"url": ""},
    "AudioPlayer": {"url": ""},
    "TextField": {"label": "Name", "value": {"path": "/name"}},
    "CheckBox": {"label": "Again", "value": {"path": "/again"}},
    "ChoicePicker": {
        "options": [{"label": "One", "value": "1"}],
        "value": {"path": "/chosen"},
        "variant": "mutuallyExclusive",
    },
    "Slider": {"min": 0, "max": 10, "value": {"path": "/level"}},
    "DateTimeInput": {"value": {"path": "/when"}, "enableDate": True},
}


class ListComponentsParameters(Parameters):
    names: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Field(default_factory=list, max_length=40, description="Default: names only."),
    ]


class ComponentDescription(Result):
    name: str
    about: str
    example: dict[str, Any] = Field(default_factory=dict)
    properties: dict[str, Any] = Field(default_factory=dict)
    tells: list[str] = Field(default_factory=list)


class ListComponentsResult(Result):
    status: Literal["components"]
    components: list[ComponentDescription]


class ComponentTools:
    @tool(
        "list_components",
        "List components",
        "List what show_canvas can draw; with names: schema and example.",
        ListComponentsParameters,
        ListComponentsResult,
    )
    async def components(self, _: Caller, wanted: ListComponentsParameters) -> ToolOutcome:
        names = wanted.names or COMPONENT_NAMES
        unknown = [name for name in names if name not in COMPONENT_NAMES]
        if unknown:
            raise _unknown_component(name=unknown, names=COMPONENT_NAMES)
        described = [_detailed(name) if wanted.names else _brief(name) for name in names]
        data = ListComponentsResult(status="components", components=described)
        return ToolOutcome([_component_line(it) for it in described], data)


def _brief(name: str) -> ComponentDescription:
    return ComponentDescription(name=name, about=OWN_COMPONENTS[name].about if name in OWN_COMPONENTS else "")


def _detailed(name: str) -> ComponentDescription:
    if name in OWN_COMPONENTS:
        entry = OWN_COMPONENTS[name]
        return ComponentDescription(
            name=name,
            about=entry.about,
            example=entry.example,
            properties=schema_of(name),
            tells=list(entry.action_fields),
        )
    properties = {key: spec.kind for key, spec in BASIC[name].items()}
    return ComponentDescription(name=name, about="", example=_BASIC_EXAMPLES[name], properties=properties)


def _component_line(component: ComponentDescription) -> LocalizedText:
    example = msgspec.json.encode(component.example).decode() if component.example else ""
    return localize("{text}", text=" ".join(filter(None, [f"{component.name}:", component.about, example])))


_unknown_component = ErrorSpec(
    "unknown_component",
    "Unknown component: {name}.",
    "Available: {names}.",
    name=lambda names: ", ".join(ascii(name[:60]) for name in names[:5]),
    names=", ".join,
)
