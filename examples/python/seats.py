"""Books seat 2 of row B. One seat should be taken; the program says 3."""

ROWS = "ABC"


def plan(seats: int) -> list[list[str]]:
    return [["."] * seats] * len(ROWS)


def book(hall: list[list[str]], row: str, seat: int) -> None:
    hall[ROWS.index(row)][seat - 1] = "x"


hall = plan(4)
book(hall, "B", 2)
print("taken", sum(row.count("x") for row in hall))
