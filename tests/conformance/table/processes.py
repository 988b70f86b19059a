"""Programs that start programs."""

from __future__ import annotations

from tests.conformance.table.rows import behaviour
from tests.conformance.table.stage import CannotError, Stage, Stop


@behaviour("a breakpoint in a child process")
async def child(stage: Stage) -> None:
    id = await stage.set("born")
    answer = await stage.start("child")
    if answer["status"] == "completed":
        printed = (await stage.done("get_output", session_id=answer["session_id"]))["output"]
        assert "born 42" in printed
        raise CannotError(f"the child ran past the breakpoint: {' '.join(printed.split())}")
    stop = Stop(answer["stop_event_data"])
    assert (stop.line, stop.hit) == (stage.line("born"), [id])
    await stage.step("over")
    assert await stage.value("inner") == "42"
    answer = await stage.done("continue_debugging")
    printed = (await stage.done("get_output", session_id=answer["session_id"]))["output"]
    assert (answer["status"], answer["exit_code"]) == ("completed", 0)
    assert ("born 42" in printed, "child 5" in printed) == (True, True)
