"""Codes that customers enter at the till."""

RATES = {"WELCOME": 0.1, "LOYAL": 0.25, "STAFF": 0.4}


def applied_discounts(codes, found=[]):
    for code in codes:
        rate = RATES.get(code.strip().upper())
        if rate is not None:
            found.append(rate)
    return found
