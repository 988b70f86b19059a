"""Money between accounts, from several threads."""

import threading


class Account:
    def __init__(self, name, cents):
        self.name = name
        self.cents = cents
        self.lock = threading.Lock()

    def __repr__(self):
        return f"<Account {self.name}: {self.cents}>"


class Bank:
    def __init__(self, audit):
        self.audit = audit

    def transfer(self, source, target, cents):
        with source.lock:
            self.audit(source)
            with target.lock:
                if source.cents < cents:
                    raise ValueError("not enough money")
                source.cents -= cents
                target.cents += cents

    def run(self, orders):
        workers = [threading.Thread(target=self.transfer, args=order, daemon=True) for order in orders]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
