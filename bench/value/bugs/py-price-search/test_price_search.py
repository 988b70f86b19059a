from price_search import STEPS, rebate


def test_there_is_a_step_for_nothing():
    assert STEPS[0] == 0


def test_a_price_above_all_steps():
    assert rebate(800) == 40.0
