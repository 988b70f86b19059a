"""Wires up terminals: the record, answers and completions from it, the wrappers' server, and the tools."""

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
from dragoman.core.clock import Clock, SystemClock
from dragoman.core.paths import Paths
from dragoman.core.redaction import Redactor
from dragoman.core.settings.schema import Settings
from dragoman.daemon.debug_wiring import DebugWiring
from dragoman.journal import Journal
from dragoman.models.interface import Model
from dragoman.models.selection import select_model
from dragoman.servers.control.server import ControlMethod
from dragoman.servers.control.status import LiveSession, LiveSessions
from dragoman.servers.control.terminal_methods import TerminalMethods
from dragoman.servers.omnish.connection import OmnishServices
from dragoman.servers.omnish.server import OmnishServer
from dragoman.terminal.agent_terminals.pool import AgentTerminalPool
from dragoman.terminal.answers.answer_service import AnswerService
from dragoman.terminal.completion.completer import CommandCompleter
from dragoman.terminal.consent import ConsentBroker
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import FolderRecord, TerminalService
from dragoman.tools import Tool
from dragoman.tools.terminal import terminal_tools

COMMAND_STORE = CommandStore()


@dataclass(frozen=True, slots=True)
class TerminalWiring:
    record: TerminalService
    server: OmnishServer
    tools: Sequence[Tool]
    methods: Mapping[str, ControlMethod]
    answers_of: Callable[[str | None], AnswerService]
    """A search over one folder's record, or all of them."""
    left: Callable[[str], None]
    """Called when an MCP client has gone."""
    end_all: Callable[[], int]
    """Ends the terminals of all agents; returns how many there were."""

    def report(self) -> dict[str, Any]:
        return {
            "connected": sum(1 for seen in self.record.terminals() if seen.connected),
            "connections": len(self.server),
            "skipped_frames": dict(self.server.skipped),
        }


@asynccontextmanager
async def wire_terminals(
    journal: Journal,
    paths: Paths,
    settings: Settings,
    tokens: Tokens,
    debugger: DebugWiring,
    redactor: Redactor,
    live_sessions: LiveSessions,
) -> AsyncIterator[TerminalWiring]:
    """Run the terminals. When the block ends, all output is written and agents' terminals are closed. Users' ones
    continue.
    """
    clock, wrappers = SystemClock(), ConsentBroker()
    async with (
        TerminalService.open(journal, COMMAND_STORE, paths.terminal_folder, redactor=redactor, clock=clock) as record,
        anyio.create_task_group() as group,
    ):
        model = select_model(settings, os.environ)
        answers_of = partial(_answers, record, clock, redactor, model)
        answers = answers_of(None)
        completes = model if settings.model_completes else None
        completions = CommandCompleter(record, redactor=redactor, model=completes)
        group.start_soon(completions.run)
        accepts_token = partial(tokens.accepts, "omnish")
        server = OmnishServer(OmnishServices(record, answers, completions, wrappers, accepts_token, __version__))
        live_sessions.add_source(partial(_running_agent_commands, record))
        tokens.on_rotation(partial(_end_by_token, server))
        own = AgentTerminalPool(debugger.supervisors, group, record, debugger.trust, clock, paths.omnish_socket)
        tools = terminal_tools(record, wrappers, own, redactor, clock)
        await own.end_orphans()
        methods = TerminalMethods(record, answers).table()
        yield TerminalWiring(record, server, tools, methods, answers_of, own.left, own.end_all)
        group.cancel_scope.cancel("the daemon ends")


def _answers(
    record: TerminalService, clock: Clock, redactor: Redactor, model: Model | None, folder: str | None
) -> AnswerService:
    return AnswerService(
        record if folder is None else FolderRecord(record, folder),
        clock=clock,
        redactor=redactor,
        model=model,
        write_fault=lambda: record.write_fault,
    )


def _running_agent_commands(record: TerminalService) -> list[LiveSession]:
    """Commands in agents' terminals, which would end with the daemon."""
    busy = [(it.terminal, it.running) for it in record.terminals() if it.connected and it.running]
    return [
        LiveSession(terminal.id, "terminal", running.line) for terminal, running in busy if terminal.owner == "agent"
    ]


def _end_by_token(server: OmnishServer, purpose: Purpose) -> None:
    if purpose == "omnish":
        server.end_token_connections()
