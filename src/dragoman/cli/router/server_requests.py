"""Requests of the targets to the client, such as to fill in a form. Their ids and progress tokens cannot collide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.protocols.jsonrpc import Id, as_id

MAX_SERVER_REQUESTS = 32
"""Open ones per target."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    target: int
    id: Id
    token: Any


class ServerRequests:
    def __init__(self, targets: int) -> None:
        self._open: dict[Id, ServerRequest] = {}
        self._targets = range(targets)

    def forward(self, target: int, message: Mapping[str, Any], new_id: Callable[[], int]) -> dict[str, Any] | None:
        """The request under an id of ours; None if the target has too many open."""
        request_id = as_id(message.get("id"))
        if request_id is None or sum(it.target == target for it in self._open.values()) >= MAX_SERVER_REQUESTS:
            return None
        number = new_id()
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        self._open[number] = ServerRequest(target, request_id, token)
        forwarded = {**message, "id": number}
        if token is not None and isinstance(params, dict) and isinstance(meta, dict):
            forwarded["params"] = {**params, "_meta": {**meta, "progressToken": number}}
        return forwarded

    def close(self, number: Id) -> tuple[int, Id] | None:
        """The target of the request that this answers, and its id there; once."""
        found = self._open.pop(number, None)
        return (found.target, found.id) if found else None

    def progress(self, params: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        number = as_id(params.get("progressToken"))
        found = self._open.get(number) if number is not None else None
        if found is not None and found.token is not None:
            yield found.target, {**params, "progressToken": found.token}

    def withdraw(self, target: int, request_id: Id | None) -> Id | None:
        """Our id of a request that its target cancels."""
        number = next(
            (it for it, request in self._open.items() if (request.target, request.id) == (target, request_id)), None
        )
        if number is not None:
            del self._open[number]
        return number
