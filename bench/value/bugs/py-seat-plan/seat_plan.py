"""A hall with numbered rows; `x` is a seat that is taken."""

FREE, TAKEN = ".", "x"


def empty_plan(count, width):
    row = [FREE] * width
    rows = [row] * count
    return rows


class Hall:
    def __init__(self, count, width):
        self.rows = empty_plan(count, width)
        self.names = {}

    def book(self, letter, seat, name):
        place = self.rows[ord(letter) - ord("A")]
        if place[seat - 1] == TAKEN:
            raise ValueError(f"{letter}{seat} is taken by {self.names[letter, seat]}")
        place[seat - 1] = TAKEN
        self.names[letter, seat] = name


def free_seats(hall):
    free = 0
    for row in hall.rows:
        free += row.count(FREE)
    return free
