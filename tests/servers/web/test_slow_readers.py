"""Readers of the feed that stop reading: bounded memory, others in order, a gap or a close for the slow one."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator

import anyio
import anyio.lowlevel
import pytest

from dragoman.io.event_loop import EventLoopLagMeter
from dragoman.servers.web.feed import BATCH_BYTES, BEHIND_AT_MOST
from dragoman.servers.web.status_api import ANSWER_BYTES
from tests.daemons import eventually
from tests.proving import log_in
from tests.raw_http import WebSocket
from tests.servers.target_daemon import MB, TargetDaemon, own_lag, settled, target_daemon

EVENTS = 50_000
STEP = 1000


@pytest.fixture
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    """One a test: what was held for a slow reader must not hide in what another test left."""
    with target_daemon(tmp_path_factory.mktemp("victim")) as daemon:
        yield daemon


def sequences(feed: WebSocket, upto: int) -> list[int]:
    found: list[int] = []
    while not found or found[-1] < upto:
        found += [row["sequence"] for row in feed.receive_json()["events"]]
    return found


def opened(victim: TargetDaemon, *, receive_buffer: int = 0) -> tuple[WebSocket, int]:
    feed = victim.feed(receive_buffer=receive_buffer)
    return feed, int(feed.receive_json()["sequence"])


def test_a_reader_that_stops_costs_little_and_resumes_behind_a_gap(victim: TargetDaemon) -> None:
    victim.patch("dragoman.io.net.http_server:TAKEN_WITHIN_S", 120)  # a busy machine takes long over the events
    slow, slow_from = opened(victim, receive_buffer=4096)
    quick, quick_from = opened(victim)
    victim.append(STEP)
    sequences(quick, quick_from + STEP)
    before = victim.resident()
    with slow, quick:
        for done in range(STEP, EVENTS, STEP):
            last = victim.append(STEP)
            assert sequences(quick, last) == list(range(quick_from + done + 1, last + 1))
        assert victim.resident() - before < 20 * MB
        result = until_gap(slow, slow_from)
        assert result["resumed_at"] - result["after"] > BEHIND_AT_MOST
        last = victim.append(1)
        assert sequences(slow, last)[0] > result["after"]
    victim.assert_punctual()


def until_gap(feed: WebSocket, start: int) -> dict[str, int]:
    """What was on its way comes in order and without holes; then the gap begins where it ended."""
    result = start
    while (message := feed.receive_json())["type"] == "events":
        numbers = [row["sequence"] for row in message["events"]]
        assert numbers == list(range(result + 1, result + 1 + len(numbers)))
        result = numbers[-1]
    assert (message["type"], message["after"]) == ("gap", result)
    return {"after": message["after"], "resumed_at": message["resumed_at"]}


@pytest.fixture
def impatient(victim: TargetDaemon) -> TargetDaemon:
    victim.patch("dragoman.io.net.http_server:TAKEN_WITHIN_S", 0.3)
    victim.patch("dragoman.io.net.http_server:CLOSED_WITHIN_S", 0.3)
    return victim


def test_a_reader_that_never_reads_again_is_closed_and_released(impatient: TargetDaemon) -> None:
    stuck, _ = opened(impatient, receive_buffer=4096)
    with stuck:
        assert impatient.connections() == 1
        impatient.append(4000, size=5000)
        assert settled(impatient.connections, 0) == 0
    impatient.assert_serves()


def test_a_reader_that_wakes_up_after_its_deadline_learns_why_it_was_closed(victim: TargetDaemon) -> None:
    victim.patch("dragoman.io.net.http_server:TAKEN_WITHIN_S", 0.3)
    stuck, _ = opened(victim, receive_buffer=4096)
    with stuck:
        assert victim.links() == 1
        victim.append(4000, size=5000)
        assert settled(victim.links, 0) == 0
        assert stuck.close_code() == 1013


def test_an_answer_that_nobody_takes_does_not_hold_its_connection_for_ever(impatient: TargetDaemon) -> None:
    impatient.append(200, size=20_000)
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            page = stack.enter_context(log_in(impatient.paths).open("/link/calls", receive_buffer=4096))
            for number in range(20):
                page.send(json.dumps({"id": number, "path": "/api/events?limit=200"}).encode())
        eventually(lambda: impatient.connections() == 5)
        assert settled(impatient.connections, 0) == 0
    impatient.assert_serves()


def test_large_events_are_reported_in_small_messages(victim: TargetDaemon) -> None:
    feed, start = opened(victim)
    with feed:
        last = victim.append(40, size=60_000)
        found: list[int] = []
        while not found or found[-1] < last:
            opcode, payload = feed.receive()
            assert (opcode, len(payload) < BATCH_BYTES + 70_000) == (1, True)
            found += [int(number) for number in numbers_in(payload)]
    assert found == list(range(start + 1, last + 1))


def test_an_answer_has_as_many_events_as_fit(victim: TargetDaemon) -> None:
    last = victim.append(200, size=60_000)
    answer = victim.ask_page(f"/api/events?after={last - 200}&limit=200")
    data = [row["sequence"] for row in answer.json()["events"]]
    assert len(answer.body) <= ANSWER_BYTES + 100
    assert data == list(range(last - 199, last - 199 + len(data)))
    assert (answer.json()["more"], answer.json()["last_sequence"]) == (True, last)


def numbers_in(payload: bytes) -> Iterator[int]:
    yield from (row["sequence"] for row in json.loads(payload)["events"])


def test_fifty_readers_get_the_same_in_order_while_half_of_them_stop(victim: TargetDaemon) -> None:
    with contextlib.ExitStack() as stack:
        readers = [opened(victim) for _ in range(25)]
        stopped = [opened(victim, receive_buffer=4096) for _ in range(25)]
        for feed, _ in (*readers, *stopped):
            stack.enter_context(feed)
        before = victim.resident()
        delays: list[float] = []
        for _ in range(10):
            started = time.monotonic()
            last = victim.append(400)
            result = in_threads(readers, last)
            delays.append(time.monotonic() - started)
            assert all(numbers == result[0] for numbers in result)
        assert victim.resident() - before < 20 * MB
        assert sorted(delays)[len(delays) // 2] < 1.0
    victim.assert_punctual()


def in_threads(readers: list[tuple[WebSocket, int]], last: int) -> list[list[int]]:
    entries: list[list[int]] = [[] for _ in readers]

    def read(index: int) -> None:
        entries[index] = sequences(readers[index][0], last)

    threads = [threading.Thread(target=read, args=[index]) for index in range(len(readers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return entries


def works() -> None:
    until = time.thread_time() + 0.3
    while time.thread_time() < until:
        pass


@pytest.mark.anyio
@pytest.mark.parametrize("hold_up", [works, lambda: time.sleep(0.3)])
async def test_a_loop_that_is_held_up_by_its_own_work_is_not_punctual(hold_up: Callable[[], None]) -> None:
    """The measure of the tests above: it sees work, and a wait that is none, however busy the machine is. What other
    threads of this process wait for a processor is no excuse for it."""
    meter = EventLoopLagMeter()
    async with anyio.create_task_group() as group:
        group.start_soon(own_lag, meter, threading.get_native_id())
        await anyio.wait_all_tasks_blocked()
        hold_up()
        for _ in range(3):  # its timer is seen to be due, it wakes, it has written down how late it was
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert meter.worst_ms() > 200
