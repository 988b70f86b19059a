"""The client on whose behalf something is done, for every layer: tools, debugging, servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.core.localization import Language, LocalizedText

# Seconds waited, seconds at most, and what for.
Progress = Callable[[float, float, LocalizedText], Awaitable[None]]

RunInTerminal = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""DAP's request of that name: arguments in, the answer's body out."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The client on whose behalf a tool or a debug session runs: who it is, where it works and what it may see.

    The environment is for programs that are started for the caller. It is never logged, never written to the journal,
    and not part of the repr.
    """

    id: str
    workspace: Path
    cwd: Path
    language: Language = "en"
    name: str = ""
    """What the client calls itself, where it says so: for people, and proof of nothing."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    """Whether a person started this client in the workspace, and so said that what it holds may run."""
    conversation: str = ""
    """The session of the chat whose run calls, where one does."""
    reconnected: bool = False
    """Whether its daemon went and this is the next one: sessions it knows of have ended."""
    sees_every_workspace: bool = False
    """Whether a person asked for the record of every folder: at the command line or on the page, never by a tool."""
    progress: Progress | None = field(default=None, repr=False, compare=False)
    """Of this one call, where a face can show it."""
    terminal: RunInTerminal | None = field(default=None, repr=False, compare=False)
    """Where it has one of its own for programs that want one."""
    moved: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Folders that were made for this call, and what each stands for: what was approved is the same in the next."""

    @property
    def link(self) -> str:
        """Of the one that is shown stops and has terminals: each conversation of a chat is a client by itself."""
        return f"{self.id}/{self.conversation}" if self.conversation else self.id

    @property
    def place(self) -> str:
        return str(self.workspace)

    @property
    def record_workspace(self) -> str | None:
        """The folder that what it finds in the record belongs to; None where it may find all of it."""
        return None if self.sees_every_workspace else self.place
