"""Bills twelve prices, and the assertion at the end does not hold."""


def rate(position: int) -> float:
    return 0.1 if position % 4 else 0.25


def bill(prices: list[int]) -> float:
    total, count = 0.0, 0
    for i, price in enumerate(prices):
        discount = price * rate(i)
        total += price - discount  # here
        count = count + 1
    return total


def main() -> None:
    total = bill([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    assert round(total, 2) == 702.0, f"total is {total}"


main()
