"""Several threads in one program."""

from __future__ import annotations

from tests.conformance.table.rows import at
from tests.conformance.table.stage import Stage, Stop

_NOBODY = 987_654_321


@at("threads", "works", "threads: listed with their states")
async def listed(stage: Stage, stop: Stop) -> None:
    (session,) = [it for it in (await stage.done("list_sessions"))["sessions"] if it["active"]]
    by_id = {it["thread_id"]: it for it in session["threads"]}
    mine = by_id[stop.data["thread_id"]]
    assert (mine["state"], mine["line_number"]) == ("stopped", stage.line("works"))
    others = {it["thread_id"]: it["state"] for it in stop.data["other_threads"]}
    assert stop.data["thread_id"] not in others
    together = stop.data["all_threads_stopped"]
    assert set(others.values()) == {"stopped"} if together else "running" in {*others.values(), "running"}
    assert len(by_id) >= 2


@at("threads", "works", "threads: a step runs in the stopped thread")
async def step(stage: Stage, stop: Stop) -> None:
    before = int(stop.local["worked"])
    after = await stage.step("over")
    assert (after.data["thread_id"], after.reason) == (stop.data["thread_id"], "step")
    assert int(await stage.value("worked")) == before + int(await stage.value("number"))


@at("threads", "works", "threads: an unknown thread is refused")
async def unknown(stage: Stage, _: Stop) -> None:
    await stage.refused("unknown_thread", "step_execution", step_type="over", thread_id=_NOBODY)
    await stage.refused("unknown_thread", "evaluate_expression", expression="worked", thread_id=_NOBODY)
    assert (await stage.step("over")).reason == "step"
