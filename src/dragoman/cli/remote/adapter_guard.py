"""Between a local editor and a debug adapter on another machine: only responses and events of that machine pass.

The Debug Adapter Protocol lets an adapter ask its editor to run a command (`runInTerminal`, `startDebugging`). For an
adapter on another machine, that command would run here. So every message of the far side is framed and written again
with the members that a response or an event has, and every request of it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.dap.framing import FrameReader, frame
from dragoman.protocols.jsonrpc import has_too_many_parts, is_too_deep

_MAX_BODY = 16 << 20
_MEMBERS = {
    "response": ("seq", "type", "request_seq", "success", "command", "message", "body"),
    "event": ("seq", "type", "event", "body"),
}
_OFFERS = ("supportsRunInTerminalRequest", "supportsStartDebuggingRequest")
_MAX_REFUSALS = 100
"""An honest daemon sends no request over `--on`. One that goes on and on does not read the refusals either."""


class AdapterGuard:
    """Bytes of the editor and of the far side, in any chunks. It raises RemoteProtocolError where the far side sends
    what is no message; nothing behind that can be trusted.
    """

    def __init__(self) -> None:
        self._editor = FrameReader(_MAX_BODY)
        self._far = FrameReader(_MAX_BODY)
        self._refused = 0
        self._is_editor_framed = True
        self._refusals = bytearray()

    def to_far(self, data: bytes) -> bytes:
        """Whole messages of the editor. What is none goes on as it is: the daemon there says what is wrong with it."""
        if not self._is_editor_framed:
            return data
        self._editor.feed(data)
        passed = bytearray()
        try:
            while (body := self._editor.next_body()) is not None:
                passed += frame(_without_offers(body) if b"initialize" in body else body)
        except RemoteProtocolError:
            self._is_editor_framed = False
            passed += self._editor.take_unread()
        return bytes(passed)

    def to_near(self, data: bytes) -> bytes:
        self._far.feed(data)
        return b"".join(self._far_frames())

    def take_refusals(self) -> bytes:
        """For the far side, to be sent between two messages of the editor."""
        taken, self._refusals = bytes(self._refusals), bytearray()
        return taken if self._is_editor_framed else b""

    def _far_frames(self) -> Iterator[bytes]:
        while (body := self._far.next_body()) is not None:
            message = _decoded(body)
            members = _MEMBERS.get(message.get("type", ""))
            if members is not None:
                yield _encoded({name: message[name] for name in members if name in message})
            elif message.get("type") == "request":
                self._refuse(message)
            else:
                raise RemoteProtocolError("unknown_type", "a message is neither a response nor an event")

    def _refuse(self, request: Mapping[str, Any]) -> None:
        self._refused += 1
        if self._refused > _MAX_REFUSALS:
            raise RemoteProtocolError("too_many_requests", "a debug adapter of another machine may request nothing")
        answer = {
            "seq": 0,
            "type": "response",
            "request_seq": request.get("seq"),
            "success": False,
            "command": request.get("command"),
            "message": "not available over --on",
        }
        self._refusals += _encoded(answer)


def _without_offers(body: bytes) -> bytes:
    """`initialize` without what the editor would do at the request of an adapter."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(request, dict) or request.get("command") != "initialize":
        return body
    arguments = request.get("arguments")
    given = arguments if isinstance(arguments, dict) else {}
    return json.dumps({**request, "arguments": {**given, **dict.fromkeys(_OFFERS, False)}}).encode()


def _decoded(body: bytes) -> dict[str, Any]:
    if is_too_deep(body) or has_too_many_parts(body):
        raise RemoteProtocolError("too_large", "a message has too many parts")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise RemoteProtocolError("not_json", "a message is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise RemoteProtocolError("not_a_message", "a message has no type")
    return message


def _encoded(message: Mapping[str, Any]) -> bytes:
    """Written again, so that no reader finds another message in it than this one did."""
    try:
        return frame(json.dumps(message, separators=(",", ":"), allow_nan=False).encode())
    except (ValueError, RecursionError):
        raise RemoteProtocolError("not_json", "a message is not JSON") from None
