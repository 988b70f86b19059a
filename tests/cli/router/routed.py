"""A router between a client and targets of the test: lines in, lines out, and a clock that the test moves."""

from __future__ import annotations

import json
from typing import Any

from dragoman.cli.router.router import Router

NAMES = ("ssh:a", "ssh:b", "local")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


class ScriptedTarget:
    def __init__(self) -> None:
        self.is_connected = True
        self.is_full = False
        self.failure: tuple[str, str] | None = None
        self.searches = 0
        self.lines: list[bytes] = []

    def send(self, line: bytes) -> None:
        self.lines.append(line)

    def search(self) -> None:
        self.searches += 1

    def taken(self) -> list[dict[str, Any]]:
        """What it was sent since the last look, without the answers to pings of nobody."""
        lines, self.lines = self.lines, []
        return [json.loads(line) for line in lines]


class Routed:
    def __init__(self, names: tuple[str, ...] = NAMES, *, begins: bool = True) -> None:
        self.now = 0.0
        self.targets = [ScriptedTarget() for _ in names]
        self.router = Router(names, self.targets, lambda: self.now)
        self._last = 0
        if begins:
            self.begin()

    # The client.

    def send(self, message: dict[str, Any]) -> None:
        self.router.receive_from_client(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self._last

    def call(self, tool: str, **arguments: Any) -> int:
        return self.request("tools/call", name=tool, arguments=arguments)

    def received(self) -> list[dict[str, Any]]:
        data = b""
        while self.router.to_client:
            head = bytes(self.router.to_client.head())
            self.router.to_client.took(len(head))
            data += head
        return [json.loads(line) for line in data.splitlines()]

    def result(self) -> dict[str, Any]:
        [message] = self.received()
        result: dict[str, Any] = message["result"]
        return result

    # The targets.

    def sent_to(self, target: int) -> dict[str, Any]:
        [message] = self.targets[target].taken()
        return message

    def emit(self, target: int, message: dict[str, Any]) -> None:
        self.router.receive_from_target(target, json.dumps({"jsonrpc": "2.0", **message}).encode())

    def answer(self, target: int, request: dict[str, Any], data: dict[str, Any], text: str = "text") -> None:
        self.emit(target, {"id": request["id"], "result": tool_result(data, text)})

    def fail(self, target: int, request: dict[str, Any], code: str, text: str = "it failed") -> None:
        """As the relay does when the link is lost."""
        self.emit(target, {"id": request["id"], "error": {"code": -32010, "message": text, "data": {"code": code}}})

    def refuse(self, target: int, request: dict[str, Any], code: str) -> None:
        data = {"status": "error", "code": code, "message": code}
        self.emit(target, {"id": request["id"], "result": {**tool_result(data, code), "isError": True}})

    def answer_all(self, **data: dict[str, Any]) -> None:
        """Every request that is open at a target, by the name of the tool; an empty object for others."""
        for target, side in enumerate(self.targets):
            for request in side.taken():
                if "id" in request:
                    self.answer(target, request, data.get(request["params"].get("name", ""), {}))

    # Common openings.

    def begin(self) -> None:
        self.request("initialize", **INITIALIZE)
        for target, side in enumerate(self.targets):
            [request] = side.taken()
            self.emit(target, {"id": request["id"], "result": {"protocolVersion": "2025-06-18", "instructions": "I."}})
        self.send({"method": "notifications/initialized"})
        for side in self.targets:
            side.taken()
        self.received()

    def start(self, target: int, session_id: str, *, state: str = "Running") -> None:
        self.call("start_debugging", program="", target=NAMES[target])
        self.answer(target, self.sent_to(target), {"status": "success", "session_id": session_id, "state": state})
        self.received()


def tool_result(data: dict[str, Any], text: str = "text") -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "structuredContent": data}


def stopped(session_id: str, number: int = 1) -> dict[str, Any]:
    stop = {"session_id": session_id, "stop_number": number}
    return {"status": "stopped", "session_id": session_id, "state": "Stopped", "stop_event_data": stop}


def sessions(*rows: tuple[str, str, int]) -> dict[str, Any]:
    listed = [{"session_id": id, "state": state, "stop_number": number, "active": False} for id, state, number in rows]
    return {"status": "success", "sessions": listed}
