"""The mean of four readings. It should be 20.0; the program says 15.0."""

LINES = ["t=10", "t=20", "t=20,0", "t=30"]


def value(line: str) -> float:
    try:
        found = float(line.partition("=")[2])
    except ValueError:
        found = 0.0
    return found


values = [value(line) for line in LINES]
print("mean", sum(values) / len(values))
