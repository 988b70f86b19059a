"""Lengths, converted by their unit's name."""

METRES = {"km": 1000.0, "mi": 1609.344, "nm": 1852.0}


def convert(value, unit, to):
    return value * METRES[unit] / METRES[to]
