"""What the face needs of the terminal's services."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Literal, Protocol

from dragoman.phrases import Language
from dragoman.terminal.told import CommandTold, Notice

Scope = tuple[str, ...] | None
"""The terminals that an answer may draw on; None is all of them."""


class Record(Protocol):
    """Told in order for one terminal; each returns when the kernel has it."""

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None: ...

    async def take(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None: ...

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None: ...

    async def command_ended(self, told: CommandTold) -> object: ...

    async def notice(self, terminal_id: str, at_ms: int, notice: Notice) -> None: ...

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None: ...

    def holds(self, terminal_id: str) -> bool: ...

    def connected(self, terminal_id: str) -> None: ...

    def disconnected(self, terminal_id: str) -> None: ...


class Answers(Protocol):
    def stream(self, query: str, *, scope: Scope, asking: str, language: Language) -> AsyncGenerator[str, None]: ...


class Suggested(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def confidence(self) -> float: ...


class Completions(Protocol):
    async def suggest(self, text: str, cursor: int, *, terminal: str, cwd: str) -> Sequence[Suggested]: ...
