"""Debugging real Lua programs through the engine and our own runtime, on every Lua there is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.backends.adapters.lua import LUA
from dragoman.debug.model import LaunchRequest
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage

LUAS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

LANGUAGE = Language("lua", LUA, "lua/main.lua", computes=2, calls=10, prints=11)


class LuaStage(Stage):
    """With one Lua of several."""

    interpreter = ""

    def launch_request(self, *args: str, **fields: Any) -> LaunchRequest:
        launch_request = super().launch_request(*args, **fields)
        return LaunchRequest(
            configuration={**launch_request.configuration, "luaPath": self.interpreter}, stdin=launch_request.stdin
        )


@pytest.fixture(params=[name for name in LUAS if shutil.which(name)])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    kind = type("OneLua", (LuaStage,), {"interpreter": request.param})
    made: Stage = kind(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))
    return made


class TestLua(Behaviours):
    """What every language does."""
