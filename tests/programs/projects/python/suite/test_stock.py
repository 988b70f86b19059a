import unittest

import pytest
from stock import labels, order


def test_order_with_fixture(shelf):
    cost = order(shelf, "apple", 3)
    assert cost == 20


@pytest.mark.parametrize("count", [0, 2], ids=["none", "a/b [two]"])
def test_costs(count):
    assert order({"melon": 9}, "melon", count) == 7 * count + count // 2


def test_labels(shelf):
    assert labels(shelf) == ["apple", "melon"]


class StockTest(unittest.TestCase):
    def setUp(self):
        self.stock = {"pear": 1}

    def test_pear(self):
        self.assertEqual(order(self.stock, "pear", 1), 8)
