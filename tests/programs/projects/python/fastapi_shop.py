import asyncio

from fastapi import FastAPI
from pricing import price

app = FastAPI()


@app.get("/price/{count}")
async def show_price(count: int):
    await asyncio.sleep(0)
    total = price(count)
    return {"total": total}


@app.get("/sync/{count}")
def show_price_in_a_thread(count: int):
    total = price(count)
    return {"total": total}


@app.get("/hang")
async def hang():
    never = asyncio.Event()
    await never.wait()
