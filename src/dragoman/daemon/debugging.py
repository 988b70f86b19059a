"""Debugging put together: supervised processes, the adapters, the sessions, and the tools over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from dragoman.chat.approvals import require_approved
from dragoman.chat.leave import Evaluators
from dragoman.clock import SystemClock
from dragoman.daemon.editing import Lending, editors_variable
from dragoman.daemon.editor_launches import EditorLaunches
from dragoman.daemon.evaluators import evaluators_for
from dragoman.daemon.lives import Life, Lives
from dragoman.daemon.runs import Runs, remove_left_over
from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.history.keeping import keeping
from dragoman.debug.history.report import Reports
from dragoman.debug.history.service import StopHistory
from dragoman.debug.launch import configurations
from dragoman.debug.service import DebugService
from dragoman.debug.session import Session
from dragoman.debug.starting import AdapterStarter
from dragoman.editor import Editors
from dragoman.journal import Journal
from dragoman.redaction import Redactor
from dragoman.tools import Operation
from dragoman.tools.debug import FileSources, Waits, debug_operations
from dragoman.tools.debug.reading import SessionReadings
from dragoman.tools.debug.values import Values
from dragoman.tools.evidence import FailedCommands, evidence_operations
from dragoman.tools.readings import Readings
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.breakpoints import BreakpointBook
from dragoman.workspace.paths import PathRule
from dragoman.workspace.trust import TrustBook

_LOOK_EVERY_S = 15.0
_OUTPUT_IN_A_REPORT = 20_000


@dataclass(frozen=True, slots=True)
class Debugging:
    service: DebugService
    operations: Sequence[Operation]
    evidence: Callable[[FailedCommands], Sequence[Operation]]
    """The operations that need the record of the terminals as well."""
    waits: Waits
    runs: Runs
    readings: Readings
    trust: TrustBook
    supervisors: Supervisors
    reports: Reports
    editors: Editors
    adapters: Sequence[AdapterSpec]

    def evaluators(self, tool: str, arguments: Mapping[str, Any]) -> Evaluators:
        return evaluators_for(tool, arguments, self.adapters, self.service.live(lent=True))


@asynccontextmanager
async def debugging(
    journal: Journal,
    lives: Lives,
    *,
    linger_s: float,
    redactor: Redactor,
    rule: PathRule,
    adapters: Sequence[AdapterSpec],
    port_users: frozenset[int],
) -> AsyncIterator[Debugging]:
    """At the end of the block no session and no process of one lives."""
    clock = SystemClock()
    waits = Waits(clock)

    async with Supervisors() as supervisors, anyio.create_task_group() as group:
        book = BreakpointBook(journal, clock)
        await book.load()
        await remove_left_over(book)
        trust = TrustBook(journal, clock)
        editors = Editors()
        launches = EditorLaunches(editors, adapters)
        starter = AdapterStarter(
            supervisors,
            group,
            adapters,
            trust=trust,
            rule=rule,
            variable=partial(editors_variable, editors),
            approve=require_approved,
            port_users=port_users,
            editor_debuggers=launches.debuggers,
        )
        runs = Runs(book, starter)

        @contextmanager
        def lived(session: Session) -> Iterator[None]:
            life = Life(session.id, "debug", session.title, ends=not session.is_a_persons)
            with lives.lived(life), runs.lived(session):
                yield

        kept = keeping(redactor.value)
        service = DebugService(group, book, runs, journal, clock, lived, redactor.value, kept, redactor.program_output)
        lending = Lending(editors, service, group, adapters, launches)
        group.start_soon(_end_unused, service, runs, linger_s)
        group.start_soon(runs.clean_up, service)
        sources = FileSources(rule)
        operations = debug_operations(
            service,
            partial(configurations, rule=rule),
            waits,
            clock,
            sources=sources,
            redactor=redactor,
            not_lent=lending.not_lent,
        )
        history = StopHistory(journal, clock)
        reports = Reports(journal, history, partial(service.printed_by, most=_OUTPUT_IN_A_REPORT))
        evidence = partial(evidence_operations, service, waits, clock, sources, redactor, history)
        readings = SessionReadings(service, journal, Values(redactor))
        yield Debugging(
            service, operations, evidence, waits, runs, readings, trust, supervisors, reports, editors, adapters
        )
        group.cancel_scope.cancel("the daemon ends")


async def _end_unused(service: DebugService, runs: Runs, linger_s: float) -> None:
    while True:
        await anyio.sleep(min(_LOOK_EVERY_S, linger_s / 2))
        await service.end_unused(linger_s)
        runs.look()
