"""Who is at the other end, as far as that is known before it speaks the protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dragoman.debug.wishes import Client, RunInTerminal
from dragoman.phrases import Language
from dragoman.wire.control import Hello


@dataclass(frozen=True, slots=True)
class Guest:
    """The environment is for the programs that it starts: never logged, never journalled."""

    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    language: Language = "en"
    session: str = ""
    """The one that it was started for, where it was."""
    read_only: bool = False

    @classmethod
    def of(cls, hello: Hello) -> Guest:
        """Everything here came from another process: what is not of the right kind is left out."""
        about = hello.about
        environment = about.get("environment")
        session = about.get("session")
        return cls(
            workspace=_path(about.get("workspace")),
            cwd=_path(about.get("cwd")),
            environment=_texts(environment) if isinstance(environment, dict) else {},
            language="zh" if hello.language == "zh" else "en",
            session=session if isinstance(session, str) else "",
            read_only=about.get("read_only") is True,
        )

    def client(self, id: str, workspace: Path | None = None, terminal: RunInTerminal | None = None) -> Client:
        place = workspace or self.workspace
        return Client(id, place, self.cwd, self.environment, trusts_workspace=_is_own(place), terminal=terminal)

    def at(self, workspace: object) -> Guest:
        """In the folder that its configuration names."""
        found = _path(workspace)
        return self if found == Path("/") else replace(self, workspace=found, cwd=found)


def _is_own(workspace: Path) -> bool:
    """A person opened it in an editor. A folder of another user's is that one's word; nor is the root anybody's."""
    try:
        return workspace != workspace.parent and workspace.stat().st_uid == os.getuid()
    except OSError:
        return False


def _path(value: object) -> Path:
    return Path(value) if isinstance(value, str) and value.startswith("/") and "\0" not in value else Path("/")


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}
