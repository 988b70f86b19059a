"""Whatever happens in whatever order, what is ours comes off the screen again and the shell's stays as it drew it."""

from __future__ import annotations

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocols.omnish.messages import (
    CompletionRequest,
    CompletionResponse,
    CompletionSuggestion,
    Request,
    Response,
    Sessions,
)
from dragoman.protocols.osc import CommandFinished, InputStarted, Mark, OutputStarted, PromptStarted
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.settings import ShellSettings

COLUMNS, ROWS = 30, 60

PRINTED = st.sampled_from([
    b"e", b"echo", b" on", "中".encode(), b"\xe4\xb8", b"\xad", b"\b", b"\b\x1b[K", b"\r", b"\r\n", b"\x1b[", b"31m",
    b"\x1b[m", b"\x1b[3C", b"\x1b[2P", b"\x1b[K", b"\x1b[J", b"\x1b[1;34m", b"\a", b"x" * 29, b"\x1b]0;t", b"\x07",
    b"\x1b[?2004h",
])  # fmt: skip
TYPED = st.sampled_from([
    b"e", b"y", b"n", b"\r", b"\x1b", b"\x03", b"\x1b[C", b"\x1b[F", b"\x1b/", b"\x1b\x10", b"\x7f", b"why",
    b"\x1b[200~a\nb\x1b[201~",
])  # fmt: skip
MARKS = st.sampled_from([PromptStarted(), InputStarted(), OutputStarted(), CommandFinished(exit_code=1)])
MESSAGES = st.sampled_from(
    [Request("r", "s", "make\ntest", Sessions(["agent"])), Response("s:failure:1", "because\nof", True, False)]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("print"), PRINTED),
        st.tuples(st.just("type"), TYPED),
        st.tuples(st.just("mark"), MARKS),
        st.tuples(st.just("hear"), MESSAGES),
        st.tuples(st.just("wait"), st.sampled_from([0.001, 0.02, 0.1, 0.6, 1.1])),
        st.tuples(st.just("prompt"), st.just(b"$ ")),
    ),
    max_size=40,
)


class Both:
    """One terminal with the overlay between, and one without."""

    def __init__(self) -> None:
        requests = ShellSettings(explain_failures=True, explain_failures_every_s=1)
        self.overlay = Overlay(requests, session_id="s", columns=COLUMNS, rows=ROWS)
        self.overlay.connected = True
        self.over, self.bare = pyte.Screen(COLUMNS, ROWS), pyte.Screen(COLUMNS, ROWS)
        self._over, self._bare = pyte.ByteStream(self.over), pyte.ByteStream(self.bare)
        self.now_s = 0.0

    def take(self, kind: str, value: object) -> None:
        if isinstance(value, float):
            self.now_s += value
            self.overlay.tick(self.now_s)
        elif isinstance(value, Mark):
            self.overlay.handle_mark(value, True, self.now_s)
        elif kind == "type":
            self.type(value)
        elif kind == "hear":
            self.overlay.handle_message(value, self.now_s)
        else:
            self.show(kind, value)
        self.flush()

    def type(self, value: object) -> None:
        """What the pump does before the overlay hears of a key rests on these three promises."""
        assert isinstance(value, bytes)
        is_free, was_idle = value in self.overlay.passthrough_keys(), self.overlay.is_idle
        typed = self.overlay.handle_keys(value, self.now_s)
        if is_free:
            assert typed == value
            assert self.overlay.is_idle or not was_idle

    def show(self, kind: str, value: object) -> None:
        assert isinstance(value, bytes)
        if kind == "prompt":
            self.overlay.handle_mark(PromptStarted(), True, self.now_s)
            self.flush()
        was_clear = self.overlay.is_clear
        shown = self.overlay.handle_output(value, self.now_s)
        assert shown == value or not was_clear
        self._over.feed(shown)
        self._bare.feed(value)
        if kind == "prompt":
            self.overlay.handle_mark(InputStarted(), True, self.now_s)

    def flush(self) -> None:
        self._over.feed(self.overlay.pop_screen())
        self.overlay.pop_keys()
        for message in self.overlay.pop_messages():
            if isinstance(message, CompletionRequest):
                suggestion = CompletionSuggestion(message.input + " and 中文 so on and on and on", 1)
                self.overlay.handle_message(CompletionResponse(message.sequence_id, [suggestion]), self.now_s)
                self._over.feed(self.overlay.pop_screen())

    def end(self) -> None:
        self._over.feed(self.overlay.handle_end())


def state(screen: pyte.Screen) -> tuple[list[str], int, int, object]:
    rows = ["".join(screen.buffer[y][x].data for x in range(COLUMNS)).rstrip() for y in range(ROWS)]
    return rows, screen.cursor.y, screen.cursor.x, screen.cursor.attrs


@settings(max_examples=150)
@given(STEPS)
def test_afterwards_the_screen_the_cursor_and_its_colours_are_the_bare_ones(steps: list[tuple[str, object]]) -> None:
    both = Both()
    both.take("prompt", b"$ ")
    for kind, value in steps:
        both.take(kind, value)
    both.end()
    assert state(both.over) == state(both.bare)


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=30), max_size=12))
def test_bytes_that_mean_nothing_pass_both_ways_untouched(chunks: list[bytes]) -> None:
    overlay = Overlay(ShellSettings(), session_id="s", columns=COLUMNS, rows=ROWS)
    overlay.handle_mark(PromptStarted(), True, 0)
    overlay.handle_mark(InputStarted(), True, 0)
    for chunk in chunks:
        assert overlay.handle_output(chunk, 0) == chunk
    plain = [chunk.replace(b"\x1b", b"") for chunk in chunks]
    assert [overlay.handle_keys(chunk, 1) for chunk in plain] == plain
