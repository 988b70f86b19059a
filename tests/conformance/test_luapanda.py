"""Debugging real Lua programs through the engine and an unmodified LuaPanda.lua, where one is given.

Its file is not part of this repository: `LUAPANDA_LUA` says where a copy is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dragoman.debug.adapters.lua import LUA
from dragoman.debug.service import Wish
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage

PANDA = os.environ.get("LUAPANDA_LUA", "")
LUAS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not PANDA, reason="LUAPANDA_LUA does not name a LuaPanda.lua"),
]

LANGUAGE = Language("lua", LUA, "lua/main.lua", computes=2, calls=10, prints=11)


class PandaStage(Stage):
    """With the user's own copy of LuaPanda, found by `packagePath`."""

    def wish(self, *args: str, **fields: object) -> Wish:
        wish = super().wish(*args, **fields)
        own = {"packagePath": [str(self.workspace / "panda")], "luaPath": os.environ.get("LUA", "lua5.3")}
        return Wish(configuration={**wish.configuration, **own}, stdin=wish.stdin)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "panda").mkdir()
    shutil.copy(PANDA, tmp_path / "panda" / "LuaPanda.lua")
    return PandaStage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestLuaPanda(Behaviours):
    """What every language does."""
