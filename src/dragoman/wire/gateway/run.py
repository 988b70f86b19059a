"""One run as a chat sees it: its text, its tools, its phases, its end."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw, UnsetType

from dragoman.wire.gateway.payloads import KindPayload, ToolData, UsageData, text_of
from dragoman.wire.gateway.run_text import Piece, RunText
from dragoman.wire.gateway.run_tools import RunTools
from dragoman.wire.gateway.vocabulary import A2ui, ChatEvent, Diff, Done, Outcome, Status, TextDelta, ToolStart, Usage


class Run:
    def __init__(self, key: str, run_id: str, session_key: str) -> None:
        self.key, self.run_id, self.session_key = key, run_id, session_key
        self._text = RunText()
        self._tools = RunTools(run_id, session_key)
        self._phase = ""
        self._text_form = ""
        self._seen: dict[str, int] = {}

    @property
    def size(self) -> int:
        return self._text.size + self._tools.size

    def said(
        self, delta: str, text: str | None, message: str, seq: int | None, form: str = "stream"
    ) -> list[ChatEvent]:
        """A gateway that tells the pieces in both forms tells them twice: the form that came first is the one read."""
        self._text_form = self._text_form or form
        if form != self._text_form:
            return []
        piece = self._text.add(delta, text or None, message, seq)
        return [*self._tools.settle(), *self._told(piece)] if piece else []

    def corrected(self, text: str, seq: int | None) -> list[ChatEvent]:
        return self._told(self._text.correct(text, seq))

    def extended(self, delta: str, seq: int | None, *, replace: bool) -> list[ChatEvent]:
        return self._told(self._text.correct(delta, seq) if replace else self._text.extend(delta, seq))

    def tool(self, stream: str, data: ToolData, seq: int | None) -> list[ChatEvent]:
        happened = self._tools.note(stream, data, seq)
        if any(isinstance(event, ToolStart) for event in happened):
            self._text.tool_started()
        return happened

    def status(self, phase: str, seq: int | None) -> list[ChatEvent]:
        if phase in {"", self._phase} or self._is_late("status", seq):
            return []
        self._phase = phase
        return [Status(run_id=self.run_id, session_key=self.session_key, phase=phase)]

    def usage(self, data: UsageData, seq: int | None) -> list[ChatEvent]:
        if self._is_late("usage", seq):
            return []
        used = Usage(
            run_id=self.run_id,
            session_key=self.session_key,
            input_tokens=data.input_tokens,
            output_tokens=data.output_tokens,
            total_tokens=data.total_tokens,
        )
        return [used]

    def end(self, reason: str, outcome: Outcome, text: str | None) -> list[ChatEvent]:
        """`text` is the gateway's last word on the reply; without one, what was streamed stands."""
        happened = self._tools.close()
        if text is not None:
            happened += self._told(self._text.overwrite(text))
        done = Done(run_id=self.run_id, session_key=self.session_key, stop_reason=reason, outcome=outcome)
        return [*happened, done]

    def kind_tool(self, phase: str, data: KindPayload) -> list[ChatEvent]:
        if not data.id:
            return []
        error = text_of(data.error)
        told = ToolData(
            tool_call_id=data.id,
            phase=phase,
            name=data.tool,
            title=data.title or "",
            args=data.input,
            output=text_of(data.output),
            error=error,
            is_error=error is not None,
        )
        return self.tool("kind", told, None)

    def kind_diff(self, data: KindPayload) -> list[ChatEvent]:
        changed = Diff(
            run_id=self.run_id,
            session_key=self.session_key,
            path=data.path,
            original=data.original,
            modified=data.modified,
        )
        return [changed]

    def kind_usage(self, data: KindPayload) -> list[ChatEvent]:
        return self.usage(UsageData(data.input_tokens, data.output_tokens, data.total_tokens), None)

    def a2ui(self, payload: Raw | UnsetType) -> list[ChatEvent]:
        if isinstance(payload, UnsetType):
            return []
        return [A2ui(run_id=self.run_id, session_key=self.session_key, payload=payload)]

    def _told(self, piece: Piece | None) -> list[ChatEvent]:
        if piece is None:
            return []
        text = TextDelta(
            run_id=self.run_id,
            session_key=self.session_key,
            content=piece.content,
            segment=piece.segment,
            replace=piece.replace,
        )
        return [text]

    def _is_late(self, what: str, seq: int | None) -> bool:
        if seq is None:
            return False
        if seq <= self._seen.get(what, -1):
            return True
        self._seen[what] = seq
        return False


# `done` is the reducer's: it ends the run's place among the others too.
KINDS: dict[str, Callable[[Run, KindPayload], list[ChatEvent]]] = {
    "text_delta": lambda run, data: run.said(data.content, None, "", None, form="kind"),
    "tool_start": lambda run, data: run.kind_tool("start", data),
    "tool_update": lambda run, data: run.kind_tool("update", data),
    "tool_result": lambda run, data: run.kind_tool("result", data),
    "diff": Run.kind_diff,
    "status": lambda run, data: run.status(data.phase, None),
    "usage": Run.kind_usage,
    "a2ui": lambda run, data: run.a2ui(data.payload),
}
