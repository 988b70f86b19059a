"""`list_components`: what can be drawn; of those named, their properties and an example."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.canvas.catalogue import NAMES, schema_of
from dragoman.canvas.components import OWN
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.tools.canvas.parameters import Components, ComponentTold, ListComponents
from dragoman.tools.operation import Caller, Outcome
from dragoman.wire.a2ui.catalogue import BASIC

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


async def list_components(_: Caller, wanted: ListComponents) -> Outcome:
    names = wanted.names or NAMES
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise _unknown(unknown)
    told = [_detailed(name) if wanted.names else _brief(name) for name in names]
    data = Components(status="components", components=told)
    return Outcome([_line(it) for it in told], data)


def _brief(name: str) -> ComponentTold:
    return ComponentTold(name=name, about=OWN[name].about if name in OWN else "")


def _detailed(name: str) -> ComponentTold:
    if name in OWN:
        entry = OWN[name]
        return ComponentTold(
            name=name, about=entry.about, example=entry.example, properties=schema_of(name), tells=list(entry.tells)
        )
    properties = {key: spec.kind for key, spec in BASIC[name].items()}
    return ComponentTold(name=name, about="", example=_BASIC_EXAMPLES[name], properties=properties)


def _line(told: ComponentTold) -> Phrase:
    example = msgspec.json.encode(told.example).decode() if told.example else ""
    return say("{text}", text=" ".join(filter(None, [f"{told.name}:", told.about, example])))


def _unknown(names: list[str]) -> DragomanError:
    return DragomanError(
        "unknown_component",
        say("There is no component {name}.", name=", ".join(ascii(name[:60]) for name in names[:5])),
        hint=say("There are: {names}.", names=", ".join(NAMES)),
    )
