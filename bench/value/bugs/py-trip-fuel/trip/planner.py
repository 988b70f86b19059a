"""Trips of several legs, each in the unit of its country's signs."""

from trip.fuel import litres_for
from trip.units import convert


def length(legs, unit="mi"):
    return sum(convert(value, its, unit) for value, its in legs)


def trip_cost(car, legs, price):
    litres = litres_for(car, length(legs))
    return round(litres * price, 2)
