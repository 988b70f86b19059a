"""A runtime that may load no code: what its own commands give, and what is refused rather than pretended."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.port import AdapterRefusedError
from dragoman.protocols.dap import bodies, read_body
from tests.debug.backends.luapanda.fake_runtime import Played, playing
from tests.support.fake_lua import FakeLua

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

FRAME = {"file": "/proj/a.lua", "oPath": "a.lua", "line": "4", "index": "2", "name": "文件名"}


def line(cmd: str, info: Any = (), **more: Any) -> bytes:
    return json.dumps({"cmd": cmd, "callbackId": "77", "info": info, **more}).encode() + b"|*|\n"


def stops(*lines: int) -> list[bytes]:
    entry = line("stopOnEntry", stack=[{**FRAME, "line": "1"}])
    return [entry, *(line("stopOnBreakpoint", stack=[{**FRAME, "line": str(at)}]) for at in lines)]


async def stopped_at_entry(played: Played, **breakpoint: Any) -> None:
    await played.ask("attach")
    await played.ask("setBreakpoints", source={"path": "/proj/a.lua"}, breakpoints=[{"line": 4, **breakpoint}])
    await played.ask("configurationDone")


async def test_hits_are_counted_by_us_and_the_others_are_passed_over() -> None:
    fake = FakeLua(stops(4, 4, 4))
    async with playing(fake, cwd="/proj") as played:
        await stopped_at_entry(played, hitCondition="== 3")
        await played.until("stopped")
        assert [command.cmd for command in fake.commands].count("continue") == 3
        assert len(played.named("stopped")) == 1


async def test_log_messages_are_filled_with_names_and_the_program_continues() -> None:
    watched = [{"name": "n", "type": "number", "value": "7", "variablesReference": "0", "isSuccess": "true"}]
    fake = FakeLua([*stops(4), line("getWatchedVariable", watched)])
    async with playing(fake, cwd="/proj") as played:
        await stopped_at_entry(played, logMessage="n is {n}, {n + 1}")
        await played.until("terminated")
        (entries,) = [fields["output"] for fields in map(_body, played.named("output"))]
        assert entries.startswith("n is 7, <")
        assert not played.named("stopped")


async def test_names_are_asked_and_expressions_are_refused() -> None:
    fake = FakeLua(stops(4))
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        for expression in ("n + 1", "f()", "a.b.c"):
            with pytest.raises(AdapterRefusedError):
                await played.ask("evaluate", expression=expression)
        asked = [command.info["varName"] for command in fake.commands if command.cmd == "getWatchedVariable"]
        assert asked == ["a.b.c"]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"name": "x", "type": "number", "value": "7", "variablesReference": "0", "isSuccess": "true"}],
        [{"name": "x", "type": "string", "value": '"no JSON"', "variablesReference": "0", "isSuccess": "true"}],
        [{"name": "x", "type": "string", "value": "load is nil", "variablesReference": "0", "isSuccess": "false"}],
    ],
)
async def test_a_runtime_that_says_it_loads_code_and_does_not_run_ours_is_asked_by_its_own_commands(
    answer: list[dict[str, str]],
) -> None:
    watched = [{"name": "n", "type": "number", "value": "7", "variablesReference": "0", "isSuccess": "true"}]
    fake = FakeLua([*stops(4), line("runREPLExpression", answer), line("getWatchedVariable", watched)], loads_code=True)
    async with playing(fake, cwd="/proj") as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        assert b'"7"' in bytes((await played.ask("evaluate", expression="n")).body or b"")


@pytest.mark.parametrize(
    ("look", "code"),
    [('"[]"', "adapter_broke_protocol"), ('"no JSON"', "adapter_broke_protocol"), ("", "adapter_refused")],
)
async def test_what_cannot_be_looked_at_at_the_entry_ends_the_start_with_the_reason(look: str, code: str) -> None:
    def text_of(value: str) -> list[dict[str, str]]:
        return [{"name": "x", "type": "string", "value": value, "variablesReference": "0", "isSuccess": "true"}]

    answers = [text_of('"{}"'), text_of(look) if look else []]
    fake = FakeLua([*stops(4), *(line("runREPLExpression", it) for it in answers)], loads_code=True)
    async with playing(fake, cwd="/proj") as played:
        with pytest.raises(DragomanError) as refused:
            await played.ask("attach")
        assert refused.value.code == code


async def test_a_field_is_not_set_since_the_runtime_would_make_a_global_of_it() -> None:
    locals_ = [{"name": "t", "type": "table", "value": "1 Members table", "variablesReference": 1}]
    fields = [{"name": '"x"', "type": "string", "value": '"old"', "variablesReference": "0"}]
    fake = FakeLua([*stops(4), line("getVariable", locals_), line("getVariable", fields)])
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        trace = read_body(await played.ask("stackTrace", threadId=1), bodies.StackTraceResponse)
        scopes = read_body(await played.ask("scopes", frameId=trace.stack_frames[0].id), bodies.ScopesResponse)
        (table,) = read_body(
            await played.ask("variables", variablesReference=scopes.scopes[0].variables_reference),
            bodies.VariablesResponse,
        ).variables
        (field,) = read_body(
            await played.ask("variables", variablesReference=table.variables_reference), bodies.VariablesResponse
        ).variables
        assert (field.name, field.value) == ("x", '"old"')
        with pytest.raises(AdapterRefusedError):
            await played.ask("setVariable", variablesReference=table.variables_reference, name="x", value="1")
        assert "setVariable" not in {command.cmd for command in fake.commands}


async def test_output_notices_and_memory_find_their_places() -> None:
    entries = [
        line("debug_console", {"logInfo": "[LogPoint Output]: hello"}),
        line("tip", {"logInfo": "look here"}),
        line("output", {"logInfo": "of the debugger"}),
        line("refreshLuaMemory", {"memInfo": "2.5"}),
        line("tipError", {"logInfo": "bad"}),
    ]
    fake = FakeLua([*entries, *stops()])
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        output = [
            (body.category, body.output) for body in played.named("output") if isinstance(body, bodies.OutputBody)
        ]
        assert output == [
            ("stdout", "hello\n"),
            ("important", "look here\n"),
            ("console", "of the debugger\n"),
            ("important", "bad\n"),
        ]
        assert played.backend.memory_bytes() == 2560


async def test_garbage_is_collected_by_a_custom_request_that_carries_no_id() -> None:
    fake = FakeLua(stops())
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        await played.ask("collectGarbage")
        await played.ask("setBreakpoints", source={"path": "/proj/a.lua"}, breakpoints=[])
        assert [(it.cmd, bool(it.callback_id)) for it in fake.commands[-2:]] == [
            ("LuaGarbageCollect", False),
            ("setBreakPoint", True),
        ]


async def test_a_breakpoint_that_is_sent_again_keeps_its_number_and_another_gets_a_new_one() -> None:
    """Counts of hits belong to it."""
    fake = FakeLua(stops())
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        for command, one, other in (
            ("setBreakpoints", {"line": 7, "hitCondition": "2"}, {"line": 7, "hitCondition": "3"}),
            ("setFunctionBreakpoints", {"name": "f", "hitCondition": "2"}, {"name": "f", "hitCondition": "3"}),
        ):
            ids = []
            for listed in ([one], [other, one], [other]):
                asked = {"source": {"path": "/proj/b.lua"}, "breakpoints": listed}
                data = json.loads(bytes((await played.ask(command, **asked)).body or b""))
                ids.append([it["id"] for it in data["breakpoints"]])
            (first,), (second, again), (last,) = ids
            assert first == again != second == last


async def test_data_cannot_be_watched_and_that_is_the_answer() -> None:
    fake = FakeLua(stops())
    async with playing(fake, cwd="/proj", stopOnEntry=True) as played:
        await stopped_at_entry(played)
        await played.until("stopped")
        data = json.loads(bytes((await played.ask("dataBreakpointInfo", name="n")).body or b""))
        assert data["dataId"] is None
        assert "dragoman.lua" in data["description"]
        assert "setDataBreakpoints" not in {command.cmd for command in fake.commands}


async def test_what_is_not_served_is_refused_by_name() -> None:
    fake = FakeLua(stops())
    async with playing(fake, cwd="/proj") as played:
        with pytest.raises(AdapterRefusedError, match="reverseContinue"):
            await played.ask("reverseContinue")


def _body(event: Any) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(event)
    return body
