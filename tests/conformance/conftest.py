"""The table's own modules say what they found when an assertion fails, as test files do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.conformance.table")
