"""Tells one editor what its session does. It compares what is with what it told last, so nothing is queued: an editor
that reads slowly hears of several changes as one, and of output that it missed how much there was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from dragoman.dap import shapes, whom
from dragoman.dap.places import Places
from dragoman.debug.following import Followed
from dragoman.debug.model import Binding, Stop
from dragoman.phrases import Language, say
from dragoman.transport.dap_host import DapHost
from dragoman.words import word_of
from dragoman.workspace.breakpoints import Breakpoint

REPLAYED_CHARACTERS = 64 * 1024
_PIECES_AT_ONCE = 32
_REASON = 40
_SEEN = frozenset({"stdout", "stderr", "console", "important"})

Pairs = Callable[[], list[tuple[Breakpoint, Binding]]]


class Teller:
    def __init__(
        self,
        host: DapHost,
        followed: Followed,
        places: Places,
        language: Language,
        *,
        id: str,
        invalidates: bool,
        is_kept: Callable[[int], bool],
    ) -> None:
        """`id` is the editor's own; `is_kept` says whether one of its breakpoints is still in the book."""
        self.told_stop = 0
        """The stop that the editor knows it is at; zero: it knows of none."""
        self.own: dict[int, Breakpoint] = {}
        self.others: Pairs | None = None
        """The breakpoints of other clients, for an editor that shows them."""
        self.is_over = False
        self._host = host
        self._followed = followed
        self._places = places
        self._language = language
        self._id = id
        self._invalidates = invalidates
        self._is_kept = is_kept
        self._told_others: list[tuple[Breakpoint, Binding]] | None = None
        self._told_bindings: dict[int, Binding] = {}
        self._threads: frozenset[int] = frozenset()
        self._shown: Stop | None = None
        self._held = 0
        output = followed.session.output.raw
        self._cursor = max(output.end - REPLAYED_CHARACTERS, 0)

    async def run(self) -> None:
        """What is now first, then each change, until the end of the session was told."""
        beats = -1
        while not self.is_over:
            beats = await self._followed.pulse.after(beats)
            is_over = self._followed.is_over
            await self._tell_output()
            self._tell_threads()
            self._tell_breakpoints()
            if is_over:  # and what it printed to its end is told
                self._tell_end()
            elif not self._held:
                self._tell_state()
            await self._host.room()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a command of the editor's own is under way: what comes of it is told after the answer."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._followed.pulse.beat()

    def went_on(self) -> None:
        """By the editor's own command, whose answer says so."""
        self.told_stop, self._shown = 0, None

    def knows(self, made: Breakpoint, binding: Binding) -> None:
        """In the answer to its own request."""
        self._told_bindings[made.id] = binding

    def others_now(self) -> list[dict[str, Any]]:
        """For the answer to a request that changed them: told with it, and not once more."""
        self._told_others = self.others() if self.others is not None else []
        return [_whole(*pair) for pair in self._told_others]

    def told_of(self, anothers: Breakpoint) -> bool:
        return any(it.id == anothers.id for it, _ in self._told_others or ())

    async def _tell_output(self) -> None:
        output = self._followed.session.output.raw
        until = output.end
        while self._cursor < until:
            if output.start > self._cursor:
                self._tell_gap(output.start - self._cursor)
                self._cursor = output.start
            for piece in output.pieces(self._cursor)[:_PIECES_AT_ONCE]:
                self._cursor = piece.start + len(piece.text)
                if piece.category in _SEEN:
                    self._host.event("output", {"category": piece.category, "output": piece.text})
            await self._host.room()

    def _tell_gap(self, count: int) -> None:
        text = say("[{count} characters of output were left out]", count=count).in_language(self._language)
        self._host.event("output", {"category": "console", "output": f"{text}\n"})

    def _tell_threads(self) -> None:
        now = self._followed.session.threads_alive
        for reason, ids in (("started", now - self._threads), ("exited", self._threads - now)):
            for id in sorted(ids):
                self._host.event("thread", {"reason": reason, "threadId": id})
        self._threads = now

    def _tell_breakpoints(self) -> None:
        session = self._followed.session
        if session.ended is None:  # else they went with it, and stay in the editor
            self._tell_removed()
        bindings = session.bindings
        for id, made in self.own.items():
            binding = bindings.of(id)
            if binding != self._told_bindings.get(id):
                self._told_bindings[id] = binding
                told = shapes.breakpoint(made, binding, self._places, self._language)
                self._host.event("breakpoint", {"reason": "changed", "breakpoint": told})
        if self.others is not None:
            self._tell_others(self.others())

    def _tell_removed(self) -> None:
        """By somebody else: the editor takes them out of its list as well."""
        for id in [id for id in self.own if not self._is_kept(id)]:
            del self.own[id]
            self._host.event("breakpoint", {"reason": "removed", "breakpoint": {"id": id, "verified": False}})

    def _tell_others(self, pairs: list[tuple[Breakpoint, Binding]]) -> None:
        if pairs != self._told_others:
            self._told_others = pairs
            self._host.event("dragomanBreakpoints", {"breakpoints": [_whole(*pair) for pair in pairs]})

    def _tell_state(self) -> None:
        session = self._followed.session
        stop = session.stop if session.stands else None
        if self._shown is stop and self.told_stop == (stop.number if stop else 0):
            return
        before, self.told_stop = self.told_stop, stop.number if stop else 0
        if before and before != self.told_stop:
            self._host.event("continued", shapes.continued(self._shown.thread_id if self._shown else 0))
        if stop is not None and before != self.told_stop:
            self._host.event("stopped", shapes.stopped(stop) | self._described(stop))
        elif stop is not None and self._shown is not None and self._invalidates:
            self._host.event("invalidated", {"areas": ["variables"]})
        self._shown = stop

    def _described(self, stop: Stop) -> dict[str, str]:
        """The line jumps under a person's eyes: whose doing that was stands where the editor says why it stopped."""
        if stop.by in {"", self._id}:
            return {}
        who = whom.told(self._followed.session, stop.by)
        why = stop.description or say("paused on {reason}", reason=word_of(stop.reason[:_REASON]))
        return {"description": say("By {who}: {why}", who=who, why=why).in_language(self._language)}

    def _tell_end(self) -> None:
        ended = self._followed.session.ended
        self.is_over = True
        if ended is not None and ended.by not in {"", self._id}:
            who = whom.told(self._followed.session, ended.by)
            text = say("The session was ended by {who}.", who=who).in_language(self._language)
            self._host.event("output", {"category": "console", "output": f"{text}\n"})
        if ended is not None and ended.exit_code is not None:
            self._host.event("exited", {"exitCode": ended.exit_code})
        self._host.event("terminated")


def _whole(made: Breakpoint, binding: Binding) -> dict[str, Any]:
    """As it is in the book: paths absolute, lines from 1."""
    return {**msgspec.to_builtins(made), "verified": binding.verified, "boundLine": binding.line}
