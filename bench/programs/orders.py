"""A small shop: what the scenario of the benchmarks debugs."""


class Item:
    def __init__(self, name, price, count):
        self.name = name
        self.price = price
        self.count = count

    def cost(self):
        return self.price * self.count


class Order:
    def __init__(self, customer):
        self.customer = customer
        self.items = []

    def add(self, name, price, count):
        self.items.append(Item(name, price, count))
        return self

    def total(self):
        amount = 0
        for item in self.items:
            amount += item.cost()
        return amount


def orders():
    return [
        Order("Ada").add("tea", 3, 4).add("cups", 12, 2),
        Order("Bob").add("ink", 5, 7),
        Order("Cyd").add("pens", 2, 30).add("paper", 4, 9).add("glue", 1, 3),
        Order("Dan").add("lamp", 40, 1),
    ]


def rounds(count):
    result = 0
    for number in range(count):
        doubled = number * 2
        result += doubled
        if result % 7 == 0:
            result += 1
        label = f"round {number}"
        print(label, result)
    return result


def main():
    billed = {}
    for order in orders():
        billed[order.customer] = order.total()
    grand = sum(billed.values())
    print("billed", grand)
    print("rounds", rounds(45))


main()
