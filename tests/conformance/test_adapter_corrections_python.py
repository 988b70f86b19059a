"""Wrong reports of debugpy, and what Dragoman reports instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import client_of, end_of, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

HOLDERS = """\
import types
counter = 1

def shown(a):
    d = {"k": [1, 2]}
    o = types.SimpleNamespace(x=1)
    print(counter, d, o, a)

shown(2)
print("then", counter)
"""


async def stopped_in(service: DebugService, client: Caller, source: str, line: int) -> None:
    program = client.workspace / "main.py"
    program.write_text(source)
    await service.set_breakpoint(client, Breakpoint(id=0, path=str(program), line=line))
    stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))


async def references(service: DebugService, client: Caller) -> dict[str, int]:
    """Of the scopes, and of what they hold."""
    scopes = await service.find(client, "").inspection.scopes(None, None)
    found = {scope.name: scope.reference for scope in scopes}
    for variable in (await service.find(client, "").inspection.page(scopes[0].reference, start=0, count=50)).variables:
        found[variable.name] = variable.reference
    return found


@pytest.mark.parametrize("value", ["nope_y", "a+", "nope(", "1 / 0"])
async def test_a_value_that_cannot_be_had_is_refused_and_nothing_is_printed(tmp_path: Path, value: str) -> None:
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await stopped_in(service, client, HOLDERS, 7)
        by_name = await references(service, client)
        for name, reference in (
            ("a", None),
            ("a", by_name["Locals"]),
            ("counter", by_name["Globals"]),
            ("x", by_name["o"]),
        ):
            with pytest.raises(DragomanError) as caught:
                await service.set_variable(client, "", name=name, value=value, reference=reference, frame=None)
            assert caught.value.code == "adapter_refused"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=10))
        assert ended.output.splitlines() == ["1 {'k': [1, 2]} namespace(x=1) 2", "then 1"]


async def test_whatever_holds_a_variable_it_is_that_one_that_is_changed(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await stopped_in(service, client, HOLDERS, 7)
        by_name = await references(service, client)
        changes = [("a", None, "7"), ("'k'", by_name["d"], "[5]"), ("x", by_name["o"], "a + 1"), ("counter", None, "a")]
        answers = [
            (await service.set_variable(client, "", name=name, value=value, reference=reference, frame=None)).result
            for name, reference, value in changes
        ]
        assert answers == ["7", "[5]", "8", "7"]
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=10))
        assert ended.output.splitlines() == ["7 {'k': [5]} namespace(x=8) 7", "then 7"]


LOOP = """\
for n in range(8):
    print(n)
"""


async def test_of_two_clients_breakpoints_at_a_line_the_one_that_was_hit_is_reported(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LOOP)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        ids = {}
        for condition in ("n == 3", "n in (3, 5)", "n % 7 and not n % 6"):
            wanted = Breakpoint(id=0, owner=condition, path=str(tmp_path / "main.py"), line=2, condition=condition)
            ids[condition] = (await service.set_breakpoint(client, wanted))[0].id
        first = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        second = stop_of(await service.resume(client, "", thread_id=None, within_s=20))
        third = stop_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert first.hit_breakpoints == (ids["n == 3"], ids["n in (3, 5)"])
        assert second.hit_breakpoints == (ids["n in (3, 5)"],)
        assert third.hit_breakpoints == (ids["n % 7 and not n % 6"],)


async def test_logpoint_output_is_in_order_with_what_the_program_prints(tmp_path: Path) -> None:
    source = "for n in range(40):\n    word = chr(97 + n % 26) * 2\n    print(n)\nprint('end')\n"
    (tmp_path / "main.py").write_text(source)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        text = Breakpoint(id=0, path=str(tmp_path / "main.py"), line=3, log_message="now {word} and {n}; {nope}.")
        await service.set_breakpoint(client, text)
        ended = end_of(await service.start(client, LaunchRequest(program="main.py"), within_s=60))
    lines = ended.output.splitlines()
    assert lines[-3:] == [lines[-3], "39", "end"]
    assert lines[:4] == [
        "now aa and 0; <NameError: name 'nope' is not defined>.",
        "0",
        "now bb and 1; <NameError: name 'nope' is not defined>.",
        "1",
    ]
    assert [line for line in lines if line.isdecimal()] == lines[1:-1:2] == [str(n) for n in range(40)]
