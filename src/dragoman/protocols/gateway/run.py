"""One run as a chat sees it: its text, its tools, its phases, its end.

The text arrives twice: in pieces on the agent stream, and as a whole on the chat stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Raw, UnsetType

from dragoman.protocols.gateway.chat_events import (
    A2ui,
    ChatDiff,
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    Outcome,
    ToolStart,
)
from dragoman.protocols.gateway.payloads import KindPayload, ToolData, UsageData, text_of
from dragoman.protocols.gateway.run_tools import RunTools

# Protocol 4 names the message that a piece belongs to, and its chat text joins messages by a blank line;
# protocol 3 does neither.
_NAMED_MESSAGE_SEPARATOR = "\n\n"


class TextPiece(NamedTuple):
    segment: int
    content: str
    replace: bool


class RunText:
    """The agent's pieces are appended; the chat's whole text corrects, or supplies what was missed.

    Both streams carry `payload.seq`, the agent's count: a chat text of count n holds everything up to the agent's
    frame n. So whatever has a smaller count than the pieces already seen is late, and changes nothing.
    """

    def __init__(self) -> None:
        self.whole = ""
        self._starts = [0]
        self._tool_since = False
        self._message = ""
        self._agent_seq = -1
        self._chat_seq = -1
        self._chat_text = ""

    @property
    def size(self) -> int:
        return len(self.whole) + len(self._chat_text)

    def tool_started(self) -> None:
        self._tool_since = True

    def add(self, delta: str, text: str | None, message: str, seq: int | None) -> TextPiece | None:
        """A piece of the agent stream; `text` is the agent's segment up to and with this piece."""
        if seq is not None:
            if seq <= self._agent_seq:
                return None
            self._agent_seq = seq
        before = text[: len(text) - len(delta)] if text is not None and text.endswith(delta) else None
        begins = self._tool_since or bool(message and self._message and message != self._message)
        self._message = message or self._message
        if text is None or (before and self.whole.endswith(before)):
            return self._append(delta, text is None and begins)
        if begins and self.whole:
            return self._append(self._separator() + text, begins=True)
        return self._restore(text, plain=before == "")

    def correct(self, text: str, seq: int | None) -> TextPiece | None:
        """The chat stream's text of the whole run so far."""
        if seq is not None:
            if seq < max(self._agent_seq, self._chat_seq):
                return None
            self._chat_seq = seq
        return self.overwrite(text)

    def extend(self, delta: str, seq: int | None) -> TextPiece | None:
        """A frame of the chat stream with only what was added to its text, which may not start where ours does."""
        if seq is not None:
            if seq < self._agent_seq or seq <= self._chat_seq:
                return None
            self._chat_seq = seq
        self._chat_text += delta
        return self.overwrite(self._chat_text) if self._chat_text.startswith(self.whole) else None

    def overwrite(self, text: str) -> TextPiece | None:
        """The gateway's final text, whatever was streamed."""
        self._chat_text = text
        if text == self.whole:
            return None
        if self.whole and text.startswith(self.whole):
            return self._append(text[len(self.whole) :], self._tool_since)
        kept = next(index for index in reversed(range(len(self._starts))) if self._keeps_segment(text, index))
        del self._starts[kept + 1 :]
        self.whole = text
        return TextPiece(kept, text[self._starts[kept] :], replace=True)

    def _keeps_segment(self, text: str, segment: int) -> bool:
        return text.startswith(self.whole[: self._starts[segment]])

    def _append(self, content: str, begins: bool) -> TextPiece | None:
        if not content:
            return None
        if begins and self.whole:
            self._starts.append(len(self.whole))
        self._tool_since = False
        # Out of the attribute while it grows: a string with one owner is extended in place instead of copied.
        whole, self.whole = self.whole, ""
        whole += content
        self.whole = whole
        return TextPiece(len(self._starts) - 1, content, replace=False)

    def _restore(self, text: str, *, plain: bool) -> TextPiece | None:
        """The segment is `text`: it begins here, it was rewritten, or pieces of it were missed."""
        start = self._starts[-1]
        self._tool_since = False
        if self.whole[start:] == text:
            return None
        is_new = plain and len(self.whole) == start
        self.whole = self.whole[:start] + text
        return TextPiece(len(self._starts) - 1, text, replace=not is_new)

    def _separator(self) -> str:
        return _NAMED_MESSAGE_SEPARATOR if self._message else ""


class GatewayRun:
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

    def add_text(
        self, delta: str, text: str | None, message: str, seq: int | None, form: str = "stream"
    ) -> list[ChatEvent]:
        """A gateway that sends the pieces in both forms sends them twice: only the form that came first is read."""
        self._text_form = self._text_form or form
        if form != self._text_form:
            return []
        piece = self._text.add(delta, text or None, message, seq)
        return [*self._tools.settle(), *self._text_events(piece)] if piece else []

    def corrected(self, text: str, seq: int | None) -> list[ChatEvent]:
        return self._text_events(self._text.correct(text, seq))

    def extended(self, delta: str, seq: int | None, *, replace: bool) -> list[ChatEvent]:
        return self._text_events(self._text.correct(delta, seq) if replace else self._text.extend(delta, seq))

    def tool(self, stream: str, data: ToolData, seq: int | None) -> list[ChatEvent]:
        events = self._tools.note(stream, data, seq)
        if any(isinstance(event, ToolStart) for event in events):
            self._text.tool_started()
        return events

    def status(self, phase: str, seq: int | None) -> list[ChatEvent]:
        if phase in {"", self._phase} or self._is_late("status", seq):
            return []
        self._phase = phase
        return [ChatStatus(run_id=self.run_id, session_key=self.session_key, phase=phase)]

    def usage(self, data: UsageData, seq: int | None) -> list[ChatEvent]:
        if self._is_late("usage", seq):
            return []
        used = ChatUsage(
            run_id=self.run_id,
            session_key=self.session_key,
            input_tokens=data.input_tokens,
            output_tokens=data.output_tokens,
            total_tokens=data.total_tokens,
        )
        return [used]

    def end(self, reason: str, outcome: Outcome, text: str | None) -> list[ChatEvent]:
        """`text` is the gateway's final reply; without one, the streamed text stays."""
        events = self._tools.close()
        if text is not None:
            events += self._text_events(self._text.overwrite(text))
        done = Done(run_id=self.run_id, session_key=self.session_key, stop_reason=reason, outcome=outcome)
        return [*events, done]

    def kind_tool(self, phase: str, data: KindPayload) -> list[ChatEvent]:
        if not data.id:
            return []
        error = text_of(data.error)
        tool_data = ToolData(
            tool_call_id=data.id,
            phase=phase,
            name=data.tool,
            title=data.title or "",
            args=data.input,
            output=text_of(data.output),
            error=error,
            is_error=error is not None,
        )
        return self.tool("kind", tool_data, None)

    def kind_diff(self, data: KindPayload) -> list[ChatEvent]:
        changed = ChatDiff(
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

    def _text_events(self, piece: TextPiece | None) -> list[ChatEvent]:
        if piece is None:
            return []
        text = ChatTextDelta(
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


# The reducer handles `done`: it also ends the run's place among the others.
KINDS: dict[str, Callable[[GatewayRun, KindPayload], list[ChatEvent]]] = {
    "text_delta": lambda run, data: run.add_text(data.content, None, "", None, form="kind"),
    "tool_start": lambda run, data: run.kind_tool("start", data),
    "tool_update": lambda run, data: run.kind_tool("update", data),
    "tool_result": lambda run, data: run.kind_tool("result", data),
    "diff": GatewayRun.kind_diff,
    "status": lambda run, data: run.status(data.phase, None),
    "usage": GatewayRun.kind_usage,
    "a2ui": lambda run, data: run.a2ui(data.payload),
}
