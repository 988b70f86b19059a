"""Who asks for a program, what is asked for, and what is ready to be started for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from dragoman.debug.backend import Backend
from dragoman.debug.launch.notes import Note
from dragoman.debug.opening import Launch

if TYPE_CHECKING:
    from dragoman.debug.session import Session

_BEGUN_WITHIN_S = 5.0

RunInTerminal = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""DAP's request of that name: arguments in, the answer's body out."""


@dataclass(frozen=True, slots=True)
class Client:
    """On whose behalf. The environment is for the programs it starts: never logged, never journalled."""

    id: str
    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    """Whether a person started this client in the workspace, and so said that what it holds may run."""
    name: str = ""
    """What it calls itself: for people, and proof of nothing."""
    link: str = ""
    """Which of those that go by its id: each conversation of a chat is shown stops of its own."""
    terminal: RunInTerminal | None = field(default=None, repr=False, compare=False)
    """Where it has one of its own for programs that want one."""
    moved: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Folders that were made for this call, and what each stands for: what was approved is the same in the next."""

    @property
    def place(self) -> str:
        return str(self.workspace)


@dataclass(frozen=True, slots=True)
class Wish:
    """What to debug: a configuration by name or in full, or just a program."""

    configuration_name: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    process_id: int | None = None
    file: str = ""
    """What `${file}` stands for: in an editor, the file that is open."""
    from_editor: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By its name, such as `command:pick`, what a variable stands for that an editor was asked about."""
    no_debug: bool = False
    stdin: str | None = None
    """What the program reads, then the end of input. None: nothing to read."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A backend that is ready to be spoken to, and what to tell it."""

    title: str
    backend: Backend
    launch: Launch
    wish: Wish
    """What starts this one alone again."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Told in the first answer: which interpreter, which adapter."""
    notes: tuple[Note, ...] = ()
    """Told there as well: what of the configuration may not be as it was meant."""
    afterwards: Callable[[], Awaitable[None]] | None = None
    """What the configuration wants done when the session has ended."""
    takes_its_time: bool = False
    """Tasks run first, or a program is yet to come: nobody is kept until it has begun."""
    hold: anyio.Event | None = None
    """Its program does not start before that is set: whoever asked for it sets breakpoints meanwhile."""
    newcomers: AsyncIterator[Prepared] | None = None
    """Programs that come to where this one came: each is a session of its own, as long as one of them lives."""
    made: Callable[[Session], None] | None = None
    """Told the session that it became, before that begins."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Several sessions for a compound, otherwise one."""

    sessions: tuple[Prepared, ...]
    stop_all: bool = False
    """The end of one ends the others."""

    @property
    def begun_unawaited_within_s(self) -> float:
        """For whoever does not wait: that it runs, or why not, is worth a moment, unless that takes its time."""
        return begun_unawaited_within_s(self.sessions)


def begun_unawaited_within_s(sessions: Sequence[Prepared]) -> float:
    return 0.0 if any(it.takes_its_time for it in sessions) else _BEGUN_WITHIN_S


@dataclass(frozen=True, slots=True)
class Disclosed:
    """What a wish would run, for the person who is asked, and the digest of everything that decides it."""

    would_run: tuple[Mapping[str, Any], ...]
    digest: str


class Starter(Protocol):
    """Turns a wish into backends: the launch file, its tasks, the adapter's table, the processes."""

    async def prepare(self, client: Client, wish: Wish) -> Preparation: ...

    async def disclose(self, client: Client, wish: Wish) -> Disclosed:
        """Nothing runs for it; what is not trusted is refused here as well."""
        ...

    def approve(self, starts: Sequence[Disclosed]) -> None:
        """Several at once, before the first is prepared. Raises where nobody has approved exactly these."""
        ...
