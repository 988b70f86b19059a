"""Settings of a worker, from lines such as `timeout = 90s`."""

DEFAULTS = {"timeout": 30, "retries": 2, "batch": 50}


def read_number(text, default):
    try:
        return int(text)
    except ValueError:
        return default


def parse(lines):
    found = dict(DEFAULTS)
    for line in lines:
        key, _, value = (part.strip() for part in line.partition("="))
        if key in DEFAULTS:
            found[key] = read_number(value, DEFAULTS[key])
    return found
