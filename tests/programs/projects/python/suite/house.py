"""The plugin of this house: loaded by conftest.py, it puts one more line into every report."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().sections.append(("house", item.name))


def pytest_assertrepr_compare(op, left, right):
    if op == "==" and isinstance(left, list):
        return [f"lists of {len(left)} and {len(right)}: {left} and {right}"]
    return None
