"""Debugging real Lua programs through the engine and our own runtime, on every Lua there is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.adapters.lua import LUA
from dragoman.debug.service import Wish
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage

LUAS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

LANGUAGE = Language("lua", LUA, "lua/main.lua", computes=2, calls=10, prints=11)


class LuaStage(Stage):
    """With one Lua of several."""

    interpreter = ""

    def wish(self, *args: str, **fields: Any) -> Wish:
        wish = super().wish(*args, **fields)
        return Wish(configuration={**wish.configuration, "luaPath": self.interpreter}, stdin=wish.stdin)


@pytest.fixture(params=[name for name in LUAS if shutil.which(name)])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    kind = type("OneLua", (LuaStage,), {"interpreter": request.param})
    made: Stage = kind(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))
    return made


class TestLua(Behaviours):
    """What every language does."""
