def rounds(cents: int) -> int:
    """How often a price can be halved. The last cent stays, so it never ends."""
    count = 0
    while cents > 0:
        cents = (cents + 1) // 2
        count += 1
    return count


print(rounds(20))
