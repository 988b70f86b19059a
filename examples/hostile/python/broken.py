"""Does not compile."""

def half(:
    return 1  # stop here
