"""Postage by weight and zone."""

from typing import NamedTuple


class Tier(NamedTuple):
    name: str
    limit: float
    cents: int


TIERS = [Tier("letter", 0.5, 160), Tier("small", 2.0, 385), Tier("medium", 10.0, 690), Tier("large", 31.5, 1649)]
ZONES = {"domestic": 1.0, "neighbour": 1.6, "world": 3.2}


def tier_for(weight):
    for tier in TIERS:
        name, limit, _ = tier
        if weight < limit:
            return tier
    raise ValueError(f"{weight} kg is too heavy")


def postage(items, zone="domestic"):
    weight = sum(kilos for _, kilos in items)
    tier = tier_for(weight)
    return round(tier.cents * ZONES[zone])
