"""The one model inside, close to A2UI 0.9. Dialects are turned into it on the way in and out of it on the way out.

The JSON values inside are shared between messages and surfaces and never changed in place.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

ROOT = "root"
DELETE = msgspec.UNSET

Existing = Literal["refuse", "replace", "keep"]


class Component(msgspec.Struct, frozen=True):
    """One component. `properties` has the names of 0.9, with `weight`, `checks` and `accessibility` among them."""

    id: str
    type: str
    properties: dict[str, Any] = {}


class CreateSurface(msgspec.Struct, frozen=True, kw_only=True):
    """A surface begins. What a surface of that id already there means differs: 0.9 refuses, the specification's own
    dialect replaces, and 0.8 (`beginRendering`) keeps what has arrived and names the root. Without a root the surface
    is filled but not shown."""

    surface_id: str
    catalog_id: str = ""
    theme: dict[str, Any] = {}
    send_data_model: bool = False
    root: str = ROOT
    existing: Existing = "refuse"

    @property
    def title(self) -> str:
        """No version of A2UI has a title; it travels as a theme property, which the schema leaves open."""
        title = self.theme.get("title", "")
        return title if isinstance(title, str) else ""


class UpdateComponents(msgspec.Struct, frozen=True, kw_only=True):
    """Components by id are put in or exchanged; with `replace` all others go. `root` renames the root.

    `implicit`: the surface may come into being with this message, since 0.8 has none that creates it.
    """

    surface_id: str
    components: tuple[Component, ...]
    replace: bool = False
    root: str = ""
    implicit: bool = False


class UpdateDataModel(msgspec.Struct, frozen=True, kw_only=True):
    """Set the value at the pointer, or DELETE it."""

    surface_id: str
    path: str = ""
    value: Any = DELETE
    implicit: bool = False


class DeleteSurface(msgspec.Struct, frozen=True, kw_only=True):
    surface_id: str


class FunctionMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A function call or its answer (1.0, in either direction): carried, not run. `key` is its name on the wire."""

    key: str
    call_id: str
    body: dict[str, Any]


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What a user did, with its context resolved. `timestamp` is ISO 8601, as on the wire."""

    name: str
    surface_id: str
    source_component_id: str
    timestamp: str
    context: dict[str, Any] = {}
    user_message: str = ""


VALIDATION_FAILED = "VALIDATION_FAILED"


class ClientError(msgspec.Struct, frozen=True, kw_only=True):
    """The renderer refuses something; `path` points into the message that was refused."""

    code: str
    message: str
    surface_id: str = ""
    path: str = ""


AgentMessage = CreateSurface | UpdateComponents | UpdateDataModel | DeleteSurface | FunctionMessage
ClientMessage = Action | ClientError | FunctionMessage

Dialect = Literal["seed", "0.8", "0.9", "1.0"]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where the parts of a message stood in what came in, for errors that are found only when it is applied."""

    surface: str = ""
    path: str = ""
    value: str = ""
    components: tuple[str, ...] = ()

    def component(self, index: int) -> str:
        return self.components[index] if index < len(self.components) else self.surface

    def under(self, prefix: str) -> Origin:
        """The same places, seen from the document that contains the message."""
        return Origin(
            surface=prefix + self.surface,
            path=prefix + self.path,
            value=prefix + self.value,
            components=tuple(prefix + place for place in self.components),
        )


NOWHERE = Origin()


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the model, and where it came from."""

    message: AgentMessage
    dialect: Dialect
    origin: Origin = NOWHERE

    def under(self, prefix: str) -> Incoming:
        return Incoming(message=self.message, dialect=self.dialect, origin=self.origin.under(prefix))
