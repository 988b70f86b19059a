"""A real record of terminals for tests of what is read from it: commands with their output, at chosen moments."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.core.redaction import Redactor
from dragoman.journal import Journal
from dragoman.terminal.model import AGENT, UNVERIFIED, VERIFIES, CommandReport, RecordedCommand
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from tests.support.clocks import VirtualClock

SESSIONS = Path(__file__).parents[1] / "vectors" / "terminal_sessions"


@dataclass
class Recorded:
    service: TerminalService
    clock: VirtualClock
    _numbers: dict[str, int] = field(default_factory=dict)

    async def run(
        self,
        line: str,
        exit_code: int | None = 0,
        output: str | bytes = "",
        *,
        terminal: str = "t1",
        cwd: str = "/home/dev/shop",
        took_s: float = 1.0,
        verified: bool = True,
        agent: str = "",
    ) -> RecordedCommand:
        """As a wrapper tells it; five seconds pass before the next."""
        number = await self._number(terminal, agent)
        began_ms = self.clock.wall_ns() // 1_000_000
        await self.service.command_began(terminal, began_ms, line)
        data = output.encode() if isinstance(output, str) else output
        for at in range(0, len(data), 65_536):
            await self.service.record(terminal, "output", began_ms, data[at : at + 65_536])
        self.clock.advance(took_s)
        result = CommandReport(
            id=f"{terminal}:{number}" + ("" if verified else UNVERIFIED),
            terminal=terminal,
            line=line,
            cwd=cwd,
            started_ms=began_ms,
            ended_ms=self.clock.wall_ns() // 1_000_000,
            exit_code=exit_code,
        )
        command = await self.service.command_ended(result)
        self.clock.advance(5)
        return command

    async def _number(self, terminal: str, agent: str) -> int:
        if terminal not in self._numbers:
            attributes = {VERIFIES: "1", **({AGENT: agent} if agent else {})}
            began_ms = self.clock.wall_ns() // 1_000_000
            await self.service.begin(terminal, parent="", at_ms=began_ms, attributes=attributes)
        self._numbers[terminal] = self._numbers.get(terminal, 0) + 1
        return self._numbers[terminal]


@contextlib.asynccontextmanager
async def recorded(folder: Path) -> AsyncIterator[Recorded]:
    store, clock = CommandStore(), VirtualClock()
    async with (
        Journal.open(folder / "journal", stores=[store]) as journal,
        TerminalService.open(journal, store, folder / "terminals", redactor=Redactor(), clock=clock) as service,
    ):
        yield Recorded(service, clock)


def session(name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The commands of a recorded session, and what is expected of an answer about it."""
    commands = json.loads((SESSIONS / f"{name}.json").read_text())["commands"]
    return commands, json.loads((SESSIONS / f"{name}.expected.json").read_text())


def session_names() -> list[str]:
    return sorted(path.name.removesuffix(".expected.json") for path in SESSIONS.glob("*.expected.json"))
