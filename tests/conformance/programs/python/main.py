import sys


def twice(n):
    result = n * 2
    return result


if len(sys.argv) > 1:
    print("read", sys.stdin.read().strip())

total = 0
for n in range(10):
    total += twice(n)
    print("total", total)
sys.exit(3)
