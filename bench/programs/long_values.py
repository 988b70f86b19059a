"""Twelve locals with long values, of which a line changes one: what a stop costs where values are long."""

from __future__ import annotations


def render(count: int) -> str:
    text = "the quick brown fox jumps over the lazy dog " * 6
    names = [f"customer-{number:04}" for number in range(30)]
    prices = {f"article-{number:04}": number * 1.25 for number in range(30)}
    header = {"Content-Type": "application/json", "Authorization": "none", "Accept-Language": "en-GB,en;q=0.9,fr;q=0.8"}
    query = "SELECT id, name, price FROM orders WHERE customer = 'customer-0001' ORDER BY created_at DESC LIMIT 1000"
    path = "/".join(f"folder-{number:04}" for number in range(20))
    matrix = [[row * column for column in range(12)] for row in range(12)]
    flags = tuple(number % 3 == 0 for number in range(60))
    body = "x" * 300
    tag = 60000
    for number in range(count):
        tag = 60000 + number * 22
        body = f"{body[:280]}{number:020}"
        text = text[1:] + text[0]
    return f"{text}{names}{prices}{header}{query}{path}{matrix}{flags}{body}{tag}"


print(len(render(45)))
