"""The table's column for Lua."""

from __future__ import annotations

from tests.conformance.table.column import adapters, anyio_backend, cells, marks, stage, test_cell
from tests.conformance.table.languages import LUA as LANGUAGE

__all__ = ["adapters", "anyio_backend", "cells", "stage", "test_cell"]
pytestmark = marks(LANGUAGE)
