"""Components beyond A2UI's basic catalogue: what each is for, and the shape of its properties.

Wherever `Bound` is allowed the value may be bound to the surface's data: `{"path": "/rows"}`. A new component is a
class here, an entry in `OWN` of the catalogue, and a file of the page; docs/components.md shows one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

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


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    context: dict[str, Any] = {}
    user_message: str | Bound = ""


class Acting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    event: Event


class Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    weight: float | None = None
    accessibility: dict[str, Any] = {}


class Active(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    action: Acting | None = None


class Markdown(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Text with headings, lists, tables and code; no HTML, no pictures from elsewhere."""

    text: _Text | Bound


class CodeBlock(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Source with line numbers; lines can be marked, as a debugger marks where it stands."""

    code: _Text | Bound
    language: _Short | Bound = ""
    first_line: _Line = 1
    marked: list[_Line] | Bound = []
    title: _Short | Bound = ""


class FileTree(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Paths as a tree; choosing one tells `{path}`."""

    items: list[_Short] | Bound


class Confirm(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A question with two buttons; tells `{componentId, confirmed}`."""

    message: _Text | Bound
    confirm_label: _Short | Bound = ""
    cancel_label: _Short | Bound = ""


class Diff(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Two versions of a text beside each other; accepting or rejecting tells `{path, accepted}`. No original: new."""

    path: _Short | Bound
    modified: _Text | Bound
    original: _Text | Bound | None = None
    language: _Short | Bound = ""
    decides: bool = False


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    key: _Short
    title: _Short = ""
    align: Literal["start", "end"] = "start"


class Table(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Rows that can be sorted and filtered; choosing one tells `{index, row}`. Many rows are no burden."""

    columns: list[Column]
    rows: list[dict[str, Any]] | Bound
    caption: _Short | Bound = ""
    filterable: bool = True


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    name: _Short
    values: list[float | None] | Bound


class Chart(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Lines, bars or points over shared labels or numbers; a table of the same for who does not see it."""

    kind: Literal["line", "bar", "scatter"]
    series: Annotated[list[Series], Meta(min_length=1, max_length=20)]
    x: list[str | float] | Bound = []
    title: _Short | Bound = ""
    x_label: _Short | Bound = ""
    y_label: _Short | Bound = ""


class Terminal(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What a terminal showed, with its colours; the newest lines stay in sight."""

    text: _Text | Bound
    title: _Short | Bound = ""
    rows: Annotated[int, Meta(ge=1, le=200)] = 24


class Progress(Base, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """How far something is, from 0 to 1; without a value it only says that something goes on."""

    label: _Short | Bound = ""
    value: float | Bound | None = None
    state: Literal["running", "done", "failed"] | Bound = "running"


class VariableTree(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Values that open: `{name, value, type?, children?}`; choosing one tells `{path}`."""

    variables: list[dict[str, Any]] | Bound
    title: _Short | Bound = ""


class StackTrace(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Frames, newest first: `{function, file, line, isOwn?}`; choosing one tells `{index, file, line}`."""

    frames: list[dict[str, Any]] | Bound
    title: _Short | Bound = ""


class Timeline(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What happened, in order: `{at, title, text?, state?}`; choosing one tells `{index}`."""

    items: list[dict[str, Any]] | Bound


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One question of a form."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z_][\w-]{0,63}$")]
    label: _Short = ""
    kind: Literal["text", "long_text", "number", "yes_no", "choice", "choices", "secret"] = "text"
    options: Annotated[list[_Short], Meta(max_length=200)] = []
    value: str | float | bool | list[str] | None = None
    required: bool = False
    help: _Short = ""


class Form(Active, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Questions answered together; sending it tells `{values}`."""

    fields: Annotated[list[Field], Meta(min_length=1, max_length=50)]
    title: _Short | Bound = ""
    submit_label: _Short | Bound = ""
    cancel_label: _Short | Bound = ""
