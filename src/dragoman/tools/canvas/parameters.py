"""What the canvas tools take and give."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.tools.operation import Parameters, Result
from dragoman.tools.schemas import Maybe, OrEmpty

DEFAULT_WAIT_S = 45.0
MOST_WAIT_S = 3600.0

SurfaceId = Annotated[str, Field(max_length=200, description="Default: main.")]
Seconds = Annotated[float, Field(ge=0, le=MOST_WAIT_S)]
Messages = Annotated[
    list[dict[str, Any]],
    Field(default_factory=list, max_length=1000, description="Instead: A2UI messages (0.8, 0.9, 1.0)."),
]


class Drawing(Parameters):
    components: Annotated[
        list[dict[str, Any]],
        Field(
            default_factory=list,
            max_length=2000,
            description="[{id, component, …properties}]; one with id root, or shown one below the other.",
        ),
    ]
    data: Annotated[dict[str, Any], Field(default_factory=dict, description='What {"path": "/x"} is bound to.')]
    messages: Messages
    surface_id: SurfaceId = "main"


class Show(Drawing):
    title: Annotated[str, Field(max_length=200)] = ""
    subject: Annotated[
        OrEmpty[Literal["stop", "failure"]],
        Field(description="Where the debugged program stands, or the last command that failed; `components` go below."),
    ] = ""
    subject_id: Annotated[str, Field(max_length=100, description="Its session or command; default: the last.")] = ""


class Change(Drawing):
    changes: Annotated[
        dict[str, Any], Field(default_factory=dict, description="Data by JSON Pointer; null removes.", max_length=1000)
    ]
    remove: Annotated[bool, Field(description="Take the surface away.")] = False


class ReadActions(Parameters):
    surface_id: Annotated[str, Field(max_length=200, description="Default: all that this client drew.")] = ""
    timeout_s: Annotated[Seconds, Field(description="Wait so long for the first.")] = DEFAULT_WAIT_S


class ListComponents(Parameters):
    names: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Field(default_factory=list, max_length=40, description="With schema and example. Default: names alone."),
    ]


class Question(Parameters):
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][\w-]*$", max_length=64)]
    label: Annotated[str, Field(max_length=1000)] = ""
    kind: Literal["text", "long_text", "number", "yes_no", "choice", "choices", "secret"] = "text"
    options: Annotated[list[Annotated[str, Field(max_length=1000)]], Field(default_factory=list, max_length=200)]
    value: Maybe[str | float | bool | list[str]] = None
    required: bool = False


class AskUser(Parameters):
    title: Annotated[str, Field(min_length=1, max_length=200, description="What it is about.")]
    fields: Annotated[list[Question], Field(min_length=1, max_length=50)]
    text: Annotated[str, Field(max_length=10_000, description="Markdown above the questions.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class Shown(Result):
    status: Literal["shown", "removed"]
    surface_id: str
    version: int
    watchers: int
    warnings: list[str] = Field(default_factory=list)
    """What stands there as a placeholder, since no component is called so."""


class ActionTold(Result):
    id: str
    surface_id: str
    component_id: str
    name: str
    context: dict[str, Any]
    user_message: str
    at: str


class Actions(Result):
    status: Literal["actions", "timeout"]
    actions: list[ActionTold]


class ComponentTold(Result):
    name: str
    about: str
    example: dict[str, Any] = Field(default_factory=dict)
    properties: dict[str, Any] = Field(default_factory=dict)
    tells: list[str] = Field(default_factory=list)


class Components(Result):
    status: Literal["components"]
    components: list[ComponentTold]


class Answered(Result):
    status: Literal["answered", "cancelled", "timeout"]
    values: dict[str, Any]
    surface_id: str


class Refusal(Result):
    status: Literal["error"]
    message: str
    code: str
    hint: str
    pointer: str
