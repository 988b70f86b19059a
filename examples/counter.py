"""Two threads add 100 each to one counter. It should end at 200; most often it does not."""

from __future__ import annotations

import threading
import time


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def add(self) -> None:
        seen = self.value
        time.sleep(0.0001)  # what a real one does here: a query, a file, a lock elsewhere
        self.value = seen + 1


def work(counter: Counter) -> None:
    for _ in range(100):
        counter.add()


def main() -> None:
    counter = Counter()
    threads = [threading.Thread(target=work, args=(counter,), name=f"worker {n}") for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("counted", counter.value)


if __name__ == "__main__":
    main()
