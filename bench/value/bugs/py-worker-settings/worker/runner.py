"""The plan of a worker's run."""

from worker.settings import parse


class Worker:
    def __init__(self, lines):
        settings = parse(lines)
        self.timeout = settings["timeout"]
        self.attempts = settings["retries"] + 1

    def longest_run(self):
        return self.timeout * self.attempts
