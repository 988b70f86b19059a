"""The methods about sessions as a gateway spells them: `sessions.list` and `sessions.create` at real ones,
`session.list` and `session.create` in the protocol document."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Raw, UnsetType

from dragoman.chat.faults import RequestFailedError, unreadable

Ask = Callable[[str, Any, float], Awaitable[Raw | UnsetType]]

_AGENT = "main"
_NAMES = ("key", "sessionKey", "id")
"""What a row's key may be called: the document shows no row."""
_UNKNOWN_METHOD = re.compile(r"(?i)method|unknown|not.?found|not.?implemented|unsupported|no such|32601|未知|不支持")


@dataclass(frozen=True, slots=True)
class Documented:
    """A method in the document's words: what is asked with, and its answer as a real gateway would give it."""

    method: str
    params: Callable[[Mapping[str, Any]], dict[str, Any]]
    answer: Callable[[Mapping[str, Any], Any], dict[str, Any]]


def _listed(_: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    rows = answer.get("sessions") if isinstance(answer, dict) else answer
    if not isinstance(rows, list):
        raise unreadable()
    return {"sessions": [it for row in rows if (it := _row(row)) is not None]}


def _row(row: Any) -> dict[str, Any] | None:
    """With what a list shows, and nothing of another type than a reader expects."""
    told = row if isinstance(row, dict) else {"key": row}
    key = next((told[name] for name in _NAMES if isinstance(told.get(name), str) and told[name]), None)
    if key is None:
        return None
    titles = (told.get(name) for name in ("displayName", "label", "title", "name"))
    name = next((it for it in titles if isinstance(it, str) and it), key)
    updated = told.get("updatedAt")
    return {
        "key": key,
        "displayName": name,
        "updatedAt": updated if isinstance(updated, int | float) else None,
        "hasActiveRun": told.get("hasActiveRun") is True,
    }


def _new_session(given: Mapping[str, Any]) -> dict[str, Any]:
    key, agent = given.get("key") or f"acp:{uuid4()}", given.get("agentId") or given.get("agent") or _AGENT
    return {"key": key, "agent": agent}


def _made(asked: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """The document shows no answer: the key that we chose is the session's, unless the gateway names another."""
    told = answer if isinstance(answer, dict) else {}
    return {**told, "ok": True, "key": next((told[it] for it in _NAMES if isinstance(told.get(it), str)), asked["key"])}


_DOCUMENTED: Mapping[str, Documented] = {
    "sessions.list": Documented("session.list", lambda _: {}, _listed),
    "sessions.create": Documented("session.create", _new_session, _made),
}


class SessionMethods:
    """Of one connection: which spelling its gateway knows is found out once."""

    def __init__(self) -> None:
        self._is_documented = False

    async def request(self, ask: Ask, method: str, params: Any, timeout_s: float) -> Raw | UnsetType:
        """Whatever the gateway calls an unknown method, it refuses it: then the other spelling is tried."""
        documented = _DOCUMENTED.get(method)
        if documented is None:
            return await ask(method, params, timeout_s)
        first: RequestFailedError | None = None
        if not self._is_documented:
            try:
                return await ask(method, params, timeout_s)
            except RequestFailedError as refused:
                first = refused
        asked = documented.params(_read_params(params))
        try:
            answer = await ask(documented.method, asked, timeout_s)
        except RequestFailedError as second:
            raise _telling(first, second) if first else second from None
        self._is_documented = True
        return Raw(msgspec.json.encode(documented.answer(asked, _read_answer(answer))))


def _read_params(params: Any) -> dict[str, Any]:
    """As our callers give them: an object, or one that is already written."""
    try:
        given = msgspec.json.decode(params) if isinstance(params, Raw) else params
    except (msgspec.DecodeError, RecursionError):
        given = None
    return dict(given) if isinstance(given, Mapping) else {}


def _read_answer(answer: Raw | UnsetType) -> Any:
    try:
        return {} if isinstance(answer, UnsetType) else msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        raise unreadable() from None


def _telling(first: RequestFailedError, second: RequestFailedError) -> RequestFailedError:
    """Of two refusals, the one that says more than that the method is unknown."""
    return second if _is_unknown_method(first) and not _is_unknown_method(second) else first


def _is_unknown_method(refused: RequestFailedError) -> bool:
    return _UNKNOWN_METHOD.search(f"{refused.error.code} {refused.error.message}") is not None
