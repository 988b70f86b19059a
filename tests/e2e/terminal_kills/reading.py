"""What a daemon that has ended left in its record, read by the record's own code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from dragoman.daemon.app import STORES
from dragoman.daemon.terminals import STORE
from dragoman.journal import Journal
from dragoman.places import Places
from dragoman.redaction import Redactor
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter


@dataclass(frozen=True)
class Kept:
    output: bytes
    gaps: int
    commands: list[str]
    ended: bool


def read_back(places: Places, terminal_id: str) -> Kept:
    return anyio.run(_read, places, terminal_id)


def terminals_by_pid(places: Places) -> dict[int, str]:
    """Of wrappers, which tell their process; a pid that came twice is the later one's."""
    return anyio.run(_terminals, places)


@asynccontextmanager
async def _opened(places: Places) -> AsyncIterator[TerminalService]:
    redactor = Redactor(True, ())
    async with (
        Journal.open(places.journal_folder, stores=STORES, redact=redactor.event) as journal,
        TerminalService.open(journal, STORE, places.terminal_folder, redactor=redactor) as service,
    ):
        yield service


async def _read(places: Places, terminal_id: str) -> Kept:
    async with _opened(places) as service:
        pieces = [piece async for piece in service.pieces(terminal_id)]
        wanted = CommandFilter(terminal=terminal_id)
        commands = [command.id for command in await service.commands(wanted, limit=10_000)]
        return Kept(
            output=b"".join(piece.data for piece in pieces if piece.kind == "output"),
            gaps=sum(int(piece.data) for piece in pieces if piece.kind == "gap"),
            commands=commands,
            ended=service.terminal(terminal_id).terminal.ended_ns is not None,
        )


async def _terminals(places: Places) -> dict[int, str]:
    async with _opened(places) as service:
        return {int(it.terminal.attributes.get("pid", 0)): it.terminal.id for it in service.terminals()}
