"""A debug adapter that lies, as a process of its own: it harms its own session at most, and delays nobody."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.spec import AdapterSpec
from dragoman.debug.backends.debuggee_tree.request_router import ThreadIds, _to_tree_response
from dragoman.debug.backends.port import make_response
from dragoman.debug.model import LaunchRequest, ProgramEnd, Stop
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.threads import MAX_LISTED_THREADS, MAX_LIVE_THREADS
from dragoman.io.processes.command import ProcessCommand
from dragoman.protocols.dap import Capabilities, Response, read_body
from tests.conformance.test_python import client_of, service_in
from tests.daemons import PATIENCE
from tests.machine import ready_s

pytestmark = pytest.mark.anyio

ADAPTER = Path(__file__).with_name("lying_adapter.py")
MAX_LAG_S = 0.25
WANTED = {"type": "lying", "request": "launch", "name": "x", "program": "main.x"}


def spec_of(lies: Path) -> AdapterSpec:
    words = [sys.executable, str(ADAPTER), str(lies)]
    return AdapterSpec(
        name="lying",
        types=frozenset({"lying"}),
        adapter_id="lying",
        transport="stdio",
        command=lambda _: ProcessCommand(words, dict(os.environ), Path("/")),
        arguments=lambda it: dict(it.arguments),
    )


@asynccontextmanager
async def started(tmp_path: Path, **lies: Any) -> AsyncIterator[DebugOutcome]:
    (tmp_path / "main.x").write_text("x\n")
    (tmp_path / "lies.json").write_text(json.dumps(lies))
    async with service_in(tmp_path, spec_of(tmp_path / "lies.json")) as service:
        yield await service.start(client_of(tmp_path), LaunchRequest(configuration=WANTED), within_s=20 * PATIENCE)


async def require_prompt(act: Callable[[], Awaitable[object]]) -> None:
    """A timer beside it is never late. Three tries: what the work itself causes comes each time, what a crowded machine
    does comes and goes."""
    lags: list[float] = []
    while not lags or lags[-1] >= MAX_LAG_S:
        assert len(lags) < 3, lags
        lags.append(await _lag_s(act))


async def _lag_s(act: Callable[[], Awaitable[object]]) -> float:
    worst = 0.0

    async def measure() -> None:
        nonlocal worst
        while True:
            crowded, due = ready_s("self"), anyio.current_time() + 0.01
            await anyio.sleep_until(due)
            worst = max(worst, anyio.current_time() - due - (ready_s("self") - crowded))

    async with anyio.create_task_group() as group:
        group.start_soon(measure)
        await act()
        await anyio.sleep(0.02)  # one more look: the last piece of work counts as well
        group.cancel_scope.cancel()
    return worst


async def require_sound(session: DebugSession) -> None:
    """It stands, answers, and ends when it is told to."""
    assert len(await session.inspection.threads()) == 1
    assert (await session.inspection.scopes(None, None))[0].name == "Locals"
    await session.terminate()
    assert isinstance(await session.outcome(10_000, 10 * PATIENCE), ProgramEnd)


def event(name: str, body: Any) -> dict[str, Any]:
    return {"type": "event", "event": name, "body": body}


def request(number: int, command: str, arguments: Any) -> dict[str, Any]:
    return {"seq": number, "type": "request", "command": command, "arguments": arguments}


EVENTS = ("stopped", "continued", "thread", "breakpoint", "process", "output", "capabilities", "debugpyAttach")
ODD_BODIES: list[Any] = [
    5, [], "x", {"threadId": [1]}, {"threadId": {}}, {"reason": []}, {"breakpoint": 5},
    {"breakpoint": {"id": [1]}},
    {"reason": "x", "threadId": 1, "hitBreakpointIds": 5}, {"reason": "x", "threadId": 1, "hitBreakpointIds": [[1]]},
    {"output": 5, "category": []}, {"capabilities": {"x": "x" * 200_000}}, {"connect": {"port": "x"}},
]  # fmt: skip


async def test_events_of_any_form_are_passed_over(tmp_path: Path) -> None:
    odd = [event(name, body) for body in ODD_BODIES for name in EVENTS] + [event("thread", {"reason": "exited"})]
    async with started(tmp_path, running=odd) as happened:
        assert isinstance(happened.outcome, Stop)
        await require_sound(happened.session)


async def test_a_reverse_request_of_any_form_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    """A child session without a port of its own too: there is one pair of streams."""
    made = tmp_path / "made"
    words: list[Any] = [
        {}, 5, {"args": []}, {"args": ["touch", str(made)], "cwd": 5}, {"args": ["\0"]}, {"args": [str(tmp_path)]},
        {"args": ["touch", str(made)], "env": {"A=B": "x"}}, {"configuration": 5, "request": "attach"},
        {"configuration": {}, "request": "launch"}, {"configuration": {}, "request": "disconnect"},
        {"configuration": {"connect": {"host": "127.0.0.1", "port": 1}}, "request": "attach"},
    ]  # fmt: skip
    commands = ("runInTerminal", "startDebugging", "evaluate")
    asked = [request(9 * at + of, name, it) for at, it in enumerate(words) for of, name in enumerate(commands)]
    async with started(tmp_path, running=asked) as happened:
        assert isinstance(happened.outcome, Stop)
        await require_sound(happened.session)
    assert not made.exists()


async def test_answers_that_nobody_asked_for_settle_nothing(tmp_path: Path) -> None:
    unmatched_counts = [
        {"type": "response", "request_seq": it, "success": False, "command": "x"} for it in (-1, 0, 50, 2**63)
    ]
    async with started(tmp_path, before=unmatched_counts, running=unmatched_counts, times=2) as happened:
        assert isinstance(happened.outcome, Stop)
        await require_sound(happened.session)


@pytest.mark.parametrize(
    "threads", [[{"name": "x"}], [{"id": [1]}], [{"id": "one"}], [{"id": None}], [{"id": 1.5}], 5, [5]]
)
async def test_threads_without_a_number_are_refused_and_the_session_continues(tmp_path: Path, threads: Any) -> None:
    async with started(tmp_path, answers={"threads": {"threads": threads}}) as happened:
        with pytest.raises((DragomanError, RemoteProtocolError)):
            await happened.session.inspection.threads()
        assert await happened.session.inspection.scopes(None, None)


async def test_numbers_of_any_size_come_through(tmp_path: Path) -> None:
    frame = {"id": -(10**25), "name": "f", "line": 10**30, "column": -7}
    variable = {"name": "n", "value": "1", "variablesReference": 10**33, "indexedVariables": 10**30}
    lies = {
        "threads": {"threads": [{"id": 10**30, "name": "x"}, {"id": -5, "name": "y"}]},
        "stackTrace": {"stackFrames": [frame], "totalFrames": 10**40},
        "variables": {"variables": [variable]},
    }
    async with started(tmp_path, answers=lies) as happened:
        inspection = happened.session.inspection
        assert len(await inspection.threads()) == 2
        inner = (
            await inspection.page((await inspection.scopes(None, None))[0].reference, start=0, count=10)
        ).variables[0]
        assert (await inspection.page(inner.reference, start=10**29, count=10)).total


@pytest.mark.parametrize(
    "raw", ["Content-Length: 99999999999\r\n\r\n{}", 'Content-Length: 90\r\n\r\n{"seq":1', "\0" * 9000]
)
async def test_half_messages_and_giant_ones_end_the_session_with_the_reason(tmp_path: Path, raw: str) -> None:
    async with started(tmp_path, raw=raw) as happened:
        assert isinstance(happened.outcome, ProgramEnd)
        assert "broke the protocol" in happened.outcome.message


async def test_one_that_never_ends_is_ended(tmp_path: Path) -> None:
    async with started(tmp_path, never_ends=True) as happened:
        await require_sound(happened.session)


async def test_as_many_of_anything_as_a_message_holds_delay_nobody(tmp_path: Path) -> None:
    many = {
        "threads": ("threads", {"id": 1, "name": "t"}, 250_000),
        "scopes": ("scopes", {"name": "s", "variablesReference": 5}, 250_000),
        "variables": ("variables", {"name": "v", "value": "1", "variablesReference": 7}, 200_000),
        "modules": ("modules", {"id": 1, "name": "m"}, 250_000),
    }
    async with started(tmp_path, many=many) as happened:
        inspection = happened.session.inspection

        async def modules() -> None:
            with pytest.raises(RemoteProtocolError, match="too many parts"):
                await inspection.ask("modules", {})

        async def variables() -> None:
            assert (await inspection.page(happened_reference, start=199_990, count=100)).total == 200_000

        happened_reference = (await inspection.scopes(None, None))[0].reference
        for act in (inspection.threads, lambda: inspection.scopes(None, None), variables, modules):
            await require_prompt(act)


async def test_a_program_that_forks_two_hundred_times_delays_nobody(tmp_path: Path) -> None:
    """While it is watched for sockets, stepped and ended; nothing of it is left."""
    earlier = set(psutil.Process().children(recursive=True))
    async with started(tmp_path, forks=200) as happened:
        session = happened.session

        async def step() -> None:
            before = session.last_stop
            await session.run_control.step("over")
            assert isinstance(await session.outcome(before, 20 * PATIENCE), Stop)

        await require_prompt(step)
        root = set(psutil.Process().children(recursive=True)) - earlier
        assert len(root) >= 200
        await require_sound(session)
    assert not [it for it in root if it.is_running() and it.status() != psutil.STATUS_ZOMBIE]


async def test_a_child_sessions_long_answer_delays_nobody_and_keeps_its_rows() -> None:
    """Every node program is a child of js-debug's: an object with many properties is enough, without any lie."""
    plain = {"name": "p", "value": "1", "type": "number", "variablesReference": 0, "evaluateName": "o.p"}
    deep = {**plain, "variablesReference": 3}
    sourced = {**plain, "location": {"sourceReference": 4}}
    response = make_response(
        "variables", {"variables": [plain, deep, sourced] * 30_000, "x": {"variablesReference": 2}}
    )
    raised: list[Response] = []

    async def act() -> None:
        raised.append(await _to_tree_response(response, 2))

    await require_prompt(act)
    place, entries = 2 << 40, read_body(raised[0], dict[str, Any])
    assert entries["variables"][:2] == [plain, {**deep, "variablesReference": place + 3}]
    assert entries["variables"][2]["location"] == {"sourceReference": place + 4}
    assert (len(entries["variables"]), entries["x"]) == (90_000, {"variablesReference": place + 2})


async def test_a_child_sessions_deep_answer_is_refused() -> None:
    deep = msgspec.Raw(b'{"x":[{"variablesReference":1,"y":' + b'{"a":' * 400 + b"1" + b"}" * 402 + b"]}")
    with pytest.raises(RemoteProtocolError):
        await _to_tree_response(msgspec.structs.replace(make_response("variables", {}), body=deep), 2)


def test_threads_and_capabilities_that_are_reported_have_an_end() -> None:
    threads = ThreadIds()
    for number in range(1, MAX_LIVE_THREADS + 1):
        threads.ours(0, number)
    with pytest.raises(RemoteProtocolError):
        threads.ours(0, MAX_LIVE_THREADS + 1)
    threads.forget(1)
    assert threads.ours(0, MAX_LIVE_THREADS + 1) == MAX_LIVE_THREADS + 1
    assert MAX_LISTED_THREADS < MAX_LIVE_THREADS
    capabilities = Capabilities(msgspec.Raw(b"{}"))
    for number in range(100):
        capabilities = capabilities.merged(msgspec.Raw(msgspec.json.encode({f"x{number}": "x" * 500})))
    with pytest.raises(RemoteProtocolError):
        capabilities.merged(msgspec.Raw(msgspec.json.encode({"more": "x" * 100_000})))
    assert capabilities.get("x0")
