"""A bill, split among the people at a table."""

from decimal import Decimal


def share_of(total, weight, weights):
    exact = total * weight / weights
    share = round(exact, 2)
    return share


def settle(total, people, tip=0):
    """What each of them pays, by name."""
    total = total + total * tip / 100
    weights = sum(people.values())
    owed = {}
    for name, weight in people.items():
        owed[name] = share_of(total, weight, weights)
    return owed


def receipt(total, people, tip=0):
    owed = settle(total, people, tip)
    lines = [f"{name}: {share:.2f}" for name, share in owed.items()]
    return "\n".join([*lines, f"sum: {Decimal(str(sum(owed.values()))).quantize(Decimal('0.01'))}"])
