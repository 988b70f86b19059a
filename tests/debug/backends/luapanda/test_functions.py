"""Functions by their names, and several breakpoints on one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.debug.backends.luapanda.breakpoints import LuaBreakpoint, merge_by_line
from dragoman.debug.backends.luapanda.lua_source import find_definitions

CODE = """local M = {}
local function plain(n)
  -- says nothing
  return n
end
function M.dotted(a,
                  b) -- two lines of parameters
  return a + b
end
function M.Sub:method() return self end
M.set = function() end
local t = { field = function(x)
    return x
  end, ["key"] = function() return 1 end }
local constant <const> = function()
  return 2
end
--[[ function commented() end ]] -- function commented() end
local text = "function quoted("
function empty()
end
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "m.lua").write_text(CODE)
    return str(tmp_path / "m.lua")


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("plain", [(2, 4)]),
        ("M.dotted", [(6, 8)]),
        ("dotted", [(6, 8)]),
        ("Sub:method", [(10, 10)]),
        ("M.Sub.method", [(10, 10)]),
        ("set", [(11, 11)]),
        ("field", [(12, 13)]),
        ("key", [(14, 14)]),
        ("constant", [(15, 16)]),
        ("empty", [(20, 21)]),
        ("commented", []),
        ("Other.dotted", []),
        ("lain", []),
    ],
)
def test_a_function_is_found_with_the_first_line_that_runs_in_it(
    source: str, name: str, places: list[tuple[int, int]]
) -> None:
    assert [(it.defined, it.line) for it in find_definitions(name, [source, source])] == places


def test_files_that_cannot_be_read_define_nothing(tmp_path: Path) -> None:
    assert find_definitions("f", [str(tmp_path / "none.lua"), "\0", str(tmp_path)]) == []


def place(id: int, line: int = 4, **fields: str) -> LuaBreakpoint:
    return LuaBreakpoint(id, "/a.lua", line, **fields)  # type: ignore[arg-type]


def test_of_several_at_a_line_one_is_sent_that_stops_for_each() -> None:
    both = merge_by_line([place(1, condition="a"), place(2, condition="b"), place(3, line=5)])
    assert [(it.line, it.condition) for it in both] == [(4, "(a) or (b)"), (5, "")]
    assert merge_by_line([place(1, condition="a"), place(2)])[0].is_plain
    assert merge_by_line([place(1, log_message="x"), place(2, condition="b")])[0].condition == "b"
    assert merge_by_line([place(1, log_message="x"), place(2, hit_condition="3")])[0].hit_condition == "3"
