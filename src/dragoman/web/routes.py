"""The route table. Each route states who it is for and the token it wants; None is without one, and still guarded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from dragoman.access.guard import Room
from dragoman.access.tokens import Purpose


@dataclass(frozen=True, slots=True)
class Gate:
    route: BaseRoute
    purpose: Purpose | None
    room: Room = "programs"
    is_immutable: bool = False
    """What is there once stays as it is: its name is made of its content."""


class RouteTable:
    """Everything that can be called, in one place that a test can walk."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self._gates = tuple(gates)

    def __iter__(self) -> Iterator[Gate]:
        return iter(self._gates)

    @property
    def routes(self) -> list[BaseRoute]:
        return [gate.route for gate in self._gates]

    def gate_of(self, scope: Scope) -> Gate | None:
        """Also for a method the route does not serve: whether it exists is not told without its token."""
        return next((gate for gate in self._gates if gate.route.matches(scope)[0] is not Match.NONE), None)
