"""How an agent speaks in a run: text in segments, tools with one start and one result, in one vocabulary."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from dragoman.chat.conversations import Called
from dragoman.wire.gateway.vocabulary import (
    ChatEvent,
    Diff,
    Status,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUpdate,
    Usage,
)

TEXT_BYTES = 1 << 20
OUTPUT_CHARACTERS = 100_000


class Voice:
    """Tells what is said while it is said, and keeps it for the history. Nothing is told after the end of the run."""

    def __init__(self, run_id: str, session_key: str, tell: Callable[[ChatEvent], None]) -> None:
        self._run_id = run_id
        self._session_key = session_key
        self._tell = tell
        self._segments = [""]
        self._calls: dict[str, Called] = {}
        self._began_s: dict[str, float] = {}
        self.open_calls: set[str] = set()
        """Ids of those that have not ended."""
        self._is_muted = False

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self._segments))

    @property
    def calls(self) -> tuple[Called, ...]:
        return tuple(self._calls.values())

    def say(self, text: str) -> None:
        room = TEXT_BYTES - sum(map(len, self._segments))
        if text and room > 0:
            self._segments[-1] += text[:room]
            self._event(TextDelta(content=text[:room], segment=len(self._segments) - 1))

    def begin_tool(self, id: str, tool: str, *, title: str = "", input: Any = None) -> str:
        """What is said afterwards is another segment, so that text and tools are shown in their order. Returns the id
        to end it by: some models count their calls anew in each turn, and one that has ended has no second start."""
        id = id if id not in self._calls else f"{id}-{len(self._calls)}"
        after = len(self.text)
        if self._segments[-1]:
            self._segments.append("")
        raw = msgspec.Raw(msgspec.json.encode(input))
        self._calls[id] = Called(id=id, tool=tool, title=title, input=input, after=after)
        self._began_s[id] = time.monotonic()
        self.open_calls.add(id)
        self._event(ToolStart(id=id, tool=tool, title=title, input=raw))
        return id

    def update_tool(self, id: str, output: str) -> None:
        self._event(ToolUpdate(id=id, output=output[-OUTPUT_CHARACTERS:]))

    def end_tool(self, id: str, output: str, *, error: str | None = None, duration_ms: float | None = None) -> None:
        output = output[:OUTPUT_CHARACTERS]
        self.open_calls.discard(id)
        begun = self._calls.get(id)
        if begun is not None:
            took_ms = round(1000 * (time.monotonic() - self._began_s[id]))
            self._calls[id] = msgspec.structs.replace(begun, output=output, error=error, took_ms=took_ms)
        self._event(ToolResult(id=id, output=output, error=error, duration_ms=duration_ms))

    def diff(self, path: str, original: str | None, modified: str, *, tool_id: str = "") -> None:
        self._event(Diff(path=path, original=original, modified=modified, tool_id=tool_id))

    def status(self, phase: str) -> None:
        self._event(Status(phase=phase))

    def used(self, input_tokens: int, output_tokens: int) -> None:
        total = input_tokens + output_tokens
        self._event(Usage(input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=total))

    def mute(self) -> None:
        self._is_muted = True

    def _event(self, event: ChatEvent) -> None:
        if not self._is_muted:
            self._tell(msgspec.structs.replace(event, run_id=self._run_id, session_key=self._session_key))
