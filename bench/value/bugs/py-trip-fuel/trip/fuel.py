"""What a car burns."""


class Car:
    def __init__(self, name, consumption):
        self.name = name
        self.consumption = consumption  # litres per 100 km


def litres_for(car, distance):
    per_100 = car.consumption
    return distance / 100 * per_100
