from latency_stats import overview


def test_no_requests():
    assert overview(["/ 500 3.0"]) == "no requests"


def test_the_average_of_good_requests():
    assert overview(["/ 200 310.5", "/a 404 2.0", "/b 200 290.0", "/c 302 295.5"]) == "slow"
