"""What answers and completions read of the record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from dragoman.terminal.model import Command
from dragoman.terminal.told import CommandFilter, OutputPage, OutputSearch, TerminalSeen

Scope = tuple[str, ...] | None
"""The terminals that an answer may draw on; None is all of them."""


class Record(Protocol):
    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[Command]: ...

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage: ...

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearch: ...

    def terminal(self, terminal_id: str) -> TerminalSeen: ...

    def history(self) -> AsyncIterator[Command]: ...

    def on_command(self, told: Callable[[Command], None]) -> None: ...
