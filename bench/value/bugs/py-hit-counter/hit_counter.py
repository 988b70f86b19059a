"""Hits of pages, counted by the threads of a server."""

import threading


class Store:
    """A store that other processes use as well; reading it takes a while."""

    def __init__(self, wait=lambda: None):
        self.values = {}
        self.wait = wait

    def read(self, key):
        value = self.values.get(key, 0)
        self.wait()
        return value

    def write(self, key, value):
        self.values[key] = value
        return value


class Counter:
    def __init__(self, store):
        self.store = store
        self.lock = threading.Lock()

    def hit(self, page):
        before = self.store.read(page)
        with self.lock:
            return self.store.write(page, before + 1)


def serve(counter, pages):
    threads = [threading.Thread(target=counter.hit, args=(page,)) for page in pages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
