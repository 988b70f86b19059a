import threading

from hit_counter import Counter, Store, serve


def test_one_hit():
    store = Store()
    serve(Counter(store), ["/"])
    assert store.values == {"/": 1}


def test_hits_of_two_threads():
    both = threading.Barrier(2)

    def wait():
        try:
            both.wait(timeout=0.3)
        except threading.BrokenBarrierError:
            pass

    store = Store(wait)
    serve(Counter(store), ["/news", "/news"])
    assert store.values["/news"] == 2
