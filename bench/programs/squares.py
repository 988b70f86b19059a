"""Passes 2,000 times over a line with five values worth a look."""


def work(count: int) -> int:
    total = 0
    for i in range(count):
        square = i * i
        total += square
        odd = i % 2
        name = str(i)
        total -= odd and len(name)  # here
    return total


print(work(2000))
