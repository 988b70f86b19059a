"""Waits until three jobs are done, and should end within a second; it waits for ever."""

from __future__ import annotations

import json
import time

EXPECTED = 3


def report(second: float) -> str:
    """What a job server would send."""
    return json.dumps({"done": str(min(int(second * 10), EXPECTED))})


def main() -> None:
    began = time.monotonic()
    while True:
        status = json.loads(report(time.monotonic() - began))
        if status["done"] == EXPECTED:
            break
        time.sleep(0.05)
    print("all done")


if __name__ == "__main__":
    main()
