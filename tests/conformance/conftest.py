"""The table's own modules say what they found when an assertion fails, as test files do."""

from __future__ import annotations

import os

import pytest

pytest.register_assert_rewrite("tests.conformance.table")

# The original runtime is nobody's to ship: who has it names it, and only then are there such tests.
collect_ignore_glob = [] if os.environ.get("LUAPANDA_LUA") else ["test_luapanda*.py"]
