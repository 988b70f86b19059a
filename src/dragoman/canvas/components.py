"""Components beyond A2UI's basic catalogue: what each is for, and the shape of its properties.

Wherever `Bound` is allowed the value may be bound to the surface's data: `{"path": "/rows"}`. A new component is an
entry here and a file of the page; docs/components.md shows one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

_Text = Annotated[str, Meta(max_length=1 << 20)]
_Short = Annotated[str, Meta(max_length=1_000)]
_Line = Annotated[int, Meta(ge=0, le=10_000_000)]


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A value that stands in the data, or that a function of the catalogue makes."""

    path: str = ""
    call: str = ""
    args: dict[str, Any] = {}
    return_type: str = ""


class ActionEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    context: dict[str, Any] = {}
    user_message: str | Bound = ""


class ComponentAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    event: ActionEvent


class Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    weight: float | None = None
    accessibility: dict[str, Any] = {}


class Active(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    action: ComponentAction | None = None


class CatalogueEntry(msgspec.Struct, frozen=True, kw_only=True):
    shape: type[Base]
    example: dict[str, Any]
    event: str
    """The name of a person's action if its drawer gave it none, as the protocol document names them."""
    action_fields: tuple[str, ...]
    """What the page may add to an action's context: what was chosen or entered."""

    @property
    def about(self) -> str:
        return inspect.getdoc(self.shape) or ""


OWN_COMPONENTS: dict[str, CatalogueEntry] = {}
_Shape = TypeVar("_Shape", bound=type[Base])


def component(
    *, example: dict[str, Any], event: str = "", action_fields: tuple[str, ...] = ()
) -> Callable[[_Shape], _Shape]:
    """Add a component to the catalogue, under the name of the class."""

    def entered(shape: _Shape) -> _Shape:
        OWN_COMPONENTS[shape.__name__] = CatalogueEntry(
            shape=shape, example=example, event=event, action_fields=action_fields
        )
        return shape

    return entered


@component(example={"text": "## Findings\n- `total` is **wrong** after the third row"})
class Markdown(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Text with headings, lists, tables and code; no HTML, no pictures from elsewhere."""

    text: _Text | Bound


@component(example={"code": "total += price\n", "language": "python", "firstLine": 12, "marked": [12]})
class CodeBlock(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Source with line numbers; lines can be marked, as a debugger marks where it stands."""

    code: _Text | Bound
    language: _Short | Bound = ""
    first_line: _Line = 1
    marked: list[_Line] | Bound = []
    title: _Short | Bound = ""


@component(example={"items": ["src/app.py", "tests/test_app.py"]}, event="onSelect", action_fields=("path",))
class FileTree(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Paths as a tree; choosing one sends `{path}`."""

    items: list[_Short] | Bound


@component(example={"message": "Apply the change?"}, event="onConfirm", action_fields=("componentId", "confirmed"))
class Confirm(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A question with two buttons; sends `{componentId, confirmed}`."""

    message: _Text | Bound
    confirm_label: _Short | Bound = ""
    cancel_label: _Short | Bound = ""


@component(
    example={"path": "app.py", "original": "a = 1\n", "modified": "a = 2\n", "decides": True},
    event="onDecide",
    action_fields=("path", "accepted"),
)
class Diff(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Two versions of a text beside each other; accepting or rejecting sends `{path, accepted}`. No original: new."""

    path: _Short | Bound
    modified: _Text | Bound
    original: _Text | Bound | None = None
    language: _Short | Bound = ""
    decides: bool = False


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    key: _Short
    title: _Short = ""
    align: Literal["start", "end"] = "start"


@component(
    example={
        "columns": [{"key": "name"}, {"key": "ms", "title": "Time, ms", "align": "end"}],
        "rows": {"path": "/tests"},
    },
    event="onSelect",
    action_fields=("index", "row"),
)
class Table(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Rows that can be sorted and filtered; choosing one sends `{index, row}`."""

    columns: list[Column]
    rows: list[dict[str, Any]] | Bound
    caption: _Short | Bound = ""
    filterable: bool = True


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    name: _Short
    values: list[float | None] | Bound


@component(
    example={"kind": "line", "x": [1, 2, 3], "series": [{"name": "memory, MB", "values": [10, 14, 90]}]},
)
class Chart(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Lines, bars or points over a shared `x` of labels or numbers. A table of the same data is for people who
    cannot see it."""

    kind: Literal["line", "bar", "scatter"]
    series: Annotated[list[Series], Meta(min_length=1, max_length=20)]
    x: list[str | float] | Bound = []
    title: _Short | Bound = ""
    x_label: _Short | Bound = ""
    y_label: _Short | Bound = ""


@component(example={"text": "$ make test\n\u001b[32mok\u001b[0m"})
class Terminal(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What a terminal showed, with its colours; the newest lines stay in sight."""

    text: _Text | Bound
    title: _Short | Bound = ""
    rows: Annotated[int, Meta(ge=1, le=200)] = 24


@component(example={"label": "Tracing", "value": 0.4})
class Progress(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """How far something is, from 0 to 1; without a value it only says that something goes on."""

    label: _Short | Bound = ""
    value: float | Bound | None = None
    state: Literal["running", "done", "failed"] | Bound = "running"


@component(
    example={"variables": [{"name": "order", "value": "Order(…)", "children": [{"name": "total", "value": "0"}]}]},
    event="onSelect",
    action_fields=("path",),
)
class VariableTree(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Values that open: `{name, value, type?, children?}`; choosing one sends `{path}`."""

    variables: list[dict[str, Any]] | Bound
    title: _Short | Bound = ""


@component(
    example={"frames": [{"function": "total", "file": "app.py", "line": 12, "isOwn": True}]},
    event="onSelect",
    action_fields=("index", "file", "line"),
)
class StackTrace(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Frames, newest first: `{function, file, line, isOwn?}`; choosing one sends `{index, file, line}`."""

    frames: list[dict[str, Any]] | Bound
    title: _Short | Bound = ""


@component(
    example={"items": [{"at": "12:00:01", "title": "stop 1", "text": "app.py:12"}]},
    event="onSelect",
    action_fields=("index",),
)
class Timeline(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What happened, in order: `{at, title, text?, state?}`; choosing one sends `{index}`."""

    items: list[dict[str, Any]] | Bound


class FormField(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One question of a form."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z_][\w-]{0,63}$")]
    label: _Short = ""
    kind: Literal["text", "long_text", "number", "yes_no", "choice", "choices", "secret"] = "text"
    options: Annotated[list[_Short], Meta(max_length=200)] = []
    value: str | float | bool | list[str] | None = None
    required: bool = False
    help: _Short = ""


@component(
    example={"fields": [{"name": "branch", "label": "Which branch?", "kind": "choice", "options": ["main", "dev"]}]},
    event="onSubmit",
    action_fields=("values",),
)
class Form(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Questions answered together; sending it sends `{values}`."""

    fields: Annotated[list[FormField], Meta(min_length=1, max_length=50)]
    title: _Short | Bound = ""
    submit_label: _Short | Bound = ""
    cancel_label: _Short | Bound = ""
