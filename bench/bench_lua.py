"""Our Lua runtime: what it costs 300,000 small calls, and how fast it answers, on every Lua that is here.

LUAPANDA_LUA=path of the original LuaPanda.lua gives the ratio to it; without it, the ratio to a hook that does nothing.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.claims import Claim
from tests.lua.program import LUAS, Ide, Program

CALLS = Path(__file__).parent / "programs" / "calls.lua"
UNREACHED, COLD, HOT = 20, 3, 9
STEPS = 50


def run() -> list[Claim]:
    luas = [lua for lua in LUAS if shutil.which(lua)]
    claims = [claim for lua in luas for claim in _cost_claims(lua)]
    return claims + [claim for lua in luas for claim in _speed_claims(lua)]


def _cost_claims(lua: str) -> list[Claim]:
    bare = _best(lua, "none")
    alone = _best(lua, "debugger", attached=False)
    same = _best(lua, "debugger", lambda root: (root / "calls.lua", UNREACHED))
    other = _best(lua, "debugger", lambda root: (root / "other.lua", COLD))
    alike = _best(lua, "debugger", lambda root: (root / "other.lua", HOT))
    # The smallest difference that this clock tells apart must not count as a cost.
    idle = Claim(f"{lua}: loaded, nobody listens, to no debugger", (alone + 0.002) / (bare + 0.002), "x", 1.25, "lower")
    return [idle, *_hook_claims(lua, {"in the file": same, "elsewhere": other, "elsewhere, same line number": alike})]


def _hook_claims(lua: str, costs: dict[str, float]) -> list[Claim]:
    original = os.environ.get("LUAPANDA_LUA")
    if original is not None:
        at = lambda root: (root / "calls.lua", UNREACHED)  # noqa: E731
        theirs = _best(lua, "debugger", at, runtime=Path(original), rounds=1)
        return [
            Claim(f"{lua}: breakpoint {where}, times faster", theirs / cost, "x", 30, "higher")
            for where, cost in costs.items()
        ]
    empty = _best(lua, "empty")
    return [
        Claim(f"{lua}: breakpoint {where}, to an empty hook", cost / empty, "x", 2.5, "lower")
        for where, cost in costs.items()
    ]


def _best(
    lua: str,
    how: str,
    breakpoint_at: Callable[[Path], tuple[Path, int]] | None = None,
    *,
    attached: bool = True,
    runtime: Path | None = None,
    rounds: int = 3,
) -> float:
    """CPU seconds of the calls: the best of some rounds in one process."""
    with tempfile.TemporaryDirectory() as folder, Program(lua, Path(folder)) as program:
        shutil.copy(CALLS, folder)
        if runtime is not None:
            shutil.copy(runtime, Path(folder) / "debugger" / "LuaPanda.lua")
        port = program.listen()
        if how == "debugger" and not attached:
            program.stop_listening()
        program.run("calls.lua", port=port, HOW=how, ROUNDS=str(rounds))
        if how == "debugger" and attached:
            _set_and_go(program.accept(), Path(folder), breakpoint_at)
        code, out, err = program.end(within_s=120)
        assert code == 0, err
        return float(out)


def _set_and_go(ide: Ide, root: Path, breakpoint_at: Callable[[Path], tuple[Path, int]] | None) -> None:
    ide.start(root)
    if breakpoint_at is not None:
        ide.breakpoints(*breakpoint_at(root))
    ide.send("continue")


def _speed_claims(lua: str) -> list[Claim]:
    with tempfile.TemporaryDirectory() as folder, Program(lua, Path(folder)) as program:
        root = Path(folder)
        text = 'require("dragoman").start("127.0.0.1", tonumber(os.getenv("PANDA_PORT")))\nlocal n = 0\n'
        program.write("steps.lua", text + "n = n + 1\n" * (STEPS + 10))
        began = time.perf_counter()
        ide = program.debug("steps.lua")
        ide.start(root, dragoman="1")
        first = time.perf_counter() - began
        steps = statistics.median(_step(ide) for _ in range(STEPS))
    return [
        Claim(f"{lua}: first stop after the program started", first * 1000, "ms", 300, "lower"),
        Claim(f"{lua}: a step with its stack and locals", steps * 1000, "ms", 10, "lower"),
    ]


def _step(ide: Ide) -> float:
    began = time.perf_counter()
    ide.go("stopOnStep")
    scopes = ide.ask("scopes", {"frame": 2})["scopes"]
    ide.ask("variables", {"reference": scopes[0]["reference"]})
    return time.perf_counter() - began
