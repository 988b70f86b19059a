"""An agent at the daemon of the editor: calls tools as one does, in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.transport.control_link import ControlLink
from tests.daemons import PATIENCE, call
from tests.vscode.editor import Editor


@dataclass
class Agent:
    link: ControlLink

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = self.link.call("call", {"tool": name, "arguments": arguments}, within_s=30 * PATIENCE)
        assert not answer.get("is_error"), answer
        data: dict[str, Any] = answer["data"]
        return data


@contextmanager
def agent(editor: Editor, folder: Path) -> Iterator[Agent]:
    """A person trusts the folder; the agent is let go at the end, what it started is ended."""
    call(editor.cli.places, "trust_add", {"folder": str(folder)})
    about = {"workspace": str(folder), "cwd": str(folder), "environment": dict(os.environ)}
    with ControlLink.open(editor.cli.places, role="tools", about=about) as link:
        yield Agent(link)
