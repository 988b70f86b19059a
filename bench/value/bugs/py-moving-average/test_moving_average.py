from moving_average import Alarm


def test_no_samples():
    assert not Alarm(1.0).is_on([])


def test_the_newest_sample_counts():
    samples = [1.0, 2.0, 3.0, 5.0, 13.0]
    assert Alarm(6.0).is_on(samples)
