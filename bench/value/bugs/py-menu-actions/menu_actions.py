"""A menu: labels, and what happens when one is chosen."""


class Log:
    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append(line)


class Menu:
    def __init__(self, log):
        self.log = log
        self.entries = {}

    def build(self, labels):
        for label in labels:
            def act():
                self.log.add(f"{label} done")

            self.entries[label.lower()] = act
        return self

    def choose(self, key):
        self.entries[key]()


def session(labels, keys):
    log = Log()
    menu = Menu(log).build(labels)
    for key in keys:
        menu.choose(key)
    return log.lines
