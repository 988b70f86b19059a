"""How programs end, and what they were given."""

from __future__ import annotations

from tests.conformance.table.rows import behaviour, on_run, walking
from tests.conformance.table.stage import Answer, CannotError, Stage, Stop, eventually


async def _once(stage: Stage) -> Answer:
    (stage.workspace / "sub").mkdir(exist_ok=True)
    given = {"stdin": "hello\n", "env": {"WHO": "me"}, "cwd": "sub"}
    answer = await stage.ran("once", **given)
    assert answer["status"] == "completed", answer
    return answer


@on_run("exit code")
async def exit_code(stage: Stage) -> None:
    assert (await _once(stage))["exit_code"] == 3


@on_run("standard input")
async def stdin(stage: Stage) -> None:
    assert "read hello\n" in (await _once(stage))["printed"]


@on_run("environment and working folder")
async def environment(stage: Stage) -> None:
    assert f"env me cwd {stage.workspace / 'sub'}\n" in (await _once(stage))["printed"]


@behaviour("without input, a program that reads does not wait")
async def no_input(stage: Stage) -> None:
    answer = await stage.start("once")
    printed = (await stage.done("get_output", session_id=answer["session_id"]))["output"]
    assert (answer["status"], "read \n" in printed, "env client" in printed) == ("completed", True, True)


@behaviour("no_debug: runs to the end and ignores breakpoints")
async def no_debug(stage: Stage) -> None:
    await stage.set("computes")
    answer = await stage.start("once", no_debug=True)
    printed = (await stage.done("get_output", session_id=answer["session_id"]))["output"]
    assert (answer["status"], answer["exit_code"], "total 90" in printed) == ("completed", 3, True)


@behaviour("end by a signal")
async def signal(stage: Stage) -> None:
    answer = await stage.start("killed")
    if answer["status"] == "stopped":
        assert "SIGKILL" in str(answer["stop_event_data"]), answer
        answer = await stage.done("continue_debugging")
    assert answer["status"] == "completed", answer
    if answer.get("signal") is None:
        raise CannotError(f"for an end by SIGKILL, it reports: {answer['message']}")
    assert answer["signal"] == "SIGKILL"


@behaviour("a missing program is an error")
async def missing(stage: Stage) -> None:
    wanted = stage.launch("once")["configuration"]
    answer = await stage.call("start_debugging", configuration={**wanted, "program": "missing"})
    assert (answer["status"], bool(answer["message"]), bool(answer["hint"])) == ("error", True, True), answer


@walking("stop ends every process of the session")
async def stop(stage: Stage, _: Stop) -> None:
    assert stage.processes()
    answer = await stage.done("stop_debugging")
    assert (answer["session_id"], answer["state"]) == (stage.session, "Terminating")
    stage.mode = ""

    async def gone() -> bool:
        return not stage.processes()

    await eventually(gone)
