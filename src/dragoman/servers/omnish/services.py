"""The terminal services that the omnish server needs, as protocols."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Literal, Protocol

from dragoman.core.localization import Language
from dragoman.terminal.model import CommandReport, TerminalNotice

TerminalScope = tuple[str, ...] | None
"""The terminals that an answer may draw on; None is all of them."""


class RecordingService(Protocol):
    """Calls for one terminal come in order. Each returns when the kernel has the data."""

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None: ...

    async def record(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None: ...

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None: ...

    async def command_ended(self, report: CommandReport) -> object: ...

    async def notice(self, terminal_id: str, at_ms: int, notice: TerminalNotice) -> None: ...

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None: ...

    def holds(self, terminal_id: str) -> bool: ...

    def connected(self, terminal_id: str) -> None: ...

    def disconnected(self, terminal_id: str) -> None: ...


class AnswerSource(Protocol):
    def stream(
        self, query: str, *, scope: TerminalScope, asking: str, language: Language
    ) -> AsyncGenerator[str, None]: ...


class CompletionItem(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def confidence(self) -> float: ...


class CompletionSource(Protocol):
    async def suggest(self, text: str, cursor: int, *, terminal: str, cwd: str) -> Sequence[CompletionItem]: ...
