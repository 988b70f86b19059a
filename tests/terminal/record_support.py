"""What the tests of the record share: a service over a real journal, and a client that writes to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import apsw

from dragoman.core.clock import Clock
from dragoman.core.redaction import Redactor
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import Journal
from dragoman.terminal.model import VERIFIES, CommandReport, RecordedCommand
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService

DEADLINE_S = 20.0
NOON_MS = 1_700_000_000_000


@asynccontextmanager
async def recorded(
    folder: Path,
    *,
    redact: bool = True,
    names: Sequence[str] = (),
    clock: Clock | None = None,
    system: SystemCalls = REAL_SYSTEM,
    **journal_options: Any,
) -> AsyncIterator[TerminalService]:
    """As the daemon composes it."""
    redactor = Redactor(enabled=redact, names=tuple(names))
    store = CommandStore()
    async with (
        Journal.open(
            folder / "journal", stores=[store], redact=redactor.event, clock=clock, system=system, **journal_options
        ) as journal,
        TerminalService.open(journal, store, folder / "terminal", redactor=redactor, clock=clock) as service,
    ):
        yield service


class Shell:
    """A client with one terminal, whose clock ticks with everything it tells."""

    def __init__(self, service: TerminalService, terminal: str = "ab12cd34", *, verifies: bool = True) -> None:
        self.service = service
        self.terminal = terminal
        self.attributes = {"shell": "bash", **({VERIFIES: "1"} if verifies else {})}
        self.now_ms = NOON_MS
        self.count = 0

    def tick(self) -> int:
        self.now_ms += 10
        return self.now_ms

    async def begin(self, **more: str) -> None:
        attributes = {**self.attributes, **{name.replace("_", ".", 1): value for name, value in more.items()}}
        await self.service.begin(self.terminal, parent="", at_ms=self.tick(), attributes=attributes)
        self.service.connected(self.terminal)

    async def show(self, data: bytes) -> None:
        await self.service.record(self.terminal, "output", self.tick(), data)

    async def type(self, data: bytes) -> None:
        await self.service.record(self.terminal, "input", self.tick(), data)

    async def run(
        self, line: str, *outputs: bytes, exit_code: int | None = 0, cwd: str = "/home/ann", unverified: bool = False
    ) -> RecordedCommand:
        await self.service.command_began(self.terminal, self.tick(), line)
        began_ms = self.now_ms
        for output in outputs:
            await self.show(output)
        return await self.ended(line, began_ms, exit_code=exit_code, cwd=cwd, unverified=unverified)

    async def ended(
        self, line: str, began_ms: int, *, exit_code: int | None = 0, cwd: str = "/home/ann", unverified: bool = False
    ) -> RecordedCommand:
        self.count += 1
        result = CommandReport(
            id=f"{self.terminal}:{self.count}" + (":unverified" if unverified else ""),
            terminal=self.terminal,
            line=line,
            cwd=cwd,
            started_ms=began_ms,
            ended_ms=self.tick(),
            exit_code=exit_code,
        )
        return await self.service.command_ended(result)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def output_of(service: TerminalService, command: RecordedCommand) -> bytes:
    found = b""
    while True:
        page = await service.output(command.id, offset=len(found))
        if not page.data:
            return found
        found += page.data


async def indexed(service: TerminalService) -> None:
    """Wait until the index has seen everything."""
    with anyio.fail_after(DEADLINE_S):
        await service.catch_up()


def fill_with_commands(folder: Path, count: int) -> None:
    """As many rows as a person makes in years, made by the database itself."""
    (database,) = folder.glob("events-*.db")
    connection = apsw.Connection(str(database))
    with connection:
        connection.execute(
            """insert into commands (started_ns, id, terminal, line, words, cwd, ended_ns, exit_code, verified, stream,
                segment, offset, length, output_bytes, lost_bytes, until_segment, until_offset)
            with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?1),
            told (n, line) as (select n, format('%s %d', case n % 4 when 0 then 'git status' when 1 then 'make test'
                when 2 then 'cargo build' else 'vim main.c' end, n % 997) from numbers)
            select (?2 + n) * 1000000, 'old:' || n, 't' || (n % 50), line, line,
                iif(n = 5, '/rare', '/src/project' || (n % 40)), null, n % 9 = 0, 1, null, null, null, null, 0, 0, null,
                null from told""",
            (count, NOON_MS),
        )
    connection.close()
