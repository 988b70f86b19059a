"""What every server and worker here computes, so that a breakpoint in it can be compared between them."""

import threading


def price(count):
    unit = 7
    total = count * unit
    return total


def deadlock():
    """Never returns: this thread holds one lock and waits for the other, and the other way round."""
    first, second = threading.Lock(), threading.Lock()
    both = threading.Barrier(2)

    def other():
        with second:
            both.wait()
            first.acquire()

    threading.Thread(target=other, name="other", daemon=True).start()
    with first:
        both.wait()
        second.acquire()
