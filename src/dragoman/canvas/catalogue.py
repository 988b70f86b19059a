"""Every component that can be drawn: schema, an example, and what acting on it tells when its drawer names nothing."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from dragoman.canvas import components as own
from dragoman.wire.a2ui import A2uiError, Component, Incoming, UpdateComponents
from dragoman.wire.a2ui.catalogue import BASIC
from dragoman.wire.a2ui.pointer import escape
from dragoman.wire.a2ui.values import convert

CATALOG_ID = "dragoman:dev/1"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    shape: type[own.Base]
    example: dict[str, Any]
    event: str = ""
    """What a person's action on it is called where the drawer gave it none, as the protocol document names them."""
    tells: tuple[str, ...] = ()
    """What the page may add to an action's context: what was chosen or entered."""

    @property
    def about(self) -> str:
        return inspect.getdoc(self.shape) or ""


OWN: Mapping[str, Entry] = {
    "Markdown": Entry(shape=own.Markdown, example={"text": "## Findings\n- `total` is **wrong** after the third row"}),
    "CodeBlock": Entry(
        shape=own.CodeBlock,
        example={"code": "total += price\n", "language": "python", "firstLine": 12, "marked": [12]},
    ),
    "FileTree": Entry(
        shape=own.FileTree, example={"items": ["src/app.py", "tests/test_app.py"]}, event="onSelect", tells=("path",)
    ),
    "Confirm": Entry(
        shape=own.Confirm,
        example={"message": "Apply the change?"},
        event="onConfirm",
        tells=("componentId", "confirmed"),
    ),
    "Diff": Entry(
        shape=own.Diff,
        example={"path": "app.py", "original": "a = 1\n", "modified": "a = 2\n", "decides": True},
        event="onDecide",
        tells=("path", "accepted"),
    ),
    "Table": Entry(
        shape=own.Table,
        example={
            "columns": [{"key": "name"}, {"key": "ms", "title": "Time, ms", "align": "end"}],
            "rows": {"path": "/tests"},
        },
        event="onSelect",
        tells=("index", "row"),
    ),
    "Chart": Entry(
        shape=own.Chart,
        example={"kind": "line", "x": [1, 2, 3], "series": [{"name": "memory, MB", "values": [10, 14, 90]}]},
    ),
    "Terminal": Entry(shape=own.Terminal, example={"text": "$ make test\n\u001b[32mok\u001b[0m"}),
    "Progress": Entry(shape=own.Progress, example={"label": "Tracing", "value": 0.4}),
    "VariableTree": Entry(
        shape=own.VariableTree,
        example={"variables": [{"name": "order", "value": "Order(…)", "children": [{"name": "total", "value": "0"}]}]},
        event="onSelect",
        tells=("path",),
    ),
    "StackTrace": Entry(
        shape=own.StackTrace,
        example={"frames": [{"function": "total", "file": "app.py", "line": 12, "isOwn": True}]},
        event="onSelect",
        tells=("index", "file", "line"),
    ),
    "Timeline": Entry(
        shape=own.Timeline,
        example={"items": [{"at": "12:00:01", "title": "stop 1", "text": "app.py:12"}]},
        event="onSelect",
        tells=("index",),
    ),
    "Form": Entry(
        shape=own.Form,
        example={
            "fields": [{"name": "branch", "label": "Which branch?", "kind": "choice", "options": ["main", "dev"]}]
        },
        event="onSubmit",
        tells=("values",),
    ),
}
NAMES = (*BASIC, *(name for name in OWN if name not in BASIC))


def schema_of(name: str) -> dict[str, Any]:
    """Of one of ours: JSON Schema, with what it refers to inside."""
    return msgspec.json.schema(OWN[name].shape)


def check_components(messages: list[Incoming]) -> None:
    """For agents that can repair what they send: an A2uiError points at the property, before anything is drawn."""
    for incoming in messages:
        if isinstance(incoming.message, UpdateComponents):
            for index, component in enumerate(incoming.message.components):
                _check(component, incoming.origin.component(index))


def _check(component: Component, at: str) -> None:
    if component.type in OWN:
        convert(component.properties, OWN[component.type].shape, at)
    elif component.type in BASIC:
        _check_basic(component, at)
    else:
        near = difflib.get_close_matches(component.type, NAMES, n=1)
        advice = f" Did you mean {near[0]}?" if near else " list_components shows those there are."
        raise A2uiError("unknown_component", at, f"There is no component {component.type[:60]!r}.{advice}")


_ANYWHERE = frozenset({"weight", "accessibility"})


def _check_basic(component: Component, at: str) -> None:
    known = BASIC[component.type].keys() | _ANYWHERE
    for name in component.properties:
        if name not in known:
            text = f"{component.type} has no property {name[:60]!r}; it has: {', '.join(sorted(known - _ANYWHERE))}."
            raise A2uiError("unknown_property", f"{at}/{escape(name)}", text)
