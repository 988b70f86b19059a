"""Where a function returns, read from its source."""

from __future__ import annotations

import pytest

from dragoman.debug.evidence.stepping.return_places import ReturnPlace, return_places
from dragoman.debug.evidence.stepping.source_functions import read_source

JAVASCRIPT = """\
function total(price) {
  const half = (it) => { return it / 2; };
  // return price;
  if (price < 0) { return 0; }
  if (odd(price)) return 1;
  if (price > 5)
    return log(price);
  return "a, b;" + price;
}
"""
GO = """\
func total(price int) (int, error) {
	if price < 0 {
		return 0, nil
	}
	return price + len(names), fail(price)
}
"""
C = """\
static void pay(int amount) {
  if (amount < 0) return;
  balance -= amount;
}
"""
LUA = """\
local function total(price)
  if price < 0 then return 0 end
  print(price)
end
"""
RUBY = """\
def total(price)
  return 0 if price < 0
  price * 2
end
"""
RUST = """\
fn total(price: i32) -> i32 {
    if price < 0 {
        return 0;
    }
    price * 2
}
"""


def _place(line: int, *values: str, condition: str = "", certain: bool = True) -> ReturnPlace:
    return ReturnPlace("file", line, values, condition, certain)


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (
            ".js",
            JAVASCRIPT,
            [
                _place(4, "0", condition="(price < 0)"),
                _place(5, certain=False),
                _place(7),
                _place(8, '"a, b;" + price'),
            ],
        ),
        (".go", GO, [_place(3, "0", "nil"), _place(5)]),
        (".c", C, [_place(2, condition="(amount < 0)"), _place(4)]),
        (".lua", LUA, [_place(2, "0", condition="price < 0"), _place(4, "nil")]),
        (".rb", RUBY, [_place(2, "0", condition="price < 0"), _place(3, "price * 2")]),
        (".rs", RUST, [_place(3, "0"), _place(5, "price * 2")]),
    ],
)
def test_each_return_is_found_with_what_can_be_read_there(suffix: str, text: str, expected: list[ReturnPlace]) -> None:
    source = read_source(f"file{suffix}", text)
    assert source is not None
    (function,) = [it for it in source.functions if it.name in {"total", "pay"}]
    found = return_places(source, function)
    assert [(it.line, it.values, it.condition, it.is_certain) for it in found] == [
        (it.line, it.values, it.condition, it.is_certain) for it in expected
    ]
