"""The pump of a debug adapter's connection: whatever order, silence, garbage or end comes, every caller is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError, LocalProtocolError
from dragoman.core.localization import localize
from dragoman.io.drivers.dap_adapter_driver import DapAdapterDriver
from dragoman.protocols import dap
from tests.daemons import PATIENCE
from tests.io.drivers.fake_adapter import DriverOwner, FakeAdapter, driven
from tests.io.processes.supervised_support import until

pytestmark = pytest.mark.anyio

LONG_S = 20 * PATIENCE


class Asked:
    """A request on its way, in a task of its own."""

    def __init__(self) -> None:
        self.outcome: dap.Response | str | None = None

    async def ask(
        self, driver: DapAdapterDriver, command: str, timeout_s: float = LONG_S, arguments: Any = None
    ) -> None:
        try:
            self.outcome = await driver.request(command, arguments or {}, timeout_s=timeout_s)
        except DragomanError as error:
            self.outcome = error.code

    @property
    def response(self) -> dap.Response:
        assert isinstance(self.outcome, dap.Response)
        return self.outcome


async def test_each_answer_reaches_its_own_question_whatever_their_order() -> None:
    asked = [Asked() for _ in range(3)]
    async with driven(DriverOwner()) as (driver, adapter), anyio.create_task_group() as group:
        for number, one in enumerate(asked):
            group.start_soon(one.ask, driver, f"command{number}")
        requests = [await adapter.next_request() for _ in asked]
        for request in reversed(requests):
            await adapter.answer(request, {"for": request.command})
    assert [one.response.command for one in asked] == ["command0", "command1", "command2"]
    assert [request.seq for request in requests] == [1, 2, 3]


async def test_an_answer_that_says_no_is_an_answer() -> None:
    asked = Asked()
    async with driven(DriverOwner()) as (driver, adapter), anyio.create_task_group() as group:
        group.start_soon(asked.ask, driver, "evaluate")
        await adapter.answer(await adapter.next_request(), success=False, message="no such name")
    assert (asked.response.success, asked.response.message) == (False, "no such name")


async def test_events_before_the_answer_come_in_order_and_do_not_settle_it() -> None:
    entries, asked = DriverOwner(), Asked()
    async with driven(entries) as (driver, adapter), anyio.create_task_group() as group:
        group.start_soon(asked.ask, driver, "launch")
        request = await adapter.next_request()
        for name in ("initialized", "process", "stopped", "stopped"):
            await adapter.event(name)
        await until(lambda: len(entries.events) == 4)
        assert asked.outcome is None
        await adapter.answer(request)
    assert entries.names == ["initialized", "process", "stopped", "stopped"]


async def test_answers_to_nothing_and_repeated_ones_are_counted_and_do_no_harm() -> None:
    asked, after = Asked(), Asked()
    async with driven(DriverOwner()) as (driver, adapter):
        stray = dap.frame(b'{"type":"response","request_seq":999,"success":true,"command":"x"}')
        unknown = dap.frame(b'{"type":"telemetry","seq":1}')
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, driver, "threads")
            request = await adapter.next_request()
            answer = adapter.connection.send_response(request, {})
            await adapter.stream.send(stray + unknown + answer + answer)
        async with anyio.create_task_group() as group:
            group.start_soon(after.ask, driver, "scopes")
            await adapter.answer(await adapter.next_request())
        assert driver.unmatched_counts == {"unknown_answer": 1, "duplicate_answer": 1, "unknown_message": 1}
    assert asked.response.success
    assert after.response.success


async def test_silence_is_reported_at_the_deadline_and_the_late_answer_is_read() -> None:
    asked, after = Asked(), Asked()
    async with driven(DriverOwner()) as (driver, adapter):
        await asked.ask(driver, "pause", timeout_s=0.02)
        assert asked.outcome == "adapter_silent"
        late = await adapter.next_request()
        async with anyio.create_task_group() as group:
            group.start_soon(after.ask, driver, "threads")
            await adapter.answer(late)
            await adapter.answer(await adapter.next_request())
        assert not driver.unmatched_counts
    assert after.response.command == "threads"


async def test_a_cancelled_caller_never_cuts_a_message_short() -> None:
    """Larger than any socket's buffer: the caller leaves in the middle of the sending."""
    asked = Asked()
    large = {"expression": "x" * 4_000_000}
    async with driven(DriverOwner()) as (driver, adapter):
        with anyio.move_on_after(0.02):
            await driver.request("evaluate", large, timeout_s=LONG_S)
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, driver, "threads")
            first, second = await adapter.next_request(), await adapter.next_request()
            await adapter.answer(first)
            await adapter.answer(second)
    assert (first.command, second.command) == ("evaluate", "threads")
    assert dap.read_arguments(first, dict[str, str]) == large
    assert asked.response.command == "threads"


@pytest.mark.parametrize(
    ("last_words", "code"),
    [
        (b"", "adapter_gone"),
        (b"Content-Length: 100\r\n\r\n{", "adapter_broke_protocol"),
        (b"Traceback (most recent call last):\r\n\r\n", "adapter_broke_protocol"),
        (dap.frame(b"not json"), "adapter_broke_protocol"),
        (b"Content-Length: 99999999999\r\n\r\n", "adapter_broke_protocol"),
    ],
)
async def test_the_end_answers_everybody_at_once_and_says_why(last_words: bytes, code: str) -> None:
    entries, asked, late = DriverOwner(), [Asked(), Asked()], Asked()
    async with driven(entries) as (driver, adapter):
        async with anyio.create_task_group() as group:
            for one in asked:
                group.start_soon(one.ask, driver, "continue")
                await adapter.next_request()
            await adapter.event("output", {"output": "bye"})
            await adapter.stream.send(last_words)
            await adapter.stream.send_eof()
        with anyio.fail_after(LONG_S):
            await driver.closed.wait()
        assert entries.names == ["output"], "what came before the end is handled before the end is told"
        assert (driver.fault is None) == (code == "adapter_gone")
        await late.ask(driver, "threads")
    assert [one.outcome for one in [*asked, late]] == [code] * 3


async def test_ten_thousand_outputs_arrive_whole_and_in_order() -> None:
    result = DriverOwner()
    async with driven(result) as (_, adapter):
        for start in range(0, 10_000, 500):
            events = [adapter.connection.send_event("output", {"output": str(n)}) for n in range(start, start + 500)]
            await adapter.stream.send(b"".join(events))
        await until(lambda: len(result.events) == 10_000)
    texts = [dap.read_body(event, dict[str, str])["output"] for event in result.events]
    assert texts == [str(n) for n in range(10_000)]


@asynccontextmanager
async def _flooding(adapter: FakeAdapter, count: int) -> AsyncIterator[None]:
    async def flood() -> None:
        for number in range(count):
            await adapter.event("output", {"output": f"{number} " + "x" * 1000})

    async with anyio.create_task_group() as group:
        group.start_soon(flood)
        yield
        group.cancel_scope.cancel()


async def test_while_nobody_asks_a_full_sink_slows_the_adapter_and_loses_nothing() -> None:
    result = DriverOwner()
    result.room = 20
    async with driven(result) as (_, adapter), _flooding(adapter, 3000):
        await until(lambda: result.is_full)
        await anyio.wait_all_tasks_blocked()
        assert len(result.events) < 200
        result.room = 1_000_000
        result.wake()
        await until(lambda: len(result.events) == 3000)
    assert result.names == ["output"] * 3000
    assert result.omitted == 0


async def test_while_somebody_asks_a_full_sink_may_omit_output_and_nothing_else() -> None:
    entries, asked = DriverOwner(), Asked()
    entries.room = 20
    async with driven(entries) as (driver, adapter), _flooding(adapter, 3000):
        await until(lambda: entries.is_full)
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, driver, "pause")
            request = await adapter.next_request()
            await until(lambda: entries.omitted)
            entries.room = 1_000_000
            await adapter.event("stopped")
            await adapter.answer(request)
        await until(lambda: "stopped" in entries.names)
    assert asked.response.command == "pause"


async def test_a_flood_of_other_events_ends_the_connection_and_nothing_else() -> None:
    entries, asked = DriverOwner(), Asked()
    entries.room = 50
    async with driven(entries) as (driver, adapter), anyio.create_task_group() as group:
        group.start_soon(asked.ask, driver, "threads")
        await adapter.next_request()
        await adapter.stream.send(b"".join(adapter.connection.send_event("thread", {}) for _ in range(200)))
        await until(lambda: asked.outcome)
        assert asked.outcome == "adapter_broke_protocol"
        assert driver.fault is not None
        assert driver.fault.code == "too_many_events"
        await driver.closed.wait()


async def test_a_request_of_the_adapter_is_served_while_others_continue() -> None:
    entries, asked = DriverOwner(), Asked()
    async with driven(entries) as (driver, adapter):
        await adapter.stream.send(adapter.connection.send_request("runInTerminal", {"cwd": "/", "args": ["x"]}))
        got = await adapter.next()
        assert isinstance(got, dap.ResponseReceived)
        assert (got.message.success, got.message.command) == (True, "runInTerminal")
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, driver, "threads")
            await adapter.answer(await adapter.next_request())
    assert entries.requests == ["runInTerminal"]


async def test_a_refused_request_of_the_adapter_is_answered_with_the_reason() -> None:
    async def refuse(request: dap.Request) -> Any:
        raise DragomanError("not_found", localize("{text}", text="no such terminal"), hint=None)

    async with driven(DriverOwner()) as (driver, adapter):
        driver._on_request = refuse
        await adapter.stream.send(adapter.connection.send_request("runInTerminal", {}))
        got = await adapter.next()
        assert isinstance(got, dap.ResponseReceived)
        assert (got.message.success, got.message.message) == (False, "no such terminal")


async def test_a_repeated_request_of_the_adapter_is_served_once() -> None:
    entries, released = DriverOwner(), anyio.Event()

    async def slowly(request: dap.Request) -> Any:
        entries.requests.append(request.command)
        await released.wait()
        return {}

    async with driven(entries) as (driver, adapter):
        driver._on_request = slowly
        request = adapter.connection.send_request("startDebugging", {})
        await adapter.stream.send(request + request)
        await until(lambda: driver.unmatched_counts["repeated_request"])
        released.set()
        assert isinstance(await adapter.next(), dap.ResponseReceived)
    assert entries.requests == ["startDebugging"]


async def test_an_adapter_that_ends_while_it_is_served_is_an_ordinary_end() -> None:
    entries, released = DriverOwner(), anyio.Event()

    async def slowly(request: dap.Request) -> Any:
        entries.requests.append(request.command)
        await released.wait()
        return {}

    async with driven(entries) as (driver, adapter):
        driver._on_request = slowly
        await adapter.event("terminated")
        await adapter.stream.send(adapter.connection.send_request("startDebugging", {}))
        await until(lambda: entries.requests)
        await adapter.stream.send_eof()
        await until(lambda: not driver._can_send)
        released.set()
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(LONG_S):
            await driver.closed.wait()
        assert driver.fault is None


async def test_what_json_cannot_carry_is_the_callers_fault_and_nothing_is_sent() -> None:
    asked = Asked()
    async with driven(DriverOwner()) as (driver, adapter):
        with pytest.raises(LocalProtocolError):
            await driver.request("evaluate", {"value": object()}, timeout_s=LONG_S)
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, driver, "threads")
            request = await adapter.next_request()
            await adapter.answer(request)
    assert request.command == "threads"


async def test_an_adapter_that_reads_nothing_does_not_fill_our_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.io.drivers.dap_adapter_driver.MAX_UNSENT_BYTES", 100_000)
    outcomes: list[Asked] = [Asked() for _ in range(60)]
    async with driven(DriverOwner()) as (driver, _):
        for one in outcomes:
            await one.ask(driver, "evaluate", timeout_s=0.002, arguments={"expression": "x" * 50_000})
        assert len(driver._outgoing) < 200_000
    assert {one.outcome for one in outcomes} == {"adapter_silent"}


async def test_a_link_that_breaks_under_a_waiting_caller_answers_it() -> None:
    asked = Asked()
    async with driven(DriverOwner()) as (driver, adapter), anyio.create_task_group() as group:
        group.start_soon(asked.ask, driver, "continue")
        await adapter.next_request()
        await adapter.stream.aclose()
    assert asked.outcome == "adapter_gone"


async def test_a_cancelled_driver_answers_every_caller_that_still_waits() -> None:
    asked, entries = Asked(), DriverOwner()
    async with anyio.create_task_group() as outer:
        async with driven(entries) as (driver, adapter):
            outer.start_soon(asked.ask, driver, "continue")
            await adapter.next_request()
        await until(lambda: asked.outcome)
    assert asked.outcome == "adapter_gone"
    assert driver.closed.is_set()
