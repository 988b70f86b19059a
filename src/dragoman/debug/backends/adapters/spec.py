"""AdapterSpec describes one debug adapter as data: how to start it, what to send it, and how it differs from others."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from anyio.abc import TaskGroup

from dragoman.debug.backends.port import Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.supervisor_pool import SupervisorPool

_TERMINAL_CONSOLES = frozenset({"integratedTerminal", "externalTerminal"})


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """What an adapter is started for: one resolved configuration, on behalf of one client."""

    request: str
    arguments: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    """The client's, with the configuration's on top: what the program gets."""
    workspace: Path
    stdin: str | None = None
    """What the program reads from standard input, followed by its end. None: the input is empty."""
    at: str = ""
    """The address for the adapter's command line: see `Transport`."""
    client_environment: Mapping[str, str] | None = field(default=None, repr=False)
    """Without the configuration's: adapters are looked for in it, or a workspace's PATH would name what we start."""

    terminal: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = field(default=None, repr=False)
    """The client's own, which serves `runInTerminal` where the configuration wants one."""

    port_users: frozenset[int] = frozenset()
    """Who besides this user may be at the other end of a debug port that has no token: forwarders, by their uid."""

    @property
    def is_in_terminal(self) -> bool:
        return self.terminal is not None and self.arguments.get("console") in _TERMINAL_CONSOLES

    @property
    def adapter_environment(self) -> Mapping[str, str]:
        return self.environment if self.client_environment is None else self.client_environment


Transport = Literal["stdio", "unix", "tcp", "calls"]
"""How we connect to an adapter, the safest way first: other users of the machine can reach a port.

`stdio`: its standard streams. `unix`: it listens on the socket `LaunchContext.at`, in a folder of ours. `calls`: it
connects to the port `LaunchContext.at` of 127.0.0.1, where we listen. `tcp`: it listens on the port `LaunchContext.at`
of 127.0.0.1. That is 0 if the adapter prints the port it got, and `AdapterSpec.listening` matches it.
"""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an adapter that somebody else started."""

    host: str
    port: int


BackendOpener = Callable[[SupervisorPool, TaskGroup, LaunchContext], Awaitable[Backend]]


@dataclass(frozen=True, slots=True)
class AdapterSpec:
    """One debug adapter, as data and a few hooks.

    A language's module builds one of these; `DapBackend` interprets it. It holds no state of a session.
    """

    name: str
    types: frozenset[str]
    """The `type` names that people have in launch.json."""
    adapter_id: str
    transport: Transport
    command: Callable[[LaunchContext], ProcessCommand]
    """Called once `LaunchContext.at` is known."""
    arguments: Callable[[LaunchContext], dict[str, Any]]
    """The arguments of the launch or attach request. Raises DragomanError before anything starts if they cannot work.
    """
    require_runnable: Callable[[LaunchContext], None] = lambda _: None
    """Raises DragomanError for a program that cannot run as it is. Not called if tasks may still build it."""
    quirks: AdapterQuirks = field(default_factory=AdapterQuirks)
    exception_filters: tuple[str, ...] = ()
    """Switched on unless a client says otherwise: what stops at an uncaught exception."""
    extra_exception_filters: Callable[[LaunchContext], tuple[str, ...]] = lambda _: ()
    """Switched on as well for some programs, such as those that run tests and catch what these raise."""
    listening: re.Pattern[str] | None = None
    """Matches what the adapter prints once it listens: with a group `port` for `tcp`; for `unix`, the sign that it
    accepts connections."""
    running_adapter: Callable[[LaunchContext], Address | None] = lambda _: None
    """The address if the configuration names a running adapter: then nothing is started."""
    program_variables: Callable[[dict[str, Any]], dict[str, Any]] = lambda variables: variables
    """Variables that the adapter adds to the environment of a program that we start for it."""
    fallback: Callable[[Mapping[str, str]], AdapterSpec | None] = lambda _: None
    """Another that is taken instead, where this one is not found in the client's environment."""
    open_backend: BackendOpener | None = None
    """Makes the backend if there is no adapter to start."""
    facts: Callable[[LaunchContext], Mapping[str, str]] = lambda _: {}
    """Told in the first answer: `interpreter`, `adapter` and its version."""
