from quote_cache import Market, Quotes, portfolio_value


def test_a_share_is_asked_for_once():
    market = Market()
    quotes = Quotes(market)
    portfolio_value(quotes, {"acme": 1})
    portfolio_value(quotes, {"ACME": 3})
    assert market.asked == 1


def test_each_currency_has_its_own_quote():
    quotes = Quotes(Market())
    portfolio_value(quotes, {"acme": 2})
    assert portfolio_value(quotes, {"acme": 2}, "CHF") == 94.0
