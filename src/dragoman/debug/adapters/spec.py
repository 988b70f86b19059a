"""What there is to know about an adapter, as data and two small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dragoman.debug.dialect import Dialect
from dragoman.transport.command import Command


@dataclass(frozen=True, slots=True)
class Situation:
    """What an adapter is started for: a resolved configuration, on behalf of a client."""

    request: str
    arguments: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    """The client's, with the configuration's on top: what the program gets."""
    workspace: Path


@dataclass(frozen=True, slots=True)
class AdapterSpec:
    name: str
    types: frozenset[str]
    """The `type` names that people have in launch.json."""
    adapter_id: str
    transport: Literal["stdio", "tcp"]
    command: Callable[[Situation], Command]
    arguments: Callable[[Situation], dict[str, Any]]
    dialect: Dialect = field(default_factory=Dialect)
    exception_filters: tuple[str, ...] = ()
    """Switched on unless a client says otherwise: what stops at an uncaught exception."""
