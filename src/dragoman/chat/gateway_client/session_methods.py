"""The session methods as a gateway spells them: `sessions.list` and `sessions.create` at real gateways,
`session.list` and `session.create` in the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Raw, UnsetType

from dragoman.chat.errors import GatewayRequestError, unreadable_answer

SendRequest = Callable[[str, Any, float], Awaitable[Raw | UnsetType]]

_AGENT = "main"
_NAMES = ("key", "sessionKey", "id")
"""The names that a row's key may have: the document shows no row."""
_UNKNOWN_METHOD = re.compile(r"(?i)method|unknown|not.?found|not.?implemented|unsupported|no such|32601|未知|不支持")


@dataclass(frozen=True, slots=True)
class DocumentedMethod:
    """A method in the document's form: its params, and its response converted to that of a real gateway."""

    method: str
    params: Callable[[Mapping[str, Any]], dict[str, Any]]
    answer: Callable[[Mapping[str, Any], Any], dict[str, Any]]


def _listed(_: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    rows = answer.get("sessions") if isinstance(answer, dict) else answer
    if not isinstance(rows, list):
        raise unreadable_answer()
    return {"sessions": [it for row in rows if (it := _row(row)) is not None]}


def _row(row: Any) -> dict[str, Any] | None:
    """The members that a list shows. Values of an unexpected type are left out."""
    fields = row if isinstance(row, dict) else {"key": row}
    key = next((fields[name] for name in _NAMES if isinstance(fields.get(name), str) and fields[name]), None)
    if key is None:
        return None
    titles = (fields.get(name) for name in ("displayName", "label", "title", "name"))
    name = next((it for it in titles if isinstance(it, str) and it), key)
    updated = fields.get("updatedAt")
    return {
        "key": key,
        "displayName": name,
        "updatedAt": updated if isinstance(updated, int | float) else None,
        "hasActiveRun": fields.get("hasActiveRun") is True,
    }


def _new_session(given: Mapping[str, Any]) -> dict[str, Any]:
    key, agent = given.get("key") or f"acp:{uuid4()}", given.get("agentId") or given.get("agent") or _AGENT
    return {"key": key, "agent": agent}


def _created(params: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """The document shows no response: the session has the key that Dragoman chose, unless the gateway names another."""
    fields = answer if isinstance(answer, dict) else {}
    return {
        **fields,
        "ok": True,
        "key": next((fields[it] for it in _NAMES if isinstance(fields.get(it), str)), params["key"]),
    }


_DOCUMENTED: Mapping[str, DocumentedMethod] = {
    "sessions.list": DocumentedMethod("session.list", lambda _: {}, _listed),
    "sessions.create": DocumentedMethod("session.create", _new_session, _created),
}


class SessionMethods:
    """The session methods of one connection. Which spelling its gateway knows is found out once."""

    def __init__(self) -> None:
        self._is_documented = False

    async def request(self, ask: SendRequest, method: str, params: Any, timeout_s: float) -> Raw | UnsetType:
        """Send a request.

        A gateway refuses an unknown method with any code, so the other spelling is tried after a refusal.
        """
        documented = _DOCUMENTED.get(method)
        if documented is None:
            return await ask(method, params, timeout_s)
        first: GatewayRequestError | None = None
        if not self._is_documented:
            try:
                return await ask(method, params, timeout_s)
            except GatewayRequestError as refused:
                first = refused
        documented_params = documented.params(_read_params(params))
        try:
            answer = await ask(documented.method, documented_params, timeout_s)
        except GatewayRequestError as second:
            raise _more_informative(first, second) if first else second from None
        self._is_documented = True
        return Raw(msgspec.json.encode(documented.answer(documented_params, _read_answer(answer))))


def _read_params(params: Any) -> dict[str, Any]:
    """The params as callers give them: an object, or encoded JSON."""
    try:
        given = msgspec.json.decode(params) if isinstance(params, Raw) else params
    except (msgspec.DecodeError, RecursionError):
        given = None
    return dict(given) if isinstance(given, Mapping) else {}


def _read_answer(answer: Raw | UnsetType) -> Any:
    try:
        return {} if isinstance(answer, UnsetType) else msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        raise unreadable_answer() from None


def _more_informative(first: GatewayRequestError, second: GatewayRequestError) -> GatewayRequestError:
    """Of two refusals, the one that says more than "unknown method"."""
    return second if _is_unknown_method(first) and not _is_unknown_method(second) else first


def _is_unknown_method(refused: GatewayRequestError) -> bool:
    return _UNKNOWN_METHOD.search(f"{refused.error.code} {refused.error.message}") is not None
