"""Terminals put together: the record, what answers and completes from it, the wrappers' socket, and the tools."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from dragoman import __version__
from dragoman.access.tokens import Purpose, Tokens
from dragoman.clock import Clock, SystemClock
from dragoman.daemon.control import Method
from dragoman.daemon.debugging import Debugging
from dragoman.daemon.lives import Life, Lives
from dragoman.daemon.terminal_methods import TerminalMethods
from dragoman.journal import Journal
from dragoman.models.choosing import chosen_model
from dragoman.models.port import Model
from dragoman.omnish.server import OmnishServer
from dragoman.omnish.visit import Services
from dragoman.places import Places
from dragoman.redaction import Redactor
from dragoman.setting_table import Settings
from dragoman.terminal.agent_terminals import AgentTerminals
from dragoman.terminal.answers import Answers
from dragoman.terminal.commands import CommandStore
from dragoman.terminal.completion import Completions
from dragoman.terminal.folder_record import FolderRecord
from dragoman.terminal.service import TerminalService
from dragoman.terminal.wrappers import Wrappers
from dragoman.tools import Operation
from dragoman.tools.terminal import terminal_operations

STORE = CommandStore()


@dataclass(frozen=True, slots=True)
class Terminals:
    record: TerminalService
    server: OmnishServer
    operations: Sequence[Operation]
    methods: Mapping[str, Method]
    answers_of: Callable[[str | None], Answers]
    """Of one folder's record, or of all."""
    left: Callable[[str], None]
    """Told of each client of MCP that has gone."""

    def report(self) -> dict[str, Any]:
        return {
            "connected": sum(1 for seen in self.record.terminals() if seen.connected),
            "connections": len(self.server),
            "skipped_frames": dict(self.server.skipped),
        }


@asynccontextmanager
async def terminals(
    journal: Journal,
    places: Places,
    settings: Settings,
    tokens: Tokens,
    debugger: Debugging,
    redactor: Redactor,
    lives: Lives,
) -> AsyncIterator[Terminals]:
    """At the end of the block nothing that came is unwritten, and no terminal of an agent lives. People's go on."""
    clock, wrappers = SystemClock(), Wrappers()
    async with (
        TerminalService.open(journal, STORE, places.terminal_folder, redactor=redactor, clock=clock) as record,
        anyio.create_task_group() as group,
    ):
        model = chosen_model(settings, os.environ)
        answers_of = partial(_answers, record, clock, redactor, model)
        answers = answers_of(None)
        completes = model if settings.model_completes else None
        completions = Completions(record, redactor=redactor, model=completes)
        group.start_soon(completions.run)
        admits = partial(tokens.accepts, "omnish")
        server = OmnishServer(Services(record, answers, completions, wrappers, admits, __version__))
        lives.look_for(partial(_at_work, record))
        tokens.on_rotation(partial(_end_by_token, server))
        own = AgentTerminals(debugger.supervisors, group, record, debugger.trust, clock, places.omnish_socket)
        operations = terminal_operations(record, wrappers, own, redactor, clock)
        await own.bury()
        yield Terminals(record, server, operations, TerminalMethods(record, answers).table(), answers_of, own.left)
        group.cancel_scope.cancel("the daemon ends")


def _answers(
    record: TerminalService, clock: Clock, redactor: Redactor, model: Model | None, folder: str | None
) -> Answers:
    return Answers(
        record if folder is None else FolderRecord(record, folder),
        clock=clock,
        redactor=redactor,
        model=model,
        write_fault=lambda: record.write_fault,
    )


def _at_work(record: TerminalService) -> list[Life]:
    """Commands in terminals of agents, which the daemon holds: they would end with it."""
    busy = [(it.terminal, it.running) for it in record.terminals() if it.connected and it.running]
    return [Life(terminal.id, "terminal", running.line) for terminal, running in busy if terminal.owner == "agent"]


def _end_by_token(server: OmnishServer, purpose: Purpose) -> None:
    if purpose == "omnish":
        server.end_those_by_token()
