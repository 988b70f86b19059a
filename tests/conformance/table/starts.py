"""Programs that run already, and several at once."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

from tests.conformance.table.attaching import by_pid, listening, program_at, running
from tests.conformance.table.rows import behaviour
from tests.conformance.table.stage import Answer, CannotError, Stage, Stop, eventually


async def _attached_and_resumed(stage: Stage, configuration: Answer, pid: int) -> None:
    id = await stage.set("computes")
    answer = await stage.call("start_debugging", configuration=configuration)
    if answer["status"] == "error":
        raise CannotError(f"{answer['message']} {answer.get('debugger_says') or ''}")
    assert answer["status"] == "stopped", answer
    stop = Stop(answer["stop_event_data"])
    stop = stop if stop.hit else await stage.on()  # some halt it first where it is
    assert (stop.line, stop.hit) == (stage.line("computes"), [id])
    assert int(await stage.value("n * 10")) == int(stop.local["n"]) * 10
    await stage.step("over")
    await stage.leave()
    await _goes_on(pid)


async def _goes_on(pid: int) -> None:
    """It lives, stands under no debugger, and works."""
    before = _worked(pid)

    async def works() -> bool:
        return _worked(pid) > before

    try:
        await eventually(works, within_s=4)
    except TimeoutError:
        raise CannotError(f"after `disconnect` the program did not continue: {psutil.Process(pid).status()}") from None


def _worked(pid: int) -> int:
    """How often its threads went to sleep of their own will: once a lap at least."""
    lines = [
        line for task in Path(f"/proc/{pid}/task").iterdir() for line in (task / "status").read_text().splitlines()
    ]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


@behaviour("attach by process ID, and detach without ending the program")
async def attach_by_pid(stage: Stage) -> None:
    with running(by_pid(stage)) as process:
        named = {"type": stage.language.type, "request": "attach", "name": "a", "processId": process.pid}
        await _attached_and_resumed(stage, named, process.pid)


@behaviour("attach by port, and detach without ending the program")
async def attach_by_port(stage: Stage) -> None:
    with listening(stage) as (started, named, port):
        pid = await program_at(started, port)
        wanted = {"type": stage.language.type, "request": "attach", "name": "a", **named}
        try:
            await _attached_and_resumed(stage, wanted, pid)
        finally:  # a server may have put it into a group of its own
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()


@behaviour("two sessions at once")
async def two_sessions(stage: Stage) -> None:
    await stage.set("calls")
    first, second = [(await stage.start("walk"))["session_id"] for _ in range(2)]
    assert first != second
    stops = [await stage.step("over", session_id=id) for id in (first, second)]
    assert [(it.data["session_id"], it.line) for it in stops] == [(id, stage.line("prints")) for id in (first, second)]
    await stage.done("stop_debugging", session_id=second)
    assert await stage.value("n", session_id=first) == "0"
