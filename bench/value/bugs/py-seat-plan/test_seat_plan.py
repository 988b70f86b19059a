import pytest
from seat_plan import Hall, free_seats


def test_a_seat_is_sold_once():
    hall = Hall(1, 3)
    hall.book("A", 2, "Ada")
    with pytest.raises(ValueError, match="Ada"):
        hall.book("A", 2, "Bo")


def test_a_booking_takes_one_seat():
    hall = Hall(2, 3)
    hall.book("A", 2, "Ada")
    assert free_seats(hall) == 5
