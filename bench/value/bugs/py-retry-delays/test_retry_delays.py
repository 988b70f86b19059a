from retry_delays import Flaky, Policy, call_with_retries


def test_no_delay_where_nothing_fails():
    slept = []
    assert call_with_retries(Flaky(0), Policy(), 3, slept.append) == "done"
    assert slept == []


def test_the_delays_double():
    slept = []
    call_with_retries(Flaky(4), Policy(), 6, slept.append)
    assert sum(slept) == 7.5
