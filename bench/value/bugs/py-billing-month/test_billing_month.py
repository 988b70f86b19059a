from billing_month import Contract


def test_a_contract_within_a_year():
    assert Contract(2023, 2, 3).last_due() == "2023-04"


def test_a_contract_that_crosses_the_year():
    assert Contract(2023, 11, 4).last_due() == "2024-02"
