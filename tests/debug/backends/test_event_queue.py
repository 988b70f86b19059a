"""The queue between an adapter's bytes and its session: what is taken at once, what waits, and what is too much."""

from __future__ import annotations

import anyio
import pytest

from dragoman.core.errors import RemoteProtocolError
from dragoman.debug.backends import event_queue
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.protocols.dap.bodies import EventBody, OutputBody, StoppedBody, TerminatedBody, ThreadBody

pytestmark = pytest.mark.anyio

STOPPED = StoppedBody(reason="step", thread_id=1)


def printed(text: str) -> OutputBody:
    return OutputBody(output=text, category="stdout")


class Session:
    """Takes output and the end at once, and leaves stops in the queue."""

    def __init__(self) -> None:
        self.taken: list[EventBody] = []

    def take(self, body: EventBody) -> bool:
        if isinstance(body, StoppedBody):
            return False
        self.taken.append(body)
        return True


async def waiting(queue: AdapterEventQueue) -> list[EventBody]:
    queue.close()
    return [body async for body in queue.ordered()]


async def test_output_and_the_end_are_taken_while_a_stop_waits() -> None:
    queue, session = AdapterEventQueue(), Session()
    queue.attach(session.take)
    for body in (printed("a"), STOPPED, printed("b"), TerminatedBody()):
        queue.put(body)
    assert session.taken == [printed("a"), printed("b"), TerminatedBody()]
    assert await waiting(queue) == [STOPPED]


async def test_what_came_before_the_session_is_taken_in_its_order() -> None:
    queue, session = AdapterEventQueue(), Session()
    for body in (printed("a"), STOPPED, printed("b")):
        queue.put(body)
    queue.attach(session.take)
    assert session.taken == [printed("a"), printed("b")]
    assert await waiting(queue) == [STOPPED]


async def test_output_beyond_the_bound_is_omitted_with_a_marker_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "MAX_QUEUED_BYTES", 10)
    queue, session = AdapterEventQueue(), Session()
    for _ in range(6):
        queue.put(printed("12345"), 5)
    queue.put(STOPPED)
    queue.put(printed("12345"), 5)
    queue.attach(session.take)
    texts = [body.output for body in session.taken if isinstance(body, OutputBody)]
    gaps = ["[20 bytes of output were left out]\n", "[5 bytes of output were left out]\n"]
    assert texts == ["12345", "12345", *gaps]
    assert await waiting(queue) == [STOPPED]


async def test_other_events_are_never_omitted_and_twice_the_bound_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "MAX_QUEUED_EVENTS", 3)
    queue = AdapterEventQueue()
    for number in range(6):
        queue.put(ThreadBody(reason="started", thread_id=number))
    assert queue.is_full
    with pytest.raises(RemoteProtocolError):
        queue.put(ThreadBody(reason="started", thread_id=7))
    assert len(await waiting(queue)) == 6


async def test_a_sender_that_can_wait_waits_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "MAX_QUEUED_EVENTS", 1)
    queue, sent = AdapterEventQueue(), []

    async def send() -> None:
        for number in range(3):
            await queue.send(StoppedBody(reason="step", thread_id=number))
            sent.append(number)

    async with anyio.create_task_group() as group:
        group.start_soon(send)
        await anyio.wait_all_tasks_blocked()
        assert sent == []
        taken = queue.ordered()
        for _ in range(3):
            await anext(taken)
            await anyio.wait_all_tasks_blocked()
    assert sent == [0, 1, 2]


async def test_everyone_who_waits_for_room_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "MAX_QUEUED_EVENTS", 1)
    queue = AdapterEventQueue()
    queue.put(STOPPED)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(queue.wait_for_room)
        await anyio.wait_all_tasks_blocked()
        await anext(queue.ordered())
        with anyio.fail_after(5):
            await queue.wait_for_room()


async def test_a_layer_in_between_holds_nothing_and_is_full_when_the_next_queue_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_queue, "MAX_QUEUED_EVENTS", 1)
    first, second = AdapterEventQueue(), AdapterEventQueue()

    def take(body: EventBody) -> bool:
        second.put(body)
        return True

    first.attach(take, into=second)
    first.put(STOPPED)
    assert first.is_full
    assert await waiting(first) == []
    assert await waiting(second) == [STOPPED]


async def test_after_the_end_nothing_is_queued() -> None:
    queue = AdapterEventQueue()
    queue.close()
    queue.put(STOPPED)
    assert await waiting(queue) == []


async def test_what_waits_is_dropped_once_nobody_handles_it_and_output_is_still_taken() -> None:
    queue, session = AdapterEventQueue(), Session()
    queue.attach(session.take)
    queue.put(STOPPED)
    queue.discard()
    queue.put(STOPPED)
    queue.put(printed("last"))
    assert session.taken == [printed("last")]
    assert await waiting(queue) == []
