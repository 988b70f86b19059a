"""Data breakpoints: the program stops at the line after a value changed, whoever changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lua.program import LUAS, Ide, Message, stopped_at

pytestmark = [pytest.mark.needs("lua"), pytest.mark.parametrize("lua", LUAS)]

TEXT = """require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))
local object = { health = 100, name = "hero" }
local total = 0
counter = 0
local function hurt(by)
  object.health = object.health - by
  return object
end
local function work(n)
  local sum = 0
  for i = 1, n do
    sum = sum + i
    total = total + i
  end
  counter = counter + 1
  return sum
end
local co = coroutine.wrap(function()
  hurt(1)
  coroutine.yield()
  hurt(2)
end)
local ready = true
co()
work(3)
co()
work(1)
print("END")
"""
READY = 23


def rows(ide: Ide, name: str, frame: int = 2) -> tuple[int, dict[str, Any]]:
    scopes = ide.ask("scopes", {"frame": frame})["scopes"]
    reference = next(item["reference"] for item in scopes if item["name"] == name)
    return reference, _rows(ide, reference)


def _rows(ide: Ide, reference: int) -> dict[str, Any]:
    return {row["name"]: row for row in ide.ask("variables", {"reference": reference, "count": 1000})["variables"]}


def watch(ide: Ide, reference: int, row: dict[str, Any], **more: str) -> str:
    answer = ide.ask("watchable", {"reference": reference, "position": row["position"]})
    report = ide.ask("setDataBreakpoints", {"data": [{"id": answer["data"], **more}]})["breakpoints"]
    assert report == [{"id": answer["data"], "verified": True}]
    return str(answer["kind"])


def change(stop: Message) -> tuple[str, str, str, str]:
    info = stop["info"]
    assert (stop["cmd"], info["reason"]) == ("stopOnBreakpoint", "data")
    return info["name"], info["old"], info["new"], stop["stack"][0]["line"]


def test_a_field_is_watched_in_every_coroutine(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, TEXT, READY) as (program, ide, _):
        ide.breakpoints(tmp_path / "main.lua")
        object_ = rows(ide, "locals")[1]["object"]["reference"]
        assert watch(ide, object_, _rows(ide, object_)["health"]) == "field"
        first, second = ide.go(), ide.go()
        assert [change(first), change(second)] == [("health", "100", "99", "7"), ("health", "99", "97", "7")]
        assert first["info"]["coroutine"].startswith("thread")
        ide.send("continue")
        ide.run_out()
        assert program.end()[:2] == (0, "END\n")


def test_a_local_is_watched_until_its_call_is_over(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, TEXT, 11) as (_, ide, _):
        ide.breakpoints(tmp_path / "main.lua")
        reference, locals_ = rows(ide, "locals")
        assert watch(ide, reference, locals_["sum"], condition="sum > 1") == "local"
        assert [change(ide.go()) for _ in range(2)] == [("sum", "1", "3", "13"), ("sum", "3", "6", "13")]
        ide.send("continue")
        ide.run_out()
    assert [message["info"]["data"] for message in ide.seen if message["cmd"] == "dataEnded"] == ["1"]


def test_an_upvalue_and_a_global_are_watched_and_counted(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, TEXT, 11) as (_, ide, _):
        ide.breakpoints(tmp_path / "main.lua")
        reference, upvalues = rows(ide, "upvalues")
        assert watch(ide, reference, upvalues["total"], hitCondition="== 2") == "upvalue"
        stop = ide.go()
        assert (change(stop)[:3], stop["info"]["hits"]) == (("total", "1", "3"), 2)
        reference, globals_ = rows(ide, "globals")
        assert watch(ide, reference, globals_["counter"]) == "field"
        assert change(ide.go()) == ("counter", "0", "1", "16")


def test_what_the_debugger_changes_is_not_a_change(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, TEXT, READY) as (_, ide, _):
        reference, globals_ = rows(ide, "globals")
        watch(ide, reference, globals_["counter"])
        ide.ask("evaluate", {"expression": "counter = 50"})
        assert change(ide.go()) == ("counter", "50", "51", "16")
        assert ide.ask("setDataBreakpoints", {"data": []}) == {"breakpoints": []}
        ide.send("continue")
        ide.run_out()


def test_what_cannot_be_watched_is_refused(lua: str, tmp_path: Path) -> None:
    with stopped_at(lua, tmp_path, TEXT, READY) as (_, ide, _):
        assert ide.ask("watchable", {"reference": 9999, "position": 1})["error"]["code"] == "no_such_reference"
        report = ide.ask("setDataBreakpoints", {"data": [{"id": "77"}]})["breakpoints"]
        assert [(item["id"], item["verified"]) for item in report] == [("77", False)]
        assert ide.ask("setDataBreakpoints", {"data": "x"})["error"]["code"] == "bad_request"
