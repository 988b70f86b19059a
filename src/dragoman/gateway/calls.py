"""A call on the gateway: who asks, what a method is, and how it says no."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from dragoman.phrases import Language
from dragoman.wire.gateway import GatewayError

Json = Any
NODE = ""
"""In the place of a scope: for those who connected as a node, and for nobody else."""


class Asker(Protocol):
    """Who calls: what a method may know of a connection."""

    id: str

    @property
    def name(self) -> str: ...

    @property
    def is_person(self) -> bool:
        """By its token: that of the page, which the editor holds too."""
        ...

    @property
    def surfaces_told(self) -> Set[str]:
        """Names of the surfaces that it was told of as a client of the protocol document."""
        ...

    @property
    def follows_document(self) -> bool:
        """It knows the protocol by its document alone: sessions keep the keys that it chose."""
        ...

    @property
    def language(self) -> Language:
        """In which it is answered."""
        ...

    def subscribe_sessions(self) -> None: ...

    def subscribe_messages(self, key: str) -> None: ...


class MethodError(Exception):
    def __init__(self, error: GatewayError) -> None:
        super().__init__(error.message)
        self.error = error


def invalid(message: str) -> MethodError:
    return MethodError(GatewayError(code="INVALID_REQUEST", message=message))


def unavailable(message: str, *, retryable: bool | None = None) -> MethodError:
    return MethodError(GatewayError(code="UNAVAILABLE", message=message, retryable=retryable))


@dataclass(frozen=True, slots=True)
class Method:
    scope: str
    takes: type[msgspec.Struct]
    run: Callable[[Asker, Any], Awaitable[Json]]
