"""What travels on the daemon's socket.

A client says `Hello` and is answered `Welcome`. With the role `control` it then makes calls: each gets any number of
items and exactly one answer or failure, all with the call's id. With another role the socket changes hands after the
welcome (`mcp`: JSON-RPC lines).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Hello:
    role: str
    version: str
    language: str = "en"
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the role needs: for `mcp` the workspace, the working folder, the environment and the client's process."""


@dataclass(frozen=True, slots=True)
class Welcome:
    version: str
    pid: int
    instance: str = ""
    """Of this start of the daemon: no other has had it, or will."""


@dataclass(frozen=True, slots=True)
class Call:
    id: int
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Answer:
    id: int
    result: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """Text in the language of the hello. Id 0 is about the connection itself."""

    id: int
    code: str
    message: str
    hint: str = ""
