"""What every language is asked to do, over one small program that is the same in each: it doubles and adds up."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import AdapterSpec
from dragoman.debug.model import LaunchRequest, Stop
from dragoman.debug.service import DebugService
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import client_of, end_of, eventually, service_in, stop_of, values

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Language:
    """A program and its lines: in `twice`, the line that computes the result; in the loop, the call and the print."""

    name: str
    spec: AdapterSpec
    source: str
    computes: int
    calls: int
    prints: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Stage:
    """A language's program in a workspace, built where it must be."""

    language: Language
    workspace: Path
    program: Path

    @property
    def client(self) -> Caller:
        return client_of(self.workspace)

    @property
    def source(self) -> Path:
        return self.workspace / Path(self.language.source).name

    def at(self, line: int, **fields: Any) -> Breakpoint:
        return Breakpoint(id=0, path=str(self.source), line=line, **fields)

    def launch_request(self, *args: str, **fields: Any) -> LaunchRequest:
        named = {"type": self.language.spec.name, "request": "launch", "name": self.language.name}
        return LaunchRequest(configuration={**named, "program": str(self.program), "args": list(args)}, **fields)


@contextmanager
def running_program(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """One that somebody else started, to attach to."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            yield running
        finally:
            running.kill()


def n_of(stop: Stop) -> int:
    return int(values(stop)["n"])


async def stops_at(service: DebugService, stage: Stage, breakpoint: Breakpoint) -> list[int]:
    """The values of n where it stops, to the end of the program."""
    client = stage.client
    await service.set_breakpoint(client, breakpoint)
    happened = await service.start(client, stage.launch_request(), within_s=60)
    seen: list[int] = []
    while isinstance(happened.outcome, Stop):
        seen.append(n_of(happened.outcome))
        happened = await service.resume(client, happened.session.id, thread_id=None, within_s=20)
    assert end_of(happened).exit_code == 3
    return seen


class Behaviours:
    """Inherited by each language's tests, which give the fixture `stage`."""

    async def test_a_program_is_stopped_stepped_looked_into_and_run_to_its_end(self, stage: Stage) -> None:
        client, language = stage.client, stage.language
        async with service_in(stage.workspace, language.spec) as service:
            made, _ = await service.set_breakpoint(client, stage.at(language.computes, condition="n == 3"))
            first = await service.start(client, stage.launch_request(), within_s=60)
            stop, id = stop_of(first), first.session.id
            assert (stop.reason, stop.hit_breakpoints, n_of(stop)) == ("breakpoint", (made.id,), 3)
            assert (stop.frames[0].path, stop.frames[0].line) == (str(stage.source), language.computes)
            assert service.binding(client, made.id).verified
            assert first.session.facts["adapter"]

            evaluated = await service.evaluate(client, id, "n * 10", frame=None, context="repl", within_s=10)
            assert evaluated.result == "30"
            over = stop_of(await service.step(client, id, "over", thread_id=None, within_s=20))
            assert (over.reason, over.frames[0].line, values(over)["result"]) == ("step", language.computes + 1, "6")
            out = stop_of(await service.step(client, id, "out", thread_id=None, within_s=20))
            assert out.frames[0].line in (language.calls, language.prints)
            await service.remove_breakpoints(client, lambda it: it.id == made.id)

            await service.set_breakpoint(client, stage.at(language.calls, condition="n == 7"))
            at_call = stop_of(await service.resume(client, id, thread_id=None, within_s=20))
            assert (at_call.frames[0].line, n_of(at_call)) == (language.calls, 7)
            into = stop_of(await service.step(client, id, "into", thread_id=None, within_s=20))
            assert ("twice" in into.frames[0].name, n_of(into)) == (True, 7)

            ended = end_of(await service.resume(client, id, thread_id=None, within_s=30))
            assert ended.exit_code == 3
            assert ended.output.count("total 90") == 1

    @pytest.mark.parametrize(
        ("condition", "stops"),
        [
            ("3", [2]),
            ("== 3", [2]),
            ("> 5", [5, 6, 7, 8, 9]),
            (">= 8", [7, 8, 9]),
            ("% 2 == 0", [1, 3, 5, 7, 9]),
            ("% 3", [2, 5, 8]),
            ("% 3 == 1", [0, 3, 6, 9]),
        ],
    )
    async def test_hit_conditions_mean_one_thing_in_every_language(
        self, stage: Stage, condition: str, stops: list[int]
    ) -> None:
        async with service_in(stage.workspace, stage.language.spec) as service:
            breakpoint = stage.at(stage.language.computes, hit_condition=condition)
            assert await stops_at(service, stage, breakpoint) == stops

    async def test_a_line_is_stopped_at_once_a_pass(self, stage: Stage) -> None:
        """A macro or a generic can give a line several places in the machine code."""
        async with service_in(stage.workspace, stage.language.spec) as service:
            assert await stops_at(service, stage, stage.at(stage.language.prints)) == list(range(10))

    async def test_a_logpoint_with_a_condition_prints_once_a_pass_and_does_not_stop(self, stage: Stage) -> None:
        async with service_in(stage.workspace, stage.language.spec) as service:
            wanted = stage.at(stage.language.prints, log_message="n is {n}.", condition="n > 5")
            await service.set_breakpoint(stage.client, wanted)
            ended = end_of(await service.start(stage.client, stage.launch_request(), within_s=60))
            output = [line for line in ended.output.splitlines() if "n is" in line]
            assert output == ["n is 6.", "n is 7.", "n is 8.", "n is 9."]

    async def test_a_step_over_a_call_is_not_lost_to_a_logpoint_in_it(self, stage: Stage) -> None:
        client, language = stage.client, stage.language
        async with service_in(stage.workspace, language.spec) as service:
            await service.set_breakpoint(client, stage.at(language.calls, condition="n == 4"))
            await service.set_breakpoint(client, stage.at(language.computes, log_message="n is {n}."))
            at_call = await service.start(client, stage.launch_request(), within_s=60)
            assert n_of(stop_of(at_call)) == 4
            over = stop_of(await service.step(client, "", "over", thread_id=None, within_s=20))
            assert (over.reason, over.frames[0].line, n_of(over)) == ("step", language.prints, 4)

    async def test_a_step_onto_a_line_with_a_logpoint_ends_there(self, stage: Stage) -> None:
        client, language = stage.client, stage.language
        async with service_in(stage.workspace, language.spec) as service:
            await service.set_breakpoint(client, stage.at(language.calls, condition="n == 4"))
            await service.set_breakpoint(client, stage.at(language.prints, log_message="n is {n}."))
            await service.start(client, stage.launch_request(), within_s=60)
            over = stop_of(await service.step(client, "", "over", thread_id=None, within_s=20))
            assert (over.frames[0].line, n_of(over), "n is 3." in over.output) == (language.prints, 4, False)

    async def test_what_cannot_be_evaluated_is_an_error_and_the_session_stays_usable(self, stage: Stage) -> None:
        client = stage.client
        async with service_in(stage.workspace, stage.language.spec) as service:
            await service.set_breakpoint(client, stage.at(stage.language.computes))
            await service.start(client, stage.launch_request(), within_s=60)
            for bad in ("nope + 1", "n +* 2"):
                with pytest.raises(DragomanError) as caught:
                    await service.evaluate(client, "", bad, frame=None, context="repl", within_s=10)
                assert caught.value.code == "adapter_refused"
            assert (await service.evaluate(client, "", "n", frame=None, context="repl", within_s=10)).result == "0"

    async def test_a_changed_variable_changes_what_the_program_computes(self, stage: Stage) -> None:
        client = stage.client
        async with service_in(stage.workspace, stage.language.spec) as service:
            await service.set_breakpoint(client, stage.at(stage.language.calls, condition="n == 9"))
            await service.start(client, stage.launch_request(), within_s=60)
            changed = await service.set_variable(client, "", name="total", value="102", reference=None, frame=None)
            assert changed.result == "102"
            stop = service.find(client).require_stopped()
            assert values(stop)["total"] == "102"
            ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
            assert "total 120" in ended.output

    async def test_the_program_reads_what_it_is_given_and_then_the_end(self, stage: Stage) -> None:
        async with service_in(stage.workspace, stage.language.spec) as service:
            ended = end_of(await service.start(stage.client, stage.launch_request("x", stdin="hello\n"), within_s=60))
            assert "read hello" in ended.output

    async def test_without_input_a_program_that_reads_does_not_wait(self, stage: Stage) -> None:
        async with service_in(stage.workspace, stage.language.spec) as service:
            ended = end_of(await service.start(stage.client, stage.launch_request("x"), within_s=60))
            assert (ended.exit_code, "total 90" in ended.output) == (3, True)

    async def test_a_restart_runs_it_from_the_beginning_in_the_same_session(self, stage: Stage) -> None:
        client = stage.client
        async with service_in(stage.workspace, stage.language.spec) as service:
            either = f"n == 3 {stage.language.spec.quirks.or_word} n == 5"
            await service.set_breakpoint(client, stage.at(stage.language.computes, condition=either))
            first = await service.start(client, stage.launch_request(), within_s=60)
            second = stop_of(await service.resume(client, "", thread_id=None, within_s=20))
            again = await service.restart(client, first.session.id, within_s=60)
            assert (n_of(stop_of(first)), n_of(second), n_of(stop_of(again))) == (3, 5, 3)
            assert (again.session.id, stop_of(again).number) == (first.session.id, 3)

    async def test_stopping_leaves_no_process_behind(self, stage: Stage) -> None:
        client = stage.client
        async with service_in(stage.workspace, stage.language.spec) as service:
            before = set(psutil.Process().children(recursive=True))
            await service.set_breakpoint(client, stage.at(stage.language.computes))
            started = await service.start(client, stage.launch_request(), within_s=60)
            assert stop_of(started).reason == "breakpoint"
            await service.stop(client, started.session.id)
            await service.wait(client, started.session.id, within_s=10)
            await eventually(lambda: set(psutil.Process().children(recursive=True)) <= before)
