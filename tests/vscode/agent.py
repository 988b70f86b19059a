"""An agent at the daemon of the editor: calls tools as one does, in a folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import PATIENCE, call
from tests.vscode.editor import Editor


@dataclass
class Agent:
    link: ControlClient

    def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer = self.link.call("call", {"tool": name, "arguments": arguments}, within_s=30 * PATIENCE)
        assert not answer.get("is_error"), answer
        data: dict[str, Any] = answer["data"]
        return data


@contextmanager
def agent(editor: Editor, folder: Path) -> Iterator[Agent]:
    """A person trusts the folder; the agent is let go at the end, what it started is ended."""
    call(editor.cli.paths, "trust_add", {"folder": str(folder)})
    about = {"workspace": str(folder), "cwd": str(folder), "environment": dict(os.environ)}
    with ControlClient.open(editor.cli.paths, role="tools", about=about) as link:
        yield Agent(link)


def refused(it: Agent, name: str, /, **arguments: Any) -> str:
    answer = it.link.call("call", {"tool": name, "arguments": arguments}, within_s=30 * PATIENCE)
    assert answer.get("is_error"), answer
    return str(answer["data"]["code"])


class Later:
    """A call that waits for the person, made beside the person."""

    def __init__(self, editor: Editor, folder: Path, name: str, /, **arguments: Any) -> None:
        self.answer: dict[str, Any] = {}

        def run() -> None:
            with agent(editor, folder) as it:
                self.answer = it.link.call("call", {"tool": name, "arguments": arguments}, within_s=60 * PATIENCE)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def data(self) -> dict[str, Any]:
        self._thread.join(30 * PATIENCE)
        assert self.answer, "no answer came"
        found: dict[str, Any] = self.answer["data"]
        return found
