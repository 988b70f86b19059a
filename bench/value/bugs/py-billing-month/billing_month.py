"""Months in which a contract is due."""


def next_month(year, month):
    following = month % 12 + 1
    return year, following


def due_months(start, count):
    due = start
    months = []
    for _ in range(count):
        months.append(due)
        due = next_month(*due)
    return months


class Contract:
    def __init__(self, year, month, count):
        self.start = year, month
        self.count = count

    def last_due(self):
        year, month = due_months(self.start, self.count)[-1]
        return f"{year}-{month:02}"
