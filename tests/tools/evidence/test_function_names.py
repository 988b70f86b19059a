"""Which function a text names."""

from __future__ import annotations

import pytest

from dragoman.tools.evidence.function_names import FunctionName, read_function_name

NAMED = {
    "total": FunctionName("total"),
    " `total()` ": FunctionName("total"),
    "total(items, rate=3)": FunctionName("total"),
    "def total(items: list[int]) -> int:": FunctionName("total"),
    "export async function total(items) {": FunctionName("total"),
    "Cart.total()": FunctionName("Cart.total"),
    "shop::Cart::total": FunctionName("shop::Cart::total"),
    "<lambda>": FunctionName("<lambda>"),
    "shop/cart.py::Cart::total": FunctionName("Cart.total", "shop/cart.py"),
    "cart.js:total": FunctionName("total", "cart.js"),
    "/shop/a b/cart.go::total()": FunctionName("total", "/shop/a b/cart.go"),
    "cart.py:12:5": FunctionName("", "cart.py", 12),
    'File "/shop/cart.py", line 12, in total': FunctionName("", "/shop/cart.py", 12),
}


@pytest.mark.parametrize("text", NAMED)
def test_a_function_is_named_in_many_ways(text: str) -> None:
    assert read_function_name(text) == NAMED[text]
