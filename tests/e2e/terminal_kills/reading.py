"""What a daemon that has ended left in its record, read by the record's own code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from dragoman.core.paths import Paths
from dragoman.core.redaction import Redactor
from dragoman.daemon.app import STORES
from dragoman.daemon.terminal_wiring import COMMAND_STORE
from dragoman.journal import Journal
from dragoman.terminal.model import CommandFilter
from dragoman.terminal.service import TerminalService


@dataclass(frozen=True)
class Kept:
    output: bytes
    gaps: int
    commands: list[str]
    ended: bool


def read_back(paths: Paths, terminal_id: str) -> Kept:
    return anyio.run(_read, paths, terminal_id)


def terminals_by_pid(paths: Paths) -> dict[int, str]:
    """Of wrappers, which tell their process; a pid that came twice is the later one's."""
    return anyio.run(_terminals, paths)


@asynccontextmanager
async def _opened(paths: Paths) -> AsyncIterator[TerminalService]:
    redactor = Redactor(True, ())
    async with (
        Journal.open(paths.journal_folder, stores=STORES, redact=redactor.event) as journal,
        TerminalService.open(journal, COMMAND_STORE, paths.terminal_folder, redactor=redactor) as service,
    ):
        yield service


async def _read(paths: Paths, terminal_id: str) -> Kept:
    async with _opened(paths) as service:
        pieces = [piece async for piece in service.pieces(terminal_id)]
        wanted = CommandFilter(terminal=terminal_id)
        commands = [command.id for command in await service.commands(wanted, limit=10_000)]
        return Kept(
            output=b"".join(piece.data for piece in pieces if piece.kind == "output"),
            gaps=sum(int(piece.data) for piece in pieces if piece.kind == "gap"),
            commands=commands,
            ended=service.terminal(terminal_id).terminal.ended_ns is not None,
        )


async def _terminals(paths: Paths) -> dict[int, str]:
    async with _opened(paths) as service:
        return {int(it.terminal.attributes.get("pid", 0)): it.terminal.id for it in service.terminals()}
