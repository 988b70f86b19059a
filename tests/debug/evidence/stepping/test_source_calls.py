"""Functions and calls as the text of a source shows them, in languages without a tracer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_calls import calls_behind, calls_in
from dragoman.debug.evidence.stepping.source_functions import SourceText, read_source

pytestmark = pytest.mark.anyio

TILL_JS = """\
class Till {
  constructor(name) {
    this.name = name;
  }
  async add(text, { pieces = 1, unit }) {
    const pattern = text.match(/\\/\\*.*"/g); // not a string: "
    return pattern;
  }
}
const half = (x) => {
  return x / 2;
};
function outer(callback) {
  [1].forEach((it) => {
    callback(it);
  });
}
"""
PLAN_GO = """\
type Job func() int

func Plan(list []Order, limit int) ([]Job, error) {
	return nil, nil
}

func (c *Cart) Total() float64 {
	return 0
}
"""
LABEL_C = """\
#define MOST 3
static const char *label(struct seat seat, int values[])
{
    for (int i = 0; i < MOST; i++) {
        puts("{");
    }
    return 0;
}
"""
BAG_LUA = """\
local Bag = {}
function Bag:put(item)
  if item then
    self.items[1] = item
  end
end
local function size(bag) return #bag.items end
"""
SHELF_RB = """\
class Shelf
  def initialize(books, size = 3)
    @books = books
  end

  def full?
    true
  end
end
"""


def text_of(path: str, source: str) -> SourceText:
    found = read_source(path, source)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "source", "functions"),
    [
        (
            "till.js",
            TILL_JS,
            [
                ("Till.constructor", 2, 3, 4, ("name",)),
                ("Till.add", 5, 6, 8, ("text", "pieces", "unit")),
                ("half", 10, 11, 12, ("x",)),
                ("<anonymous>", 14, 15, 16, ("it",)),
                ("outer", 13, 14, 17, ("callback",)),
            ],
        ),
        ("plan.go", PLAN_GO, [("Plan", 3, 4, 5, ("list", "limit")), ("Cart.Total", 7, 8, 9, ("c",))]),
        ("label.c", LABEL_C, [("label", 2, 4, 8, ("seat", "values"))]),
        ("bag.lua", BAG_LUA, [("Bag.put", 2, 3, 6, ("self", "item")), ("size", 7, 7, 7, ("bag",))]),
        ("shelf.rb", SHELF_RB, [("Shelf.initialize", 2, 3, 4, ("books", "size")), ("Shelf.full?", 6, 7, 8, ())]),
    ],
)
def test_functions_are_found_with_their_lines_and_parameters(
    path: str, source: str, functions: list[tuple[str, int, int, int, tuple[str, ...]]]
) -> None:
    found = [(it.qualified, it.header, it.first, it.last, it.parameters) for it in text_of(path, source).functions]
    assert found == functions


CART_TEST_JS = """\
test('a sum', () => {
  const cart = new Cart();
  cart.add(price('1.15'));
  const sum = cart
    .total(4);
  unrelated();
  assert.strictEqual(sum, 460);
});
"""
LOAD_TEST_GO = """\
func TestBusy(t *testing.T) {
	sum := 0
	for _, part := range chunks(books, 3) {
		sum += len(part)
	}
	if got := Busy(sum); got != 1 {
		t.Fatalf("got %v", got)
	}
}
"""


def test_calls_in_the_statement_come_before_those_that_gave_its_names_their_values() -> None:
    found = calls_behind(text_of("cart.test.js", CART_TEST_JS), 7)
    assert found.index("total") < found.index("Cart.constructor") < found.index("add")
    assert "strictEqual" not in found
    assert "unrelated" not in found


def test_the_head_of_the_block_around_a_failure_belongs_to_it() -> None:
    found = calls_behind(text_of("load_test.go", LOAD_TEST_GO), 7)
    assert found[0] == "Busy"
    assert "chunks" in found
    assert "Fatalf" not in found


async def test_functions_are_searched_in_the_workspace_and_what_they_call_comes_behind_them(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "cart.js").write_text("function total() {\n  return 0;\n}\n")
    (tmp_path / "cart.test.js").write_text(CART_TEST_JS)
    cart = "class Cart {\n  total(n) {\n    return rounded(n);\n  }\n}\nfunction rounded(n) {\n  return n;\n}\n"
    (tmp_path / "cart.js").write_text(cart)
    (tmp_path / "made.js").write_text(f"{cart}//# sourceMappingURL=made.js.map\n")
    search = FunctionSearch(tmp_path)
    found = await search.behind(str(tmp_path / "cart.test.js"), 7, 6)
    assert [(it.qualified, Path(it.path).name) for it in found] == [("Cart.total", "cart.js"), ("rounded", "cart.js")]
    assert await search.printed_places("cart.js:2: wrong\nnothing.js:1") == [(str(tmp_path / "cart.js"), 2)]


async def test_a_minified_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "app.min.js").write_text(f"function total() {{ return {'a.b(1)+' * 1000}0; }}\n")
    (tmp_path / "app.js").write_text(f"function whole() {{ return {'a.b(1)+' * 500}0; }}\n")
    search = FunctionSearch(tmp_path)
    assert await search.source(str(tmp_path / "app.min.js")) is None
    assert await search.named("total") == []
    assert [it.name for it in await search.named("whole")] == ["whole"]


@pytest.mark.parametrize("word", ["a", "a.", "a::<"])
def test_the_calls_of_a_long_line_are_found_in_linear_time(word: str) -> None:
    def seconds(words: int) -> float:
        source = read_source("app.js", f"function total() {{\n  {word * words}; x(1);\n}}\n")
        assert source is not None
        began_s = time.process_time()
        calls_in(source, source.functions[0])
        return time.process_time() - began_s

    short, long = (min(seconds(it) for _ in range(3)) for it in (2000, 16_000))
    assert long < 24 * short


def test_of_a_long_line_only_the_beginning_says_which_calls_are_behind_it() -> None:
    source = read_source("app.js", f"function total() {{\n  return first(1) {'+ 1' * 2000} + last(2);\n}}\n")
    assert source is not None
    assert calls_behind(source, 2) == ["first"]
