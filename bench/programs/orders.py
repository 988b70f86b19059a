"""A small shop: what the scenario of the benchmarks debugs."""

from __future__ import annotations


class Item:
    def __init__(self, name: str, price: int, count: int) -> None:
        self.name = name
        self.price = price
        self.count = count

    def cost(self) -> int:
        return self.price * self.count


class Order:
    def __init__(self, customer: str) -> None:
        self.customer = customer
        self.items: list[Item] = []

    def add(self, name: str, price: int, count: int) -> Order:
        self.items.append(Item(name, price, count))
        return self

    def total(self) -> int:
        amount = 0
        for item in self.items:
            amount += item.cost()
        return amount


def orders() -> list[Order]:
    return [
        Order("Ada").add("tea", 3, 4).add("cups", 12, 2),
        Order("Bob").add("ink", 5, 7),
        Order("Cyd").add("pens", 2, 30).add("paper", 4, 9).add("glue", 1, 3),
        Order("Dan").add("lamp", 40, 1),
    ]


def rounds(count: int) -> int:
    result = 0
    for number in range(count):
        doubled = number * 2
        result += doubled
        if result % 7 == 0:
            result += 1
        label = f"round {number}"
        print(label, result)
    return result


def main() -> None:
    billed: dict[str, int] = {}
    for order in orders():
        billed[order.customer] = order.total()
    grand = sum(billed.values())
    print("billed", grand)
    print("rounds", rounds(45))


main()
