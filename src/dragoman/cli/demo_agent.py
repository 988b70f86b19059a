"""A small MCP client over standard input and output: what `dragoman demo` watches. It is what any client does."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.errors import DragomanError
from dragoman.phrases import preferred_language, say

_REVISION = "2025-06-18"
_ANSWERED_WITHIN_S = 30.0
_ENDS_WITHIN_S = 5.0


class Agent:
    def __init__(self, pump: subprocess.Popen[bytes]) -> None:
        assert pump.stdin is not None
        assert pump.stdout is not None
        self._write, self._read = pump.stdin, pump.stdout.fileno()
        self._rest = b""
        self._last_id = 0

    def initialize(self) -> dict[str, Any]:
        client = {"name": "dragoman-demo", "version": __version__}
        params = {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": client}
        answer = self._request("initialize", params)
        self._send({"method": "notifications/initialized"})
        return answer

    def tools(self) -> list[str]:
        return [str(tool["name"]) for tool in self._request("tools/list", {})["tools"]]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content; also where it is an error, which is an answer like any other."""
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        content: dict[str, Any] = result.get("structuredContent") or {}
        return content

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == self._last_id and "result" in message:
                result: dict[str, Any] = message["result"]
                return result
            if message.get("id") == self._last_id:
                break
        raise went_wrong(method)

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._write.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._write.flush()
        except OSError as error:
            raise went_wrong(str(message["method"])) from error

    def _messages(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + _ANSWERED_WITHIN_S
        while select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = os.read(self._read, 1 << 16)
            if not data:
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            yield from (json.loads(line) for line in lines if line)


@contextmanager
def agent_in(workspace: Path, environment: Mapping[str, str]) -> Iterator[Agent]:
    """`dragoman mcp` as a client starts it; in a session of its own, because Ctrl-C is for us."""
    command = [sys.executable, "-P", "-m", "dragoman.cli.main", "mcp", "--workspace", str(workspace)]
    language = {"DRAGOMAN_LANG": preferred_language()}
    pump = subprocess.Popen(  # noqa: S603  our own interpreter, a list of arguments
        command,
        env={**environment, **language},
        cwd=workspace,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield Agent(pump)
    finally:
        _end(pump)


def _end(pump: subprocess.Popen[bytes]) -> None:
    """It ends when its client hangs up."""
    with pump:
        with contextlib.suppress(OSError):
            assert pump.stdin is not None
            pump.stdin.close()
        try:
            pump.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            pump.kill()


def went_wrong(what: str) -> DragomanError:
    return DragomanError(
        "demo_failed",
        say("The demo did not go as it should: {what}.", what=what),
        hint=say("`dragoman doctor` says what is wrong here; please report it if it finds nothing."),
    )
