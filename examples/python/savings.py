"""Saves a tenth a week until there is 1.0. It should take 10 weeks; the program gives up after 20."""


def weeks(goal: float, rate: float) -> int:
    saved, week = 0.0, 0
    while saved != goal and week < 20:
        saved += rate
        week += 1
    return week


print("weeks", weeks(1.0, 0.1))
