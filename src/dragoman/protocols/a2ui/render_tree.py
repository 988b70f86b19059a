"""Resolve a surface into the tree to draw: children in place, templates expanded, bindings read.

It never raises: missing data is empty (progressive rendering), and what exceeds a limit is cut and marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from dragoman.protocols.a2ui import pointer
from dragoman.protocols.a2ui.catalogue import Kind, Reference, properties_of, references
from dragoman.protocols.a2ui.messages import DEFAULT_LIMITS, A2uiError, A2uiLimits, Action, Component
from dragoman.protocols.a2ui.pointer import MISSING, Tokens
from dragoman.protocols.a2ui.surface import Surface
from dragoman.protocols.a2ui.values import size_of, to_text

# ready: drawn; pending: named, not yet sent; cut: the tree was too large or too deep here.
State = Literal["ready", "pending", "cut"]


class RenderNode(msgspec.Struct, frozen=True, kw_only=True):
    """One component in one place.

    `id` differs between the copies of a template; `scope` is the item of a copy. `properties` has bindings replaced by
    their values; `bindings` names the path of each bound property, for inputs to write back. Actions and checks are
    left as they are: they are read when the user acts (see `action_of`).
    """

    id: str
    component_id: str
    slot: str
    state: State = "ready"
    type: str = ""
    scope: str = ""
    properties: dict[str, Any] = {}
    bindings: dict[str, str] = {}
    children: tuple[RenderNode, ...] = ()


def resolve(surface: Surface, limits: A2uiLimits = DEFAULT_LIMITS) -> RenderNode | None:
    """The tree, or None while the surface has no root to show."""
    if not surface.root:
        return None
    return _TreeResolver(surface, limits).node(Reference("", surface.root), _Scope((), None), 0)


def action_of(
    surface: Surface, component_id: str, *, scope: str = "", timestamp: str, limits: A2uiLimits = DEFAULT_LIMITS
) -> Action:
    """The action of a click on a node, with its context read from the current data model."""
    component = surface.components.get(component_id)
    action = component.properties.get("action") if component else None
    event = action.get("event") if isinstance(action, dict) else None
    if not isinstance(event, dict) or not isinstance(event.get("name"), str):
        raise A2uiError("no_action", "", f"Component {component_id!r} has no action for the agent.")
    resolver, where = _TreeResolver(surface, limits), _scope_at(surface, scope, limits)
    context = event.get("context")
    return Action(
        name=event["name"],
        surface_id=surface.id,
        source_component_id=component_id,
        timestamp=timestamp,
        context={
            name: resolver.value(value, where) for name, value in (context.items() if isinstance(context, dict) else ())
        },
        user_message=to_text(resolver.value(event.get("userMessage"), where)),
    )


class _Scope(msgspec.Struct, frozen=True):
    """The item of the innermost template: where it is, and its number."""

    tokens: Tokens
    index: int | None


def _scope_at(surface: Surface, scope: str, limits: A2uiLimits) -> _Scope:
    try:
        tokens = pointer.parse(scope, limits)
    except pointer.PointerError as error:
        raise A2uiError(error.code, "", str(error)) from None
    around = pointer.get(surface.data_model, tokens[:-1])
    keys = _item_keys(around) if tokens else []
    return _Scope(tokens, keys.index(tokens[-1]) if tokens and tokens[-1] in keys else None)


def _item_keys(items: object) -> list[str]:
    """The keys that a template iterates over.

    An object counts as the list of its values, since 0.8 has nothing else.
    """
    if isinstance(items, list):
        return [str(index) for index in range(len(items))]
    return list(items) if isinstance(items, dict) else []


class _TreeResolver:
    def __init__(self, surface: Surface, limits: A2uiLimits) -> None:
        self._surface = surface
        self._limits = limits
        self._left = limits.nodes
        self._bytes_left = limits.tree_bytes

    def node(self, reference: Reference, scope: _Scope, depth: int) -> RenderNode:
        self._left -= 1
        where = pointer.format_pointer(scope.tokens)
        self._bytes_left -= 2 * len(where)  # of the id and of the scope
        base = RenderNode(
            id=f"{reference.component_id}@{where}" if where else reference.component_id,
            component_id=reference.component_id,
            slot=reference.slot,
            scope=where,
        )
        component = self._surface.components.get(reference.component_id)
        if component is None:
            return msgspec.structs.replace(base, state="pending")
        cut = msgspec.structs.replace(base, state="cut", type=component.type)
        if depth > self._limits.tree_depth or self._is_exhausted() or not self._is_within_budget(component.properties):
            return cut
        properties = dict(self._properties(component, scope))
        bindings = dict(self._bindings(component, scope))
        if self._is_exhausted():
            return cut
        return msgspec.structs.replace(
            base,
            type=component.type,
            properties=properties,
            bindings=bindings,
            children=tuple(self._children(component, scope, depth + 1)),
        )

    def _is_exhausted(self) -> bool:
        return self._left < 0 or self._bytes_left < 0

    def _is_within_budget(self, value: Any) -> bool:
        self._bytes_left -= size_of(value)
        return self._bytes_left >= 0

    def _children(self, component: Component, scope: _Scope, depth: int) -> Iterator[RenderNode]:
        for reference in references(component):
            for inner in self._scopes(reference, scope):
                yield self.node(reference, inner, depth)
                if self._is_exhausted():
                    return  # the last one is marked as cut; its siblings would only be more of the same

    def _scopes(self, reference: Reference, scope: _Scope) -> Iterator[_Scope]:
        """The scope itself, or for a template one for each item."""
        if reference.template_path is None:
            yield scope
            return
        tokens, items = self._lookup(reference.template_path, scope)
        for index, key in enumerate(_item_keys(items)):
            yield _Scope((*tokens, key), index)

    def _lookup(self, path: str, scope: _Scope) -> tuple[Tokens, Any]:
        try:
            tokens = pointer.scoped(path, scope.tokens, self._limits)
        except pointer.PointerError:
            return (), MISSING
        return tokens, pointer.get(self._surface.data_model, tokens)

    def _properties(self, component: Component, scope: _Scope) -> Iterator[tuple[str, Any]]:
        specs = properties_of(component.type)
        for name, value in component.properties.items():
            kind: Kind = specs[name].kind if name in specs else "static"
            if kind in ("action", "child", "children") or name == "checks":
                yield name, value
            else:
                yield name, _shaped(self.value(value, scope), kind)

    def _bindings(self, component: Component, scope: _Scope) -> Iterator[tuple[str, str]]:
        for name, value in component.properties.items():
            if _is_binding(value) and not self._is_exhausted():
                tokens, _ = self._lookup(value["path"], scope)
                place = pointer.format_pointer(tokens)
                self._bytes_left -= len(place)
                yield name, place

    def value(self, value: Any, scope: _Scope) -> Any:
        """A value with its bindings read, at any depth. Function calls stay, for the renderer, with arguments read."""
        if _is_binding(value):
            found = MISSING if self._is_exhausted() else self._lookup(value["path"], scope)[1]
            return found if found is not MISSING and self._is_within_budget(found) else None
        if isinstance(value, list):
            return [self.value(item, scope) for item in value]
        if not isinstance(value, dict):
            return value
        if value.get("call") == "@index" and scope.index is not None:
            return scope.index + self._offset(value, scope)
        return {name: self.value(item, scope) for name, item in value.items()}

    def _offset(self, call: dict[str, Any], scope: _Scope) -> int | float:
        arguments = call.get("args")
        offset = self.value(arguments.get("offset"), scope) if isinstance(arguments, dict) else 0
        return offset if isinstance(offset, (int, float)) and not isinstance(offset, bool) else 0


def _is_binding(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"path"} and isinstance(value["path"], str)


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("call"), str)


def _shaped(value: Any, kind: Kind) -> Any:
    """The value as the kind of property shows it. A missing value is an empty text, false, no choice, or no number."""
    if kind == "string":
        return value if _is_call(value) else to_text(value)
    if kind in _LABELS and isinstance(value, list):
        return [_labelled(item, _LABELS[kind]) for item in value]
    return _EMPTY.get(kind) if value is None else value


_LABELS: dict[Kind, str] = {"tabs": "title", "options": "label"}
_EMPTY: dict[Kind, Any] = {"boolean": False, "strings": []}


def _labelled(item: Any, name: str) -> Any:
    return {**item, name: _shaped(item[name], "string")} if isinstance(item, dict) and name in item else item
