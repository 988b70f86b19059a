"""What the table is driven over; the other languages have the same, mode by mode and mark by mark."""

import os
import signal
import subprocess
import sys
import threading
import time


def twice(n):
    result = n * 2  # @computes
    return result  # @returns


def lap():
    total = 0  # @home
    # @moved
    first = 0  # @bound
    point = {"x": 1, "inner": {"deep": 42}}
    big = list(range(1000))
    first = twice(1); second = twice(first)  # @columns
    for n in range(10):
        total += twice(n)  # @calls
        print("total", total, flush=True)  # @prints
    print("warned", file=sys.stderr, flush=True)
    time.sleep(0.005)  # @done
    return total + second + len(big) + point["x"]


def walk():
    while True:
        lap()


def once():
    print("read", sys.stdin.readline().strip(), flush=True)
    print("env", os.environ.get("WHO"), "cwd", os.getcwd(), flush=True)  # @reads
    lap()
    sys.exit(3)


def risky(n):
    if n > 2:
        raise ValueError(f"too large: {n}")  # @raises
    return n


def fails():
    try:
        risky(3)
    except ValueError:
        print("caught", flush=True)
    risky(4)  # @uncaught


def work(number):
    worked = 0
    while True:
        worked += number  # @works
        time.sleep(0.01)


def threads():
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    worker = threading.Thread(target=work, args=(2,), daemon=True)
    worker.start()
    worker.join()


def child():
    code = subprocess.run([sys.executable, __file__, "born"], check=False).returncode
    print("child", code, flush=True)


def born():
    inner = twice(21)  # @born
    print("born", inner, flush=True)
    sys.exit(5)


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


MODES = {
    "walk": walk, "once": once, "fails": fails, "threads": threads, "child": child, "born": born, "killed": killed
}
MODES[sys.argv[1]]()
# @nothing
