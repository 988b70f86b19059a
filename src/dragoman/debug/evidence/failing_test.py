"""A test under the debugger: where it fails, before its runner catches that, and what stood there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from dragoman.clock import Clock
from dragoman.debug.evidence.command_lines import Runnable, Runner
from dragoman.debug.evidence.crash import Crash, Lines, explained
from dragoman.debug.evidence.javascript_rows import thrown_below_own_code
from dragoman.debug.evidence.points import EXCEPTIONS, Point, id_of
from dragoman.debug.evidence.probing import Probing
from dragoman.debug.evidence.run import End, Evidence, Run, Subject
from dragoman.debug.evidence.sheet import Limits, Sheet
from dragoman.debug.service import Client
from dragoman.visible import without_colours
from dragoman.workspace.breakpoints import Breakpoint

FAILURES = 5
Verdict = Literal["passed", "failed", "no tests", "limit"]
_SEEN = 60  # a runner that catches much, and throws it again; further ones are passed over
_HITS = 100_000
_OUTPUT = 200_000
_NO_TESTS = re.compile(r"^(?:testing: warning: no tests to run|ERROR: not found: .*)$", re.MULTILINE)
_NO_TESTS_BY_CODE = 5  # as pytest, and unittest since Python 3.12, say it


@dataclass(frozen=True, slots=True)
class _Way:
    """How a runner is seen to fail, and by which words it names what failed."""

    names: re.Pattern[str]
    fails_in: str = ""
    stops_at_caught: bool = False
    caught_if: str = ""
    """Of what is caught, what to stop at: a condition of the language."""


def _way(names: str, **seen: Any) -> _Way:
    return _Way(re.compile(names, re.MULTILINE), **seen)


_CAUGHT_IN_NODE: Mapping[str, Any] = {"stops_at_caught": True, "caught_if": thrown_below_own_code()}
_WAYS: Mapping[Runner, _Way] = {
    "pytest": _way(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$"),
    # A subtest is caught in the frame of its test, so that nothing leaves the user's code.
    "unittest": _way(r"^(?:FAIL|ERROR): (.+)$", stops_at_caught=True),
    "go": _way(r"^\s*--- FAIL: (\S+)", fails_in="testing.(*common).Fail"),
    "node": _way(r"^\s*(?:not ok \d+ - |✖ )(.+?)(?: \([\d.]+ms\))?$", **_CAUGHT_IN_NODE),
    "jest": _way(r"^ *● (?!Console$)(\S.*)$", **_CAUGHT_IN_NODE),
    "vitest": _way(r"^ *FAIL +(\S.*)$", **_CAUGHT_IN_NODE),
    "mocha": _way(r"^ +\d+\) (.+(?:\n {5,}\S.*?)*?):$", **_CAUGHT_IN_NODE),
    "cargo": _way(r"^ {4}([\w:]+)$"),
    "ruby": _way(r"^ +\d+\) (?:Failure|Error):\n(.+?)(?: \[.*\])?:$", stops_at_caught=True),
    "": _way(r"(?!)"),
}


@dataclass(frozen=True, slots=True)
class Tested:
    end: End
    failures: tuple[Crash, ...]
    seconds: float
    names: tuple[str, ...] = ()
    """Of what failed, as the runner calls it."""
    has_none: bool = False
    """Whether there was no test to run."""

    @property
    def verdict(self) -> Verdict:
        if self.has_none:
            return "no tests"
        if self.end.ended is None:
            return "limit"
        return "failed" if self.end.ended.exit_code else "passed"


async def tested(
    evidence: Evidence, client: Client, what: Runnable, lines: Lines, seconds: float, clock: Clock
) -> Tested:
    """What a runner catches is looked at where it stops and kept; the runner's own verdict decides what it was."""
    way = _WAYS[what.runner]
    points = [Point(function=way.fails_in)] if way.fails_in else []
    limits = Limits(hits=_HITS, seconds=seconds, rows=1)
    probing = Probing(points, Sheet(limits), goes_on=lambda _: False, by_stops=True)
    if way.stops_at_caught:
        probing.watched = Breakpoint(id=id_of(EXCEPTIONS), kind="exception", filter="raised", condition=way.caught_if)
    began_s = clock.monotonic_s()
    async with evidence.run(client, Subject(wish=what.wish), probing) as run:
        found, end = await _failures(run, lines)
        output = without_colours(run.session.output.since(0, most=_OUTPUT)[0])
    names = tuple(dict.fromkeys(" ".join(it.split()) for it in way.names.findall(output)))
    code = end.ended.exit_code if end.ended is not None else None
    is_failure = bool(code) if end.ended is not None else True
    return Tested(
        end,
        _real(found, names, output, way) if is_failure else (),
        clock.monotonic_s() - began_s,
        names,
        end.ended is not None and _is_none(code, names, output),
    )


def _is_none(code: int | None, names: Sequence[str], output: str) -> bool:
    return code == _NO_TESTS_BY_CODE or (not names and bool(_NO_TESTS.search(output)))


async def _failures(run: Run, lines: Lines) -> tuple[list[Crash], End]:
    found: list[Crash] = []
    end = await run.finished()
    while end.stop is not None and end.how in {"exception", "stopped"} and run.left_s:
        if len(found) < _SEEN:
            found.append(await explained(run, end, lines))
        elif run.probing.watched is not None:
            run.probing.watched = None
            await run.session.probe(run.probing)
        run.probing.sheet.again()
        end = await run.went_on()
    return found, end


def _real(found: Sequence[Crash], names: Sequence[str], output: str, way: _Way) -> tuple[Crash, ...]:
    """Each once: of those the runner speaks of, what it calls failed or shows the place of."""
    told: dict[object, Crash] = {}
    for crash in found:
        told[_where(crash)] = crash if crash.end.raised else told.get(_where(crash), crash)
    seen = list(told.values())
    spoken_of = [it for it in seen if _is_spoken_of(it, output)] if way.stops_at_caught else seen
    named = [it for it in spoken_of if _is_named(it, names) or _is_placed(it, output)]
    return tuple((named or spoken_of or seen[-1:])[:FAILURES])


def _where(crash: Crash) -> object:
    """The same again: seen on its way up, or, in Go, first as a failure and then as a panic."""
    top = crash.frames[:1]
    place = [(it.frame.path, it.frame.line) for it in top]
    return (*place, *((variable.name, variable.value) for it in top for variable in it.variables))


def _is_placed(crash: Crash, output: str) -> bool:
    """As the runners of Python show the places of a failure: also of one in a fixture or while a file is imported."""
    return any(
        re.search(rf'(?m)\b{re.escape(PurePath(it.frame.path).name)}(?::|", line ){it.frame.line}\b', output)
        for it in crash.frames[:1]
    )


def _is_spoken_of(crash: Crash, output: str) -> bool:
    if not crash.frames or crash.frames[0].frame.is_library:
        return False
    raised = crash.end.raised
    said = raised.message.strip().splitlines()[:1] or [raised.type] if raised else []
    return bool(said) and said[0] in output


def _is_named(crash: Crash, names: Sequence[str]) -> bool:
    """A test that is expected to fail fails as well, and is not among them."""
    functions = {it.frame.name.rpartition(".")[2] for it in crash.frames}
    return any(re.search(rf"\b{re.escape(function)}\b", name) for function in functions for name in names if function)
