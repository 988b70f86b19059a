"""Sales by region, and over all of them."""

import json

DATA = '{"north": [["mug", 4, 25], ["pen", 10, 5]], "south": [["mug", 2, 25], ["pen", 4, 5]]}'


def load(text=DATA):
    return {region: [tuple(sale) for sale in sales] for region, sales in json.loads(text).items()}


def totals(sales):
    total = 0
    by_region = {}
    for region, sold in sales.items():
        total = 0
        for _, count, price in sold:
            total += count * price
        by_region[region] = total
    return by_region, total


def report(sales):
    by_region, total = totals(sales)
    lines = [f"{region:<8}{amount:>6}" for region, amount in by_region.items()]
    return [*lines, f"{'sum':<8}{total:>6}"]
