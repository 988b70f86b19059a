"""The recorded sessions of LuaPanda.lua 3.3.1, played again to our runtime on the Luas they were recorded on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from dragoman.protocols.luapanda.framing import read_message
from tests.lua.program import LUAS, Ide, Program
from tests.lua.replay import comparable, copy_programs, recorded, replayed, talk_of
from tests.protocols.luapanda.transcripts import INDEX, NAMES, to_runtime

RECORDED_ON = {"5.1": "lua5.1", "5.2": "lua5.2", "5.3": "lua5.3", "5.4": "lua5.4", "LuaJIT 2.1": "luajit"}
# The original dies of these; the program under our runtime must not.
DEADLY = {
    "fault_continue_info_null": "continue",
    "fault_continue_without_info": "continue",
    "fault_empty_line": None,
    "fault_init_no_TempFilePath": "initSuccess",
    "fault_init_no_luaFileExtension": "initSuccess",
    "fault_newline_without_separator": "getWatchedVariable",
    "fault_not_json": None,
    "fault_sep_inside_string": "getWatchedVariable",
    "fault_three_messages_one_line": "getWatchedVariable",
}
LISTENS = {"lua_as_server"}
REPLAYED = [name for name in NAMES if name not in DEADLY and name not in LISTENS]
# What the language itself does not change: these must hold on every Lua, whichever they were recorded on.
COMMON = ("callback_ids", "framing", "breakpoint_types", "paths_autoPathMode-true", "pipelined_start", "step_to_end")
CASES = [(RECORDED_ON[INDEX[f"{name}.jsonl"]["lua"]], name) for name in REPLAYED]
CASES += [(lua, name) for name in COMMON for lua in LUAS if (lua, name) not in CASES]


@pytest.mark.needs("lua")
@pytest.mark.requirement("luapanda:clib:no-ids", "luapanda:clib:messages-through-lua")
@pytest.mark.parametrize(("lua", "name"), CASES)
def test_a_recorded_session_gets_the_recorded_answers(lua: str, name: str, tmp_path: Path) -> None:
    ours, theirs, code = replayed(lua, name, tmp_path)
    assert ours == theirs
    assert code == 0


@pytest.mark.needs("lua")
@pytest.mark.parametrize("lua", LUAS)
@pytest.mark.parametrize("name", DEADLY)
def test_what_kills_a_program_under_the_original_does_it_no_harm(lua: str, name: str, tmp_path: Path) -> None:
    copy_programs(tmp_path)
    with Program(lua, tmp_path) as program:
        ide = program.debug("main.lua")
        for data in to_runtime(name):
            ide.write(data.replace(b"/proj", str(tmp_path).encode()))
        answered = DEADLY[name]
        if answered is not None:
            ide.wait_for(answered)
        _let_it_end(ide)
        code, out, err = program.end()
    assert (code, err) == (0, "")
    assert "DONE 16" in out.replace("\t", " ")


def _let_it_end(ide: Ide) -> None:
    """The last order for whatever state the session is in: go on without us."""
    with suppress(ConnectionError):
        ide.send("stopRun")
    ide.run_out()


@pytest.mark.needs("lua")
@pytest.mark.parametrize("lua", LUAS)
def test_a_program_that_listens_gives_the_recorded_answers(lua: str, tmp_path: Path) -> None:
    copy_programs(tmp_path)
    with Program(lua, tmp_path) as program:
        port = program.listen()
        program.stop_listening()
        program.run("server.lua", port=port, LOOP_SECONDS="5")
        ide = program.connect(port)
        wanted = [
            comparable(message, Path("/proj"))
            for message in recorded("lua_as_server")
            if message["cmd"] not in talk_of("")
        ]
        for data in to_runtime("lua_as_server"):
            ide.write(data.replace(b"/proj", str(tmp_path).encode()))
            cmd = read_message(data.rstrip()[:-3])["cmd"]
            if cmd == "stopRun":
                break
            ide.wait_for(cmd)
            if cmd in ("initSuccess", "continue"):
                ide.stop()
        ide.run_out()
        came = [comparable(message, tmp_path) for message in ide.seen if message["cmd"] not in talk_of("")]
        assert came == wanted
