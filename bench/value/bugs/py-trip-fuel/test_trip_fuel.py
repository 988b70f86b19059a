from trip.fuel import Car
from trip.planner import length, trip_cost


def test_length_in_miles():
    assert length([(10.0, "mi"), (20.0, "mi")]) == 30.0


def test_cost_of_a_trip_in_britain():
    car = Car("estate", 6.5)
    assert trip_cost(car, [(120.0, "mi"), (190.0, "mi")], 1.5) == 48.64
