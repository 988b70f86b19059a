"""The messages of the internal A2UI model, its limits and its error. The model is close to A2UI 0.9.

Readers turn every dialect into this model, writers turn it back. JSON values inside are shared between messages and
surfaces and never changed in place.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dragoman.core.errors import RemoteProtocolError

ROOT = "root"
DELETE = msgspec.UNSET


Existing = Literal["refuse", "replace", "keep"]


class Component(msgspec.Struct, frozen=True):
    """One component. `properties` has the names of 0.9, with `weight`, `checks` and `accessibility` among them."""

    id: str
    type: str
    properties: dict[str, Any] = {}


class CreateSurface(msgspec.Struct, frozen=True, kw_only=True):
    """Create a surface.

    The dialects differ if the id exists already: 0.9 refuses, the protocol document's own dialect replaces, and 0.8
    (`beginRendering`) keeps what has arrived and names the root. Without a root the surface is filled but not shown.
    """

    surface_id: str
    catalog_id: str = ""
    theme: dict[str, Any] = {}
    send_data_model: bool = False
    root: str = ROOT
    existing: Existing = "refuse"

    @property
    def title(self) -> str:
        """No version of A2UI has a title. It is sent as a theme property, which the schema leaves open."""
        title = self.theme.get("title", "")
        return title if isinstance(title, str) else ""


class UpdateComponents(msgspec.Struct, frozen=True, kw_only=True):
    """Add or replace components by id; with `replace`, all others are removed.

    `root` renames the root. `implicit`: this message may create the surface, because 0.8 has no message for that.
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


AgentMessage = CreateSurface | UpdateComponents | UpdateDataModel | DeleteSurface | FunctionMessage
Dialect = Literal["flat-list", "0.8", "0.9", "1.0"]


class MessageOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The places of the parts of a message in its document, for errors that are found only when it is applied."""

    surface: str = ""
    path: str = ""
    value: str = ""
    components: tuple[str, ...] = ()

    def component(self, index: int) -> str:
        return self.components[index] if index < len(self.components) else self.surface

    def under(self, prefix: str) -> MessageOrigin:
        """The same places, seen from the document that contains the message."""
        return MessageOrigin(
            surface=prefix + self.surface,
            path=prefix + self.path,
            value=prefix + self.value,
            components=tuple(prefix + place for place in self.components),
        )


NO_ORIGIN = MessageOrigin()


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the model, and where it came from."""

    message: AgentMessage
    dialect: Dialect
    origin: MessageOrigin = NO_ORIGIN

    def under(self, prefix: str) -> Incoming:
        return Incoming(message=self.message, dialect=self.dialect, origin=self.origin.under(prefix))


class A2uiError(RemoteProtocolError):
    """A refused message. `pointer` is an RFC 6901 pointer into the message (or list of messages) as it came in."""

    def __init__(self, code: str, pointer: str, message: str) -> None:
        super().__init__(code, message)
        self.args = (code, pointer, message)
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.message} (at {self.pointer or 'the whole message'})"

    def under(self, prefix: str) -> A2uiError:
        """The same error, seen from the document that contains the message."""
        return A2uiError(self.code, prefix + self.pointer, self.message)


class A2uiLimits(msgspec.Struct, frozen=True, kw_only=True):
    message_bytes: int = 1 << 20  # one JSONL line
    document_bytes: int = 4 << 20  # one list of messages
    messages: int = 1_000  # in one list, and what they come to in the model
    json_depth: int = 64  # nesting of a message, and of a data model
    surfaces: int = 64
    components: int = 2_000  # on one surface
    component_bytes: int = 4 << 20  # all components of one surface, as JSON
    children: int = 10_000  # named by all components of one surface; all are walked at every change
    data_model_bytes: int = 1 << 20  # one surface's data model, as JSON
    tree_depth: int = 64  # parents above a component
    nodes: int = 10_000  # in one resolved tree, after templates have been expanded
    tree_bytes: int = 16 << 20  # of one resolved tree: a template repeats its component and whatever that is bound to
    pointer_length: int = 1_024
    array_index: int = 10_000  # the highest index that a pointer may set


DEFAULT_LIMITS = A2uiLimits()
