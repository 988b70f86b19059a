"""The step of a scale of prices that an amount falls on."""

STEPS = [0, 50, 100, 250, 500]
RATES = [0.0, 0.01, 0.02, 0.035, 0.05]


def position(steps, target):
    """The number of steps that are not above the target."""
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if steps[middle] <= target:
            low = middle
        else:
            high = middle
    return low


def rate_for(amount):
    return RATES[position(STEPS, amount) - 1]


def rebate(amount):
    return round(amount * rate_for(amount), 2)
