"""The client on whose behalf something is done, for every layer: tools, debugging, servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.core.localization import Language, LocalizedText
from dragoman.core.safe_text import printable

_MAX_TARGET = 300


@dataclass(frozen=True, slots=True)
class RemoteCaller:
    """Every value comes from the other machine: one of the wrong type is left out."""

    target: str = ""
    """The name by which the caller's machine knows this one, such as `ssh:build1`: for texts that the caller reads."""
    allows_stop: bool = False
    """Whether the person there gave `--allow-stop`: it may halt programs that were running before it came."""

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> RemoteCaller | None:
        """None for a caller on this machine. `dragoman pipe` alone sets `remote`; a caller cannot take it away."""
        if about.get("remote") is not True:
            return None
        target = about.get("target")
        name = printable(target)[:_MAX_TARGET] if isinstance(target, str) else ""
        return cls(name, allows_stop=about.get("allow_stop") is True)


PAGE_ON_OTHER_MACHINE: ContextVar[RemoteCaller | None] = ContextVar("page_on_other_machine", default=None)
"""Set in all that a page does which `page --on` shows on another machine, and in the runs of its chat."""


# Seconds waited, the limit in seconds, and what the call waits for.
Progress = Callable[[float, float, LocalizedText], Awaitable[None]]

RunInTerminal = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""A DAP reverse request (runInTerminal): arguments in, response body out."""


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
    """The client's own name for itself: for display, not proof of anything."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    """Whether a user started this client in the workspace, which counts as trust in it."""
    is_agent: bool = False
    """Whether an agent calls, and no person at the page, in an editor or at a shell. A person can pause all agents."""
    remote: RemoteCaller | None = None
    """The client runs on another machine; None for this one."""
    conversation: str = ""
    """The chat session of the run that makes this call, if any."""
    reconnected: bool = False
    """Whether the client was connected to an earlier daemon, so that sessions it knows have ended."""
    is_shared: bool = False
    """Whether several readers call under this id, such as all shells: one has not seen what another was shown."""
    sees_every_workspace: bool = False
    """Whether the user asked for the record of every folder, on the command line or the page; tools cannot ask."""
    progress: Progress | None = field(default=None, repr=False, compare=False)
    """Reports progress of this call, if the client can show it."""
    terminal: RunInTerminal | None = field(default=None, repr=False, compare=False)
    """Runs a program in the client's own terminal, if it has one."""
    moved: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Temporary folders of this call, with the folder each stands for, so that an approval also covers the next call.
    """

    @property
    def link(self) -> str:
        """The client for stops and terminals: each conversation of a chat is a client of its own."""
        return f"{self.id}/{self.conversation}" if self.conversation else self.id

    @property
    def workspace_key(self) -> str:
        return str(self.workspace)

    @property
    def may_halt_attached(self) -> bool:
        """Whether it may halt programs that ran before it came. On another machine, a person must allow that."""
        return self.remote is None or self.remote.allows_stop

    @property
    def record_workspace(self) -> str | None:
        """The folder that limits results from the journal; None for all."""
        return None if self.sees_every_workspace else self.workspace_key
