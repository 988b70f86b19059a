import threading

from account_transfer import Account, Bank


def test_one_transfer():
    rent, food = Account("rent", 900), Account("food", 100)
    Bank(lambda account: None).run([(rent, food, 50)])
    assert (rent.cents, food.cents) == (850, 150)


def test_two_transfers_in_opposite_directions():
    rent, food = Account("rent", 900), Account("food", 100)
    both = threading.Barrier(2)

    def audit(account):
        try:
            both.wait(timeout=0.5)
        except threading.BrokenBarrierError:
            pass

    Bank(audit).run([(rent, food, 50), (food, rent, 20)])
    assert (rent.cents, food.cents) == (870, 130)
