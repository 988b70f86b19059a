"""Breakpoints on functions, exceptions and data, and the switch of an existing one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio


def able(bench: Bench, **capabilities: Any) -> None:
    """A debugger that takes breakpoints of every kind."""
    bench.adapter.answers["initialize"] = lambda _: {
        "supportsConfigurationDoneRequest": True,
        "supportsConditionalBreakpoints": True,
        "supportsFunctionBreakpoints": True,
        "supportsDataBreakpoints": True,
        "exceptionBreakpointFilters": [{"filter": "raised", "label": "r"}, {"filter": "uncaught", "label": "u"}],
        **capabilities,
    }
    for command in ("setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints"):
        bench.adapter.answers[command] = _bound
    bench.adapter.answers["dataBreakpointInfo"] = lambda _: {"dataId": "at 7", "description": "n"}


def _bound(asked: dict[str, Any]) -> dict[str, Any]:
    wanted = asked.get("breakpoints") or asked.get("filterOptions") or asked.get("filters") or ()
    return {"breakpoints": [{"id": 500 + n, "verified": True} for n, _ in enumerate(wanted)]}


async def test_a_function_is_broken_at_by_its_name(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        able(bench)
        bench.file.write_text("def total(n):\n    return n\n")
        set_ = await bench.call(
            "set_breakpoint", kind="function", function_name="total", condition="n > 1", hit_condition=">= 1"
        )
        await bench.started()
        listed = await bench.call("get_breakpoints")
    made = set_["breakpoint"]
    assert (made["kind"], made["function_name"], made["source"], made["line"]) == ("function", "total", None, None)
    assert (made["verified"], made["enabled"]) == (False, True)
    (sent,) = bench.adapter.sent("setFunctionBreakpoints")[-1]["breakpoints"]
    assert (sent["name"], sent["condition"]) == ("total", "n > 1")
    assert listed["breakpoints"][0]["verified"] is True
    assert listed.text == "breakpoint 1 verified; function: total; if: n > 1; hits: >= 1"


async def test_an_exception_is_broken_at_by_its_filter(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        able(bench)
        made = (await bench.call("set_breakpoint", kind="exception", exception="raised"))["breakpoint"]
        await bench.started()
        listed = await bench.call("get_breakpoints")
    assert (made["kind"], made["exception"], made["source"]) == ("exception", "raised", None)
    assert "raised" in str(bench.adapter.sent("setExceptionBreakpoints")[-1])
    assert listed.text.endswith("; exception: raised")


async def test_data_is_watched_while_the_program_is_stopped(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        able(bench)
        early = await bench.call("set_breakpoint", kind="data", variable="n")
        session = (await bench.started())["session_id"]
        reference = (await bench.call("get_scopes"))["scopes"][0]["variables_reference"]
        set_ = await bench.call("set_breakpoint", kind="data", variable="n", variables_reference=reference)
        by_name = await bench.call("set_breakpoint", kind="data", variable="n", access="readWrite")
    assert (early["status"], early["code"]) == ("error", "no_session")
    made = set_["breakpoint"]
    assert (made["kind"], made["variable"], made["access"], made["session_id"]) == ("data", "n", "write", session)
    assert bench.adapter.sent("dataBreakpointInfo")[0] == {"name": "n", "variablesReference": 9}
    assert bench.adapter.sent("setDataBreakpoints")[0]["breakpoints"][0]["dataId"] == "at 7"
    assert set_.text.endswith("; data: n; access: write")
    assert by_name["breakpoint"]["access"] == "readWrite"


async def test_data_of_another_session_than_the_active_one_is_watched_there(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        able(bench)
        older = await bench.started()
        bench.clock.advance(1)
        await bench.running()
        made = await bench.call("set_breakpoint", kind="data", variable="n", session_id=older["session_id"])
    assert made["breakpoint"]["session_id"] == older["session_id"]


async def test_what_a_debugger_cannot_watch_is_reported_with_its_words_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        able(bench)
        await bench.started()
        bench.adapter.answers["dataBreakpointInfo"] = lambda _: {"dataId": None, "description": "obey: in a register"}
        answer = await bench.call("set_breakpoint", kind="data", variable="n")
        listed = await bench.call("get_breakpoints")
    assert (answer["code"], answer["debugger_says"]) == ("cannot_watch", "obey: in a register")
    assert "obey" not in answer["message"]
    assert listed["breakpoints"] == []


async def test_a_debugger_without_data_breakpoints_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        able(bench, supportsDataBreakpoints=False)
        await bench.started()
        answer = await bench.call("set_breakpoint", kind="data", variable="n")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "not_supported", "Stopped")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "needs `file_path`"),
        ({"kind": "function"}, "needs `function_name`"),
        ({"kind": "exception"}, "needs `exception`"),
        ({"kind": "data"}, "needs `variable`"),
        ({"function_name": "total"}, "`kind` line needs `file_path`"),
        ({"kind": "function", "function_name": "f", "line_number": 3}, "does not accept `line_number`"),
        ({"kind": "function", "function_name": "f", "log_message": "x"}, "does not accept `log_message`"),
        ({"kind": "exception", "exception": "all", "hit_condition": "3"}, "does not accept `hit_condition`"),
        ({"kind": "data", "variable": "n", "file_path": "app.py"}, "does not accept `file_path`"),
        ({"file_path": "app.py", "line_number": 1, "access": "read"}, "does not accept `access`"),
        ({"breakpoint_id": 1}, "With `breakpoint_id`, pass only `enabled`"),
        ({"breakpoint_id": 1, "enabled": True, "condition": "x"}, "With `breakpoint_id`, pass only `enabled`"),
    ],
)
async def test_what_a_kind_would_ignore_is_refused(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("set_breakpoint", **given)
        listed = await bench.call("get_breakpoints")
    assert (answer["status"], answer["code"]) == ("error", "bad_arguments")
    assert words in answer["message"]
    assert answer["hint"]
    assert listed["breakpoints"] == []


async def test_a_breakpoint_is_switched_off_and_on_by_its_id_and_keeps_its_condition(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=4, condition="n > 1")
        await bench.started()
        off = await bench.call("set_breakpoint", breakpoint_id=1, enabled=False)
        listed = await bench.call("get_breakpoints")
        assert bench.adapter.sent("setBreakpoints")[-1]["breakpoints"] == []
        on = await bench.call("set_breakpoint", breakpoint_id=1, enabled=True)
        unknown = await bench.call("set_breakpoint", breakpoint_id=9, enabled=True)
    assert (off["breakpoint"]["enabled"], off["breakpoint"]["id"]) == (False, 1)
    assert "disabled; if: n > 1" in listed.text
    assert (on["breakpoint"]["enabled"], on["breakpoint"]["condition"]) == (True, "n > 1")
    assert bench.adapter.sent("setBreakpoints")[-1]["breakpoints"][0]["condition"] == "n > 1"
    assert (unknown["status"], unknown["code"]) == ("error", "unknown_breakpoint")
