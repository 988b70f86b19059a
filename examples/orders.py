"""Bills three customers. The totals should be 90.0, 200.0 and 45.0; the program prints something else."""

from __future__ import annotations

ORDERS = [
    ("ada", 100.0, ["spring"]),
    ("grace", 200.0, []),
    ("alan", 50.0, ["spring"]),
]
DISCOUNT_BY_CODE = {"spring": 0.10}


def collect_discounts(codes: list[str], discounts: list[float] = []) -> list[float]:  # noqa: B006  the bug to find
    for code in codes:
        discounts.append(DISCOUNT_BY_CODE[code])  # noqa: PERF401
    return discounts


def total(price: float, codes: list[str]) -> float:
    rate = sum(collect_discounts(codes))
    return round(price * (1 - rate), 2)


def main() -> None:
    for customer, price, codes in ORDERS:
        print(customer, total(price, codes))


if __name__ == "__main__":
    main()
