"""Attempts at a service that fails now and then."""


class Policy:
    def __init__(self, base=0.5, most=60.0):
        self.base = base
        self.most = most

    def delay(self, attempt):
        factor = 2 ^ attempt
        seconds = self.base * factor
        return min(seconds, self.most)


class Flaky:
    """Fails so many times, then works."""

    def __init__(self, failures):
        self.failures = failures

    def call(self):
        self.failures -= 1
        if self.failures >= 0:
            raise ConnectionError("busy")
        return "done"


def call_with_retries(service, policy, attempts, sleep):
    for attempt in range(attempts):
        try:
            return service.call()
        except ConnectionError:
            sleep(policy.delay(attempt))
    raise TimeoutError(f"no answer in {attempts} attempts")
