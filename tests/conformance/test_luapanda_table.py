"""The table's column for Lua under an unmodified LuaPanda.lua, where one is given."""

from __future__ import annotations

from tests.conformance.table.column import adapters, anyio_backend, cells, marks, stage, test_cell
from tests.conformance.table.languages import LUA_BY_PANDA as LANGUAGE

__all__ = ["adapters", "anyio_backend", "cells", "stage", "test_cell"]
pytestmark = marks(LANGUAGE)
