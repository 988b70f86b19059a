"""An MCP client of a `dragoman mcp` process."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.daemons import Cli


class StdioAgent:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._last = 0
        self.ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def begin(self, method: str, params: dict[str, Any]) -> None:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._last:
                return answer

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.begin(method, params)
        return self.answer()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that has to succeed."""
        answer = self.call(tool, **arguments)
        assert "result" in answer, answer
        assert not answer["result"].get("isError"), answer
        data: dict[str, Any] = answer["result"]["structuredContent"]
        return data


@contextlib.contextmanager
def stdio_agent(cli: Cli, *options: str, cwd: Path | None = None) -> Iterator[StdioAgent]:
    with subprocess.Popen(
        cli.command("mcp", *options),
        env=cli.variables(),
        cwd=cwd,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield StdioAgent(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)
