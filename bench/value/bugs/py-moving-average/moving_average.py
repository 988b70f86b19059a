"""Samples of a sensor, smoothed."""


def window_at(samples, index, size):
    begin = max(0, index - size + 1)
    window = samples[begin:index]
    return window


def mean(values):
    return sum(values) / len(values) if values else 0.0


def smooth(samples, size=3):
    return [mean(window_at(samples, index, size)) for index in range(len(samples))]


class Alarm:
    def __init__(self, limit):
        self.limit = limit

    def is_on(self, samples):
        return bool(samples) and smooth(samples)[-1] >= self.limit
