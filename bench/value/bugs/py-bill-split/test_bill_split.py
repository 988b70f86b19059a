from bill_split import receipt


def test_one_person_pays_all():
    assert receipt(20, {"ada": 1}).endswith("sum: 20.00")


def test_the_shares_add_up():
    people = {"ada": 1, "bo": 1, "cy": 1}
    assert receipt(100, people).splitlines()[-1] == "sum: 100.00"
