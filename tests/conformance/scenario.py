"""What every language is asked to do, over one small program that is the same in each: it doubles and adds up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.model import Stop
from dragoman.debug.service import Client, DebugService, Wish
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import client_of, end_of, stop_of, values

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
    ends_of_twice: tuple[int, ...] = ()
    """Where a step out of `twice` may also stop: at its very end, which some debuggers mean by "out"."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Stage:
    """A language's program in a workspace, built where it must be."""

    language: Language
    workspace: Path
    program: Path

    @property
    def client(self) -> Client:
        return client_of(self.workspace)

    @property
    def source(self) -> Path:
        return self.workspace / Path(self.language.source).name

    def at(self, line: int, **fields: Any) -> Breakpoint:
        return Breakpoint(id=0, path=str(self.source), line=line, **fields)

    def wish(self, *args: str, **fields: Any) -> Wish:
        named = {"type": self.language.spec.name, "request": "launch", "name": self.language.name}
        return Wish(configuration={**named, "program": str(self.program), "args": list(args)}, **fields)


def n_of(stop: Stop) -> int:
    return int(values(stop)["n"])


async def walk(service: DebugService, stage: Stage) -> None:
    """Conditional stop, locals, evaluate, step out, over and into, and the end with its exit code and output."""
    client, language = stage.client, stage.language
    made, _ = await service.set_breakpoint(client, stage.at(language.computes, condition="n == 3"))
    first = await service.start(client, stage.wish(), within_s=60)
    stop, id = stop_of(first), first.session.id
    assert (stop.reason, stop.hit_breakpoints, n_of(stop)) == ("breakpoint", (made.id,), 3)
    assert (stop.frames[0].path, stop.frames[0].line) == (str(stage.source), language.computes)
    assert service.binding(client, made.id).verified

    evaluated = await service.evaluate(client, id, "n * 10", frame=None, context="repl", within_s=10)
    assert evaluated.result == "30"
    over = stop_of(await service.step(client, id, "over", thread_id=None, within_s=20))
    assert (over.reason, over.frames[0].line, values(over)["result"]) == ("step", language.computes + 1, "6")
    out = stop_of(await service.step(client, id, "out", thread_id=None, within_s=20))
    assert out.frames[0].line in (language.calls, language.prints, *language.ends_of_twice)
    await service.remove_breakpoints(client, lambda it: it.id == made.id)

    await service.set_breakpoint(client, stage.at(language.calls, condition="n == 7"))
    at_call = stop_of(await service.resume(client, id, thread_id=None, within_s=20))
    assert (at_call.frames[0].line, n_of(at_call)) == (language.calls, 7)
    into = stop_of(await service.step(client, id, "into", thread_id=None, within_s=20))
    assert ("twice" in into.frames[0].name, n_of(into)) == (True, 7)

    ended = end_of(await service.resume(client, id, thread_id=None, within_s=30))
    assert ended.exit_code == 3
    assert ended.output.count("total 90") == 1


async def stops_at(service: DebugService, stage: Stage, breakpoint: Breakpoint, *, most: int) -> list[int]:
    """The values of n where it stops, up to `most`, or all until the end."""
    client = stage.client
    await service.set_breakpoint(client, breakpoint)
    happened = await service.start(client, stage.wish(), within_s=60)
    seen: list[int] = []
    while isinstance(happened.outcome, Stop) and len(seen) < most:
        seen.append(n_of(happened.outcome))
        happened = await service.resume(client, happened.session.id, thread_id=None, within_s=20)
    return seen
