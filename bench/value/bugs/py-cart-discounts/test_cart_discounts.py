from cart.orders import Order


def test_a_plain_order_pays_the_full_price():
    welcome = Order([20.0, 5.0], ["welcome"]).price()
    plain = Order([40.0, 8.0]).price()
    assert welcome == 22.5
    assert plain == 48.0
