"""The engine over debugpy: what only a real adapter proves of breakpoints, runs, variables, restarts and pages."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import LaunchRequest, RunTarget, SessionState
from dragoman.debug.service import DebugService
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import at, client_of, end_of, service_in, stop_of, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PROGRAM = """\
def caught():
    for holder, key in (([], 0), ({}, 0)):
        try:
            holder[key]
        except LookupError:
            pass

def total_of(numbers):
    total = 0
    for n in numbers:
        total += n
    print("total", total)
    return total

big = list(range(1_000_000))
caught()
total_of(range(10))
print("end")
"""
LINE_OF_SUM = 11
LINE_OF_PRINT = 12
LINE_OF_END = 18


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(PROGRAM)
    return tmp_path


async def test_functions_and_exceptions_by_type_stop_and_are_reported_under_our_ids(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        raised, _ = await service.set_breakpoint(
            client, Breakpoint(id=0, kind="exception", filter="raised", condition="KeyError")
        )
        function, _ = await service.set_breakpoint(client, Breakpoint(id=0, kind="function", function="total_of"))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        stop = stop_of(first)
        assert (stop.reason, stop.hit_breakpoints, stop.raised and stop.raised.type) == (
            "exception",
            (raised.id,),
            "KeyError",
        )
        entered = stop_of(await service.resume(client, first.session.id, thread_id=None, within_s=10))
        assert (entered.reason, entered.hit_breakpoints) == ("function breakpoint", (function.id,))
        ended = end_of(await service.resume(client, first.session.id, thread_id=None, within_s=10))
        assert ended.exit_code == 0


CLASSES = """\
class A:
    def run(self):
        return 1

class B(A):
    def run(self):
        x = 2

        return x

A().run()
B().run()
"""


async def test_of_two_functions_with_one_last_name_each_stops_and_only_the_one_hit_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(CLASSES)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        named = [Breakpoint(id=0, kind="function", function=name) for name in ("A.run", "B.run")]
        ids = [(await service.set_breakpoint(client, it))[0].id for it in named]
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        assert stop_of(first).hit_breakpoints == (ids[0],)
        second = await service.resume(client, first.session.id, thread_id=None, within_s=10)
        assert stop_of(second).hit_breakpoints == (ids[1],)


async def test_a_breakpoint_on_a_blank_line_after_a_logpoint_says_where_it_went_and_the_logpoint_logs(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(CLASSES)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, at(tmp_path, 7, log_message="sees {self.__class__.__name__}"))
        blank, _ = await service.set_breakpoint(client, at(tmp_path, 8))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        assert stop_of(first).hit_breakpoints is not None
        assert blank.id in (stop_of(first).hit_breakpoints or ())
        assert first.session.breakpoint_sync.binding_of(blank.id).line == 7
        assert "sees B\n" in first.session.output.since(0, most=1000)[0]


async def test_a_condition_with_a_wrong_name_is_reported_at_the_next_stop(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        wrong, _ = await service.set_breakpoint(client, at(workspace, LINE_OF_SUM, condition="nope == 3"))
        await service.set_breakpoint(client, at(workspace, LINE_OF_PRINT))
        stop = stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        assert stop.output == ""
        assert "NameError: name 'nope'" in service.binding(client, wrong.id).message


async def test_a_variable_is_changed_and_a_run_to_a_place_and_a_restart_see_it_right(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_SUM, condition="n == 2"))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        id = first.session.id
        assert values(stop_of(first))["total"] == "1"
        await service.set_variable(client, id, name="total", value="1000", reference=None, frame=None)
        assert first.session.stop is not None
        assert values(first.session.stop)["total"] == "1000"

        place = RunTarget(path=str(workspace / "main.py"), line=LINE_OF_END)
        there = stop_of(await service.resume(client, id, thread_id=None, within_s=10, until=place))
        assert (there.frames[0].line, there.hit_breakpoints, there.output) == (LINE_OF_END, (), "total 1044\n")
        assert [it.line for it, _ in service.breakpoints(client)] == [LINE_OF_SUM]

        again = await service.restart(client, id, within_s=30)
        assert (again.session.id, stop_of(again).number, values(stop_of(again))["total"]) == (id, 3, "1")
        ended = end_of(await service.resume(client, id, thread_id=None, within_s=10))
        assert (ended.exit_code, ended.output) == (0, "total 45\nend\n")
        assert again.session.state is SessionState.TERMINATED


async def test_any_page_of_a_million_elements_is_shown_with_the_true_total(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_END))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        stop = stop_of(first)
        assert stop.top_locals is not None
        (big,) = [it for it in stop.top_locals.variables if it.name == "big"]
        page = await service.find(client, first.session.id).inspection.page(big.reference, start=765_432, count=2)
        assert [(it.name, it.value) for it in page.variables] == [("765432", "765432"), ("765433", "765433")]
        assert page.total == 1_000_000
        memory = await anyio.to_thread.run_sync(first.session.memory_bytes)
        assert memory is not None
        assert memory > 8_000_000  # the pointers of the list alone


ENDLESS = """\
class Endless:
    def __repr__(self):
        while True:
            pass

value = Endless()
number = 41
number += 1
print(number)
"""


async def number_in(service: DebugService, client: Caller, id: str) -> str | None:
    """None while the debugger is busy."""
    try:
        return (await service.evaluate(client, id, "number", frame=None, context="repl", within_s=5)).result
    except DragomanError as error:
        if error.code != "adapter_busy":
            raise
    return None


async def test_a_value_with_an_endless_text_costs_a_stop_its_locals_and_not_the_session(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ENDLESS)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, at(tmp_path, 8))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        assert stop_of(first).frames[0].line == 8
        id = first.session.id
        with anyio.fail_after(20):
            while (found := await number_in(service, client, id)) is None:
                await anyio.lowlevel.checkpoint()
        assert found == "41"
        assert "SIGINT" in first.session.output.since(0, most=1000)[0]


async def test_hits_are_counted_over_the_whole_run_whatever_else_is_set_meanwhile(workspace: Path) -> None:
    client = client_of(workspace)
    async with service_in(workspace) as service:
        await service.set_breakpoint(client, at(workspace, LINE_OF_SUM, condition="n == 2"))
        counted, _ = await service.set_breakpoint(client, at(workspace, LINE_OF_SUM - 1, hit_condition="== 5"))
        first = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        assert values(stop_of(first))["n"] == "2"
        await service.set_breakpoint(client, at(workspace, LINE_OF_END))
        stop = stop_of(await service.resume(client, first.session.id, thread_id=None, within_s=10))
        assert (stop.hit_breakpoints, values(stop)["n"]) == ((counted.id,), "3")
        stop = stop_of(await service.resume(client, first.session.id, thread_id=None, within_s=10))
        assert stop.frames[0].line == LINE_OF_END


RAISES = """\
def inner():
    raise ValueError("once")

def middle():
    inner()

def outer():
    try:
        middle()
    except ValueError:
        pass

outer()
outer()
print("end")
"""


async def test_an_exception_on_its_way_up_is_reported_once_and_the_next_one_again(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(RAISES)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, kind="exception", filter="raised"))
        happened = await service.start(client, LaunchRequest(program="main.py"), within_s=30)
        for _ in range(2):
            assert [it.name for it in stop_of(happened).frames][:2] == ["inner", "middle"]
            happened = await service.resume(client, happened.session.id, thread_id=None, within_s=10)
        assert end_of(happened).exit_code == 0
