"""A shop's stock, with a payment service that takes its time."""

import asyncio


class Payments:
    def __init__(self):
        self.taken = []

    async def authorize(self, customer, amount):
        await asyncio.sleep(0)
        self.taken.append((customer, amount))
        return True


class Shop:
    def __init__(self, stock, payments):
        self.stock = stock
        self.payments = payments
        self.lock = asyncio.Lock()

    async def reserve(self, customer, article, wanted):
        left = self.stock[article]
        if left < wanted:
            return False
        async with self.lock:
            paid = await self.payments.authorize(customer, wanted * 5)
            if paid:
                rest = left - wanted
                self.stock[article] = rest
        return paid


async def serve(shop, wishes):
    return await asyncio.gather(*(shop.reserve(*wish) for wish in wishes))
