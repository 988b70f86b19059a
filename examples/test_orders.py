"""Tests for orders.py. The second one fails."""

from __future__ import annotations

from orders import total


def test_a_code_gives_a_discount() -> None:
    assert total(100.0, ["spring"]) == 90.0


def test_without_a_code_the_price_is_full() -> None:
    assert total(200.0, []) == 200.0
