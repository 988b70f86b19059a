"""The requests to targets that a call of the client makes, and their answers.

A call is a generator: it yields a `RequestBatch`, is resumed with the answers, and returns the reply for the client. It
knows nothing of ids, queues and deadlines, which are the router's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.protocols.jsonrpc import is_too_deep

STRUCTURED_KEY = "dragoman/structured"
"""In `_meta` of a result for a client that is sent text alone: the router needs the data."""

Reply = dict[str, Any]
"""`result` or `error`, as in a response."""


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """One request to one target."""

    target: int
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """`reply` is untrusted: it is any JSON object."""

    target: int
    reply: Reply

    @property
    def result(self) -> dict[str, Any]:
        result = self.reply.get("result")
        return result if isinstance(result, dict) else {}

    @property
    def is_error(self) -> bool:
        return "result" not in self.reply or self.result.get("isError") is True

    @property
    def is_unreached(self) -> bool:
        """The target itself said nothing: its link is down, or it did not answer in time."""
        return "result" not in self.reply

    @property
    def data(self) -> dict[str, Any]:
        """The data of a tool's result. For clients of old revisions, it is in the text alone."""
        meta = self.result.get("_meta")
        hidden = meta.get(STRUCTURED_KEY) if isinstance(meta, dict) else None
        for data in (self.result.get("structuredContent"), hidden, _json_object(self.text)):
            if isinstance(data, dict):
                return data
        return {}

    @property
    def text(self) -> str:
        error = self.reply.get("error")
        if isinstance(error, dict):
            return str(error.get("message", ""))
        content = self.result.get("content")
        parts = [it.get("text") for it in content if isinstance(it, dict)] if isinstance(content, list) else []
        return "\n".join(it for it in parts if isinstance(it, str))

    @property
    def code(self) -> str:
        """The stable code of an error."""
        error = self.reply.get("error")
        meta = self.result.get("_meta")
        named = meta.get("dragoman/error") if isinstance(meta, dict) else None
        for place in (error.get("data") if isinstance(error, dict) else None, named, self.data):
            if isinstance(place, dict) and isinstance(place.get("code"), str):
                return str(place["code"])
        return ""


def _json_object(text: str) -> object:
    """Its nesting is not that of the line in which the text came."""
    try:
        return json.loads(text) if text.startswith("{") and not is_too_deep(text.encode(errors="replace")) else None
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """`enough` says which answer ends the waiting for the others, which are then cancelled; None waits for all."""

    requests: Sequence[TargetRequest]
    enough: Callable[[Answer], bool] | None = None
    within_s: float | None = None
    cancels_rest: bool = True


Script = Generator[RequestBatch, list[Answer], Reply]


def error_reply(code: int, message: str, ours: str) -> Reply:
    return {"error": {"code": code, "message": message, "data": {"code": ours}}}


def tool_failure(code: str, text: str) -> Reply:
    """An error that the model reads, as the daemon writes one."""
    meta = {"dragoman/error": {"code": code, "message": text, "hint": ""}}
    return {"result": {"content": [{"type": "text", "text": f"{code}: {text}"}], "isError": True, "_meta": meta}}
