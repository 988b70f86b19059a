"""Prices in two currencies. It should print 10.0 EUR and 11.0 USD; the dollars are euros."""

RATES = {"EUR": 1.0, "USD": 1.1}
_known: dict[str, float] = {}


def price(article: str, currency: str) -> float:
    if article not in _known:
        _known[article] = round(10.0 * RATES[currency], 2)
    return _known[article]


for currency in ("EUR", "USD"):
    print(price("pen", currency), currency)
