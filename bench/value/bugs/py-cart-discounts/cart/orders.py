"""What an order costs."""

from cart.discounts import applied_discounts


class Order:
    def __init__(self, prices, codes=None):
        self.prices = list(prices)
        self.codes = tuple(codes or ())

    def price(self):
        return price_of(self.prices, self.codes)


def price_of(prices, codes):
    rates = applied_discounts(codes)
    total = sum(prices)
    for rate in rates:
        total *= 1 - rate
    return round(total, 2)
