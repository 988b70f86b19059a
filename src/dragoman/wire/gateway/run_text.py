"""The text of one run, told twice: in pieces by the agent stream, as a whole by the chat stream."""

from __future__ import annotations

from typing import NamedTuple

# Protocol 4 names the message that a piece belongs to, and its chat text joins messages by a blank line;
# protocol 3 does neither.
_GLUE_OF_NAMED_MESSAGES = "\n\n"


class Piece(NamedTuple):
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

    def add(self, delta: str, text: str | None, message: str, seq: int | None) -> Piece | None:
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
            return self._append(self._glue() + text, begins=True)
        return self._restore(text, plain=before == "")

    def correct(self, text: str, seq: int | None) -> Piece | None:
        """The chat stream's text of the whole run so far."""
        if seq is not None:
            if seq < max(self._agent_seq, self._chat_seq):
                return None
            self._chat_seq = seq
        return self.overwrite(text)

    def extend(self, delta: str, seq: int | None) -> Piece | None:
        """A frame of the chat stream with only what was added to its text, which may not start where ours does."""
        if seq is not None:
            if seq < self._agent_seq or seq <= self._chat_seq:
                return None
            self._chat_seq = seq
        self._chat_text += delta
        return self.overwrite(self._chat_text) if self._chat_text.startswith(self.whole) else None

    def overwrite(self, text: str) -> Piece | None:
        """What the gateway says the text is, whatever was streamed."""
        self._chat_text = text
        if text == self.whole:
            return None
        if self.whole and text.startswith(self.whole):
            return self._append(text[len(self.whole) :], self._tool_since)
        kept = next(index for index in reversed(range(len(self._starts))) if self._agrees(text, index))
        del self._starts[kept + 1 :]
        self.whole = text
        return Piece(kept, text[self._starts[kept] :], replace=True)

    def _agrees(self, text: str, segment: int) -> bool:
        return text.startswith(self.whole[: self._starts[segment]])

    def _append(self, content: str, begins: bool) -> Piece | None:
        if not content:
            return None
        if begins and self.whole:
            self._starts.append(len(self.whole))
        self._tool_since = False
        # Out of the attribute while it grows: a string with one owner is extended in place instead of copied.
        whole, self.whole = self.whole, ""
        whole += content
        self.whole = whole
        return Piece(len(self._starts) - 1, content, replace=False)

    def _restore(self, text: str, *, plain: bool) -> Piece | None:
        """The segment is `text`: it begins here, it was rewritten, or pieces of it were missed."""
        start = self._starts[-1]
        self._tool_since = False
        if self.whole[start:] == text:
            return None
        is_new = plain and len(self.whole) == start
        self.whole = self.whole[:start] + text
        return Piece(len(self._starts) - 1, text, replace=not is_new)

    def _glue(self) -> str:
        return _GLUE_OF_NAMED_MESSAGES if self._message else ""
