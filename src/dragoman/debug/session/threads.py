"""The threads of a program: which exist, and which are stopped."""

from __future__ import annotations

from collections import Counter

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug import errors
from dragoman.debug.backends.port import Backend
from dragoman.debug.model import ThreadInfo
from dragoman.protocols.dap import bodies, read_body

_RESPONSE_TIMEOUT_S = 10.0
MAX_LIVE_THREADS = 100_000
"""Threads that live at a time: no program has so many, and each costs memory here."""
MAX_LISTED_THREADS = 10_000
"""More can be nobody's to read, and each is looked at on every stop."""


class ThreadStates:
    """Which threads are stopped. An adapter stops and resumes all threads at once or each by itself; some do both."""

    def __init__(self, backend: Backend) -> None:
        self.first: int | None = None
        """The thread that was reported first: the one the program began with."""
        self.alive: set[int] = set()
        """The threads that were reported by events. Adapters without such events are asked at a stop."""
        self._backend = backend
        self._all_stopped = False
        self._opposite_ids: set[int] = set()
        self._stops: dict[int, bodies.StoppedBody] = {}
        self._stops_of: Counter[int | None] = Counter()
        self._names: dict[int, str] | None = None
        self._has_thread_events = False

    def changed(self, body: bodies.ThreadBody) -> None:
        """An adapter that reports threads by events is asked again only after such an event."""
        self.first = body.thread_id if self.first is None else self.first
        self._has_thread_events, self._names = True, None
        if body.reason == "exited":
            self._forget(body.thread_id)
        elif len(self.alive) < MAX_LIVE_THREADS:
            self.alive.add(body.thread_id)

    def stopped(self, thread_id: int, body: bodies.StoppedBody) -> None:
        self._stops_of[None if body.all_threads_stopped else thread_id] += 1
        if body.all_threads_stopped:
            self._all_stopped, self._opposite_ids = True, set()
        else:
            self._note(thread_id, is_stopped=True)
            self._stops[thread_id] = body

    def mark_resumed(self, thread_id: int, *, everything: bool) -> None:
        if everything:
            self._all_stopped, self._opposite_ids = False, set()
            self._stops.clear()
        else:
            self._note(thread_id, is_stopped=False)
            self._stops.pop(thread_id, None)

    def stops_of(self, thread_id: int) -> int:
        """How often it has stopped: what says that it went on may come after what says that it stopped again."""
        return self._stops_of[None] + self._stops_of[thread_id]

    @property
    def are_all_stopped(self) -> bool:
        return self._all_stopped

    @property
    def still_stopped(self) -> bodies.StoppedBody | None:
        """The stop of a thread that is still stopped while another was resumed."""
        return next(iter(self._stops.values()), None)

    def stopped_beside(self, thread_id: int) -> tuple[int, ...]:
        """Threads that stopped by themselves and wait for their turn."""
        return tuple(it for it in self._stops if it != thread_id)

    def is_stopped(self, thread_id: int) -> bool:
        return self._all_stopped is not (thread_id in self._opposite_ids)

    async def listed(self) -> tuple[ThreadInfo, ...]:
        names = self._names if self._names is not None else await self._ask()
        return tuple(
            ThreadInfo(id=id, name=name, state="stopped" if self.is_stopped(id) else "running")
            for id, name in names.items()
        )

    async def any(self) -> int:
        """Zero where it cannot be learned: a stop without its thread is still a stop."""
        try:
            threads = await self.listed()
        except (DragomanError, RemoteProtocolError):
            return 0
        return threads[0].id if threads else 0

    async def require(self, thread_id: int) -> None:
        """Raises if the thread is unknown. Asks the adapter again, because the thread may be new."""
        self._names = None
        known = await self.listed()
        if thread_id not in {it.id for it in known}:
            raise errors.unknown_thread(id=thread_id, threads=known)

    async def _ask(self) -> dict[int, str]:
        response = await self._backend.request("threads", timeout_s=_RESPONSE_TIMEOUT_S)
        names = {it.id: it.name for it in read_body(response, bodies.ThreadsResponse).threads[:MAX_LISTED_THREADS]}
        self._names = names if self._has_thread_events else None
        return names

    def _forget(self, thread_id: int) -> None:
        self.alive.discard(thread_id)
        self._opposite_ids.discard(thread_id)
        self._stops.pop(thread_id, None)
        del self._stops_of[thread_id]

    def _note(self, thread_id: int, *, is_stopped: bool) -> None:
        if is_stopped is self._all_stopped:
            self._opposite_ids.discard(thread_id)
        else:
            self._opposite_ids.add(thread_id)
