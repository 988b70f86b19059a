"""Latencies of requests, from the lines of an access log."""


def parse(lines):
    for line in lines:
        path, status, millis = line.split()
        yield path, int(status), float(millis)


def latencies(requests):
    return (millis for _, status, millis in requests if status < 400)


def average(values):
    count = sum(1 for _ in values)
    if not count:
        return None
    total = sum(values)
    return total / count


def overview(lines, limit=200.0):
    mean = average(latencies(parse(lines)))
    if mean is None:
        return "no requests"
    return "slow" if mean > limit else "fast"
