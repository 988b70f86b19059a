import asyncio

from stock_reservation import Payments, Shop, serve


def run(stock, *wishes):
    async def act():
        shop = Shop(stock, Payments())
        await serve(shop, wishes)
        return shop

    return asyncio.run(act())


def test_two_customers_at_once():
    shop = run({"mug": 10}, ("ada", "mug", 3), ("bo", "mug", 4))
    assert shop.stock["mug"] == 3
