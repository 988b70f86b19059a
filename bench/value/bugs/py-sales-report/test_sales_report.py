from sales_report import load, report


def test_each_region_has_a_line():
    assert len(report(load())) == 3


def test_the_sum_is_of_all_regions():
    assert report(load())[-1].split() == ["sum", "220"]
