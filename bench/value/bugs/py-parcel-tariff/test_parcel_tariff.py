from parcel_tariff import postage


def test_a_letter():
    assert postage([("card", 0.02)]) == 160


def test_a_parcel_of_two_kilos_is_small():
    assert postage([("book", 1.25), ("lamp", 0.75)], "neighbour") == 616
