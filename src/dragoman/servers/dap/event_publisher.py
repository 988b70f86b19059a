"""Publish the events of a session to one editor.

The publisher compares the current state with what it published last, so nothing is queued: a slow editor receives
several changes as one, and learns how much output was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import msgspec

from dragoman.core.labels import label_of
from dragoman.core.localization import Language, LocalizedText, localize
from dragoman.core.safe_text import printable
from dragoman.debug import model
from dragoman.debug.model import Binding, Stop
from dragoman.debug.registry import FollowedSession
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.supervisor import DAEMON_ID
from dragoman.io.drivers.dap_editor_driver import DapEditorDriver
from dragoman.servers.dap import bodies
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.workspace.breakpoints import Breakpoint

_NAME_CHARACTERS = 60
REPLAYED_CHARACTERS = 64 * 1024
_PIECES_AT_ONCE = 32
_REASON_CHARACTERS = 40
_COUNTDOWN_TOLERANCE_S = 0.5


def actor_text(session: DebugSession, by: str) -> LocalizedText:
    """The name of a client for people.

    A client chooses its name, so it is cut to one short line. Its id is never shown.
    """
    name = DAEMON_ID if by == DAEMON_ID else printable(" ".join(session.name_of(by).split()))[:_NAME_CHARACTERS]
    return model.person_label(by) or (localize("{text}", text=name) if name else localize("another client"))


_SHOWN_CATEGORIES = frozenset({"stdout", "stderr", "console", "important"})


BreakpointPairs = Callable[[], list[tuple[Breakpoint, Binding]]]


class DapEventPublisher:
    """Publishes the state of one session to one editor.

    It owns what was published last: the stop, the threads, the bindings, and the position in the output. It never
    queues events and never changes the session.
    """

    def __init__(
        self,
        host: DapEditorDriver,
        followed: FollowedSession,
        coordinates: EditorCoordinates,
        language: Language,
        *,
        id: str,
        invalidates: bool,
        is_breakpoint_set: Callable[[int], bool],
    ) -> None:
        """`id` is the editor's own; `is_kept` says whether one of its breakpoints is still in the store."""
        self.published_stop = 0
        """The stop that was published last; zero if none was."""
        self.own: dict[int, Breakpoint] = {}
        self.others: BreakpointPairs | None = None
        """The breakpoints of other clients, for an editor that shows them."""
        self.is_over = False
        self._host = host
        self._followed = followed
        self._coordinates = coordinates
        self._language = language
        self._id = id
        self._invalidates = invalidates
        self._is_breakpoint_set = is_breakpoint_set
        self._published_others: list[tuple[Breakpoint, Binding]] | None = None
        self._published_bindings: dict[int, Binding] = {}
        self._threads: frozenset[int] = frozenset()
        self._last_stop: Stop | None = None
        self._deferrals = 0
        self._published_countdown = 0.0
        output = followed.session.output.raw
        self._cursor = max(output.end - REPLAYED_CHARACTERS, 0)

    async def run(self) -> None:
        """Publish the current state, then each change, until the end of the session is published."""
        change_count = -1
        while not self.is_over:
            change_count = await self._followed.changes.wait_for_change(change_count)
            is_over = self._followed.is_over
            await self._publish_output()
            self._publish_threads()
            self._publish_breakpoints()
            if is_over:  # After the remaining output is published.
                self._publish_end()
            elif not self._deferrals:
                self._publish_state()
                self._publish_countdown()
            await self._host.wait_for_room()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer events while a command of the editor runs: DAP clients expect them after the response."""
        self._deferrals += 1
        try:
            yield
        finally:
            self._deferrals -= 1
            self._followed.changes.notify()

    def mark_resumed(self) -> None:
        """Note that the editor resumed the program. The response says so already."""
        self.published_stop, self._last_stop = 0, None

    def mark_bound(self, made: Breakpoint, binding: Binding) -> None:
        """Note bindings that were in the response to the editor's own request."""
        self._published_bindings[made.id] = binding

    def publish_others_now(self) -> list[dict[str, Any]]:
        """Publish others' breakpoints together with the response to the request that changed them."""
        self._published_others = self.others() if self.others is not None else []
        return [_breakpoint_record(*pair) for pair in self._published_others]

    def has_published(self, other: Breakpoint) -> bool:
        return any(it.id == other.id for it, _ in self._published_others or ())

    async def _publish_output(self) -> None:
        output = self._followed.session.output.raw
        until = output.end
        while self._cursor < until:
            if output.start > self._cursor:
                self._publish_gap(output.start - self._cursor)
                self._cursor = output.start
            for piece in output.pieces(self._cursor)[:_PIECES_AT_ONCE]:
                self._cursor = piece.start + len(piece.text)
                if piece.category in _SHOWN_CATEGORIES:
                    self._host.event("output", {"category": piece.category, "output": piece.text})
            await self._host.wait_for_room()

    def _publish_gap(self, count: int) -> None:
        text = localize("[{count} characters of output omitted]", count=count).in_language(self._language)
        self._host.event("output", {"category": "console", "output": f"{text}\n"})

    def _publish_threads(self) -> None:
        now = self._followed.session.threads_alive
        for reason, ids in (("started", now - self._threads), ("exited", self._threads - now)):
            for id in sorted(ids):
                self._host.event("thread", {"reason": reason, "threadId": id})
        self._threads = now

    def _publish_breakpoints(self) -> None:
        session = self._followed.session
        if session.ended is None:  # otherwise they ended with the session, and the editor keeps them
            self._publish_removed_breakpoints()
        breakpoint_sync = session.breakpoint_sync
        for id, made in self.own.items():
            binding = breakpoint_sync.binding_of(id)
            if binding != self._published_bindings.get(id):
                self._published_bindings[id] = binding
                body = bodies.breakpoint(made, binding, self._coordinates, self._language)
                self._host.event("breakpoint", {"reason": "changed", "breakpoint": body})
        if self.others is not None:
            self._publish_others(self.others())

    def _publish_removed_breakpoints(self) -> None:
        """Publish breakpoints that another client removed, so that the editor removes them too."""
        for id in [id for id in self.own if not self._is_breakpoint_set(id)]:
            del self.own[id]
            self._host.event("breakpoint", {"reason": "removed", "breakpoint": {"id": id, "verified": False}})

    def _publish_others(self, pairs: list[tuple[Breakpoint, Binding]]) -> None:
        if pairs != self._published_others:
            self._published_others = pairs
            self._host.event("dragomanBreakpoints", {"breakpoints": [_breakpoint_record(*pair) for pair in pairs]})

    def _publish_state(self) -> None:
        session = self._followed.session
        stop = session.stop if session.is_at_stop else None
        if self._last_stop is stop and self.published_stop == (stop.number if stop else 0):
            return
        before, self.published_stop = self.published_stop, stop.number if stop else 0
        if before and before != self.published_stop:
            self._host.event("continued", bodies.continued(self._last_stop.thread_id if self._last_stop else 0))
        if stop is not None and before != self.published_stop:
            self._host.event("stopped", bodies.stopped(stop) | self._stop_description(stop))
        elif stop is not None and self._last_stop is not None and self._invalidates:
            self._host.event("invalidated", {"areas": ["variables"]})
        self._last_stop = stop

    def _publish_countdown(self) -> None:
        """When the program runs on by itself; again if that was put off."""
        left = self._followed.session.countdown.remaining_s if self.published_stop else None
        at = 0.0 if left is None else round(anyio.current_time() + left, 1)
        if abs(at - self._published_countdown) < _COUNTDOWN_TOLERANCE_S:
            return
        self._published_countdown = at
        self._host.event("dragomanCountdown", {"resumesInSeconds": left})
        if left is not None:
            text = localize("Attached program: resumes automatically in {seconds} s.", seconds=math.ceil(left))
            self._host.event("output", {"category": "important", "output": f"{text.in_language(self._language)}\n"})

    def _stop_description(self, stop: Stop) -> dict[str, str]:
        """Why the program stopped, and who caused it: the line jumps while a person watches."""
        if stop.by in {"", self._id}:
            return {}
        who = actor_text(self._followed.session, stop.by)
        why = stop.description or localize("paused on {reason}", reason=label_of(stop.reason[:_REASON_CHARACTERS]))
        return {"description": localize("By {who}: {why}", who=who, why=why).in_language(self._language)}

    def _publish_end(self) -> None:
        ended = self._followed.session.ended
        self.is_over = True
        if ended is not None and ended.by not in {"", self._id}:
            who = actor_text(self._followed.session, ended.by)
            text = localize("The session was ended by {who}.", who=who).in_language(self._language)
            self._host.event("output", {"category": "console", "output": f"{text}\n"})
        if ended is not None and ended.exit_code is not None:
            self._host.event("exited", {"exitCode": ended.exit_code})
        self._host.event("terminated")


def _breakpoint_record(made: Breakpoint, binding: Binding) -> dict[str, Any]:
    """The breakpoint as it is stored: absolute path, lines from 1."""
    return {**msgspec.to_builtins(made), "verified": binding.verified, "boundLine": binding.line}
