"""Runs a test under the debugger and stops where it fails, before its runner catches the failure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from dragoman.core.clock import Clock
from dragoman.core.safe_text import strip_colors
from dragoman.debug.evidence.crash import CrashReport, describe_end, describe_printed
from dragoman.debug.evidence.evidence_probe import EvidenceProbe
from dragoman.debug.evidence.javascript_evaluation import own_code_throw_condition
from dragoman.debug.evidence.printed_crash import CrashCause, PrintedFailure, read_pytest_failures
from dragoman.debug.evidence.run import EvidenceRun, EvidenceService, EvidenceSource, RunOutcome
from dragoman.debug.evidence.tracepoints import (
    EXCEPTION_INDEX,
    ReadLines,
    TraceLimits,
    Tracepoint,
    TraceTable,
    breakpoint_id,
)
from dragoman.debug.launch.commands.command_line import CommandTarget, TestRunner
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller

_MOST = 5
_MOST_CHARACTERS = 600

# The output of `python -m doctest` and `doctest.testmod()`.
_PLAIN = re.compile(
    r'^File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<name>\S+)\n'
    r"Failed example:\n(?P<example>(?:    .*\n)+)(?P<outcome>(?:(?!\*{5,}|File \").*\n?)*)",
    re.MULTILINE,
)
# pytest numbers the source lines up to the example; the location follows.
_PYTEST = re.compile(
    r"^_+ \[doctest\] (?P<name>\S+) _+\n(?P<source>(?:(?:\d{3,}|EXAMPLE LOCATION UNKNOWN).*\n|\?\?\? .*\n)+)"
    r"(?P<outcome>(?:.*\n)*?)\n?(?P<file>\S+):(?P<line>\d+): (?:DocTestFailure|UnexpectedException|\w+)$",
    re.MULTILINE,
)
_NUMBERED = re.compile(r"^(?P<line>\d{3,}) (?P<text>.*)$", re.MULTILINE)
_UNEXPECTED = re.compile(r"^UNEXPECTED EXCEPTION: (.*)$", re.MULTILINE)
_SECTIONS = re.compile(r"^(Expected|Got|Expected nothing|Got nothing|Exception raised|Differences.*):?$", re.MULTILINE)


class DoctestFailure(NamedTuple):
    name: str
    path: str
    line: int
    example: str
    expected: str
    got: str


def doctest_failures(output: str) -> list[DoctestFailure]:
    found = [*map(_plain, _PLAIN.finditer(output)), *_of_pytest(output)]
    return found[:_MOST]


def _plain(match: re.Match[str]) -> DoctestFailure:
    example = "\n".join(line[4:] for line in match["example"].splitlines())
    return DoctestFailure(match["name"], match["file"], int(match["line"]), example, *_outcome(match["outcome"]))


def _of_pytest(output: str) -> Iterator[DoctestFailure]:
    for match in _PYTEST.finditer(output):
        numbered = [(int(it["line"]), it["text"]) for it in _NUMBERED.finditer(match["source"])]
        prompts = [at for at, (_, text) in enumerate(numbered) if text.lstrip().startswith(">>> ")]
        if not prompts:
            continue
        first = prompts[-1]
        lines = [text.strip()[4:] for _, text in numbered[first:] if text.strip().startswith((">>> ", "... "))]
        yield DoctestFailure(
            match["name"], match["file"], numbered[first][0], "\n".join(lines), *_outcome(match["outcome"])
        )


def _outcome(text: str) -> tuple[str, str]:
    """Expected and got; of an exception its last line."""
    parts = _SECTIONS.split(text)
    sections = {name: _dedented(body) for name, body in zip(parts[1::2], parts[2::2], strict=False)}
    raised = sections.get("Exception raised", "") or "".join(_UNEXPECTED.findall(text)[:1])
    last = "".join(raised.strip().splitlines()[-1:]).strip()
    return sections.get("Expected", ""), sections.get("Got", "") or last


def _dedented(text: str) -> str:
    lines = [line.removeprefix("    ") for line in text.strip("\n").splitlines()]
    return "\n".join(lines).strip("\n")[:_MOST_CHARACTERS]


MAX_FAILURES = 5
TestVerdict = Literal["passed", "failed", "no tests", "limit"]
_MOST_STOPS = 60  # a runner may catch and rethrow many exceptions; further ones are ignored
_MOST_HITS = 100_000
_OUTPUT_CHARACTERS = 200_000
_NO_TESTS = re.compile(
    r"^(?:testing: warning: no tests to run|ERROR: (?:not found|file or directory not found): .*)$", re.MULTILINE
)
_WITH_DOCTESTS = frozenset({"pytest", "doctest", "unittest", ""})
_WORKERS = re.compile(r"^(?:created: \d+/\d+ workers?|\d+ workers? \[|bringing up nodes|\[gw\d+\] )", re.MULTILINE)
_NO_TESTS_BY_CODE = 5  # the exit code of pytest, and of unittest since Python 3.12


@dataclass(frozen=True, slots=True)
class _RunnerFormat:
    """How a runner is seen to fail, and by which words it names what failed."""

    names: re.Pattern[str]
    failure_function: str = ""
    stops_at_caught: bool = False
    first_words: tuple[str, ...] = ()
    """Before the other words of the command."""
    caught_if: str = ""
    """Of what is caught, what to stop at: a condition of the language."""


def _runner_format(names: str, **seen: Any) -> _RunnerFormat:
    return _RunnerFormat(re.compile(names, re.MULTILINE), **seen)


_CAUGHT_IN_NODE: Mapping[str, Any] = {"stops_at_caught": True, "caught_if": own_code_throw_condition()}
_RUNNER_FORMATS: Mapping[TestRunner, _RunnerFormat] = {
    # Test ids may contain brackets, spaces and dashes. The message is not truncated, so that both sides are complete.
    "pytest": _runner_format(
        r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S+?\.py(?:::[^\[\n]+?)?(?:\[.*?\])?)(?: - .*)?$", first_words=("-vvvv",)
    ),
    "doctest": _runner_format(r'^File "[^"]+", line \d+, in (\S+)$'),
    # A failed subtest is caught in the frame of its test, so its exception never leaves the user's code.
    "unittest": _runner_format(r"^(?:FAIL|ERROR): (.+)$", stops_at_caught=True),
    "go": _runner_format(r"^\s*--- FAIL: (\S+)", failure_function="testing.(*common).Fail"),
    "node": _runner_format(r"^\s*(?:not ok \d+ - |✖ )(.+?)(?: \([\d.]+ms\))?$", **_CAUGHT_IN_NODE),
    "jest": _runner_format(r"^ *● (?!Console$)(\S.*)$", **_CAUGHT_IN_NODE),
    "vitest": _runner_format(r"^ *FAIL +(\S.*)$", **_CAUGHT_IN_NODE),
    "mocha": _runner_format(r"^ +\d+\) (.+(?:\n {5,}\S.*?)*?):$", **_CAUGHT_IN_NODE),
    "cargo": _runner_format(r"^ {4}([\w:]+)$"),
    "ruby": _runner_format(r"^ +\d+\) (?:Failure|Error):\n(.+?)(?: \[.*\])?:$", stops_at_caught=True),
    "": _runner_format(r"(?!)"),
}


@dataclass(frozen=True, slots=True)
class SuiteResult:
    end: RunOutcome
    failures: tuple[CrashReport, ...]
    seconds: float
    names: tuple[str, ...] = ()
    """Of what failed, as the runner calls it."""
    has_none: bool = False
    """Whether there was no test to run."""
    tests: tuple[str, ...] = ()
    """Of each failure, the name among those, if it is known."""
    doctests: tuple[DoctestFailure, ...] = ()
    has_workers: bool = False
    """Whether the runner ran the tests in processes of its own, where a debugger sees less."""

    @property
    def verdict(self) -> TestVerdict:
        if self.has_none:
            return "no tests"
        if self.end.ended is None:
            return "limit"
        return "failed" if self.end.ended.exit_code else "passed"


async def run_test(
    evidence: EvidenceService, caller: Caller, what: CommandTarget, lines: ReadLines, seconds: float, clock: Clock
) -> SuiteResult:
    """What a runner catches is looked at where it stops and kept; the runner's own verdict decides what it was."""
    way = _RUNNER_FORMATS[what.runner]
    points = [Tracepoint(function=way.failure_function)] if way.failure_function else []
    limits = TraceLimits(hits=_MOST_HITS, seconds=seconds, rows=1)
    probe = EvidenceProbe(points, TraceTable(limits), should_continue=lambda _: False, by_stops=True)
    if way.stops_at_caught:
        probe.watched = Breakpoint(
            id=breakpoint_id(EXCEPTION_INDEX), kind="exception", filter="raised", condition=way.caught_if
        )
    began_s = clock.monotonic_s()
    async with evidence.run(caller, EvidenceSource(launch_request=_with_words(what, way)), probe) as run:
        found, end = await _failures(run, lines)
        output = strip_colors(run.session.output.since(0, most=_OUTPUT_CHARACTERS)[0])
    names = tuple(dict.fromkeys(" ".join(it.split()) for it in way.names.findall(output)))
    code = end.ended.exit_code if end.ended is not None else None
    is_failure = bool(code) if end.ended is not None else True
    cwd = str(what.launch_request.configuration.get("cwd") or what.launch_request.cwd or caller.cwd)
    printed = read_pytest_failures(output, cwd) if is_failure and what.runner == "pytest" else []
    failures = _reported_failures(found, names, output, way, printed) if is_failure else ()
    failures = tuple(_with_cause_types(it, output) for it in failures)
    tests = _tests_of(failures, names, printed)
    for one in _unseen(printed, failures):
        if len(failures) < MAX_FAILURES:
            failures = (*failures, await describe_printed(end, one.crash, lines))
            tests = (*tests, _name_of(one, names))
    return SuiteResult(
        end,
        failures,
        clock.monotonic_s() - began_s,
        names,
        end.ended is not None and _has_no_tests(code, names, output),
        tests,
        tuple(doctest_failures(output)) if is_failure and what.runner in _WITH_DOCTESTS else (),
        bool(_WORKERS.search(output)),
    )


def _with_words(what: CommandTarget, way: _RunnerFormat) -> LaunchRequest:
    request = what.launch_request
    if not way.first_words or not request.configuration:
        return request
    words = [*way.first_words, *request.configuration.get("args", ())]
    return replace(request, configuration={**request.configuration, "args": words})


def _tests_of(
    failures: Sequence[CrashReport], names: Sequence[str], printed: Sequence[PrintedFailure]
) -> tuple[str, ...]:
    """The test of each: the next name that has one of its functions, or whose failure is printed with its place."""
    left, tests = list(names), list[str]()
    for crash in failures:
        places = (_name_of(it, left) for it in printed if _is_same_failure(it, crash))
        found = next((it for it in left if _is_named(crash, [it])), "") or next(filter(None, places), "")
        subtest = next((it.title for it in printed if found and _is_same_failure(it, crash)), "").partition(" (")
        tests.append(found + "".join(subtest[1:]))
        if found and not subtest[1]:
            left.remove(found)
    if not printed and len(tests) == len(names) == 1:
        return tuple(names)
    return tuple(tests)


def _with_cause_types(crash: CrashReport, output: str) -> CrashReport:
    """A debugger that names what led to a failure may not say of which type it was; pytest does."""

    def typed(cause: CrashCause) -> CrashCause:
        first = _first_line(cause.message)
        found = None if cause.type else re.search(rf"(?m)^E +([A-Za-z_][\w.]*): {re.escape(first)}$", output)
        return replace(cause, type=found[1].rpartition(".")[2]) if found else cause

    return replace(crash, causes=tuple(map(typed, crash.causes)))


def _name_of(printed: PrintedFailure, names: Sequence[str]) -> str:
    """A title has no file, and says `Class.test` for `Class::test`; that of a subtest has its parameters behind it."""
    for title, subtest in ((printed.title, ""), (printed.title.partition(" (")[0], "subtest")):
        for name in names:
            if title in (name, name.partition("::")[2].replace("::", "."), name.partition("::")[2]):
                return name + (printed.title.removeprefix(title) if subtest else "")
    return ""


def _is_same_failure(printed: PrintedFailure, crash: CrashReport) -> bool:
    """By its place, and by how its message begins if both have one."""
    at, own = printed.crash.frames[:1], crash.frames[:1]
    is_there = bool(at and own) and (PurePath(at[0].path).name, at[0].line) == (
        PurePath(own[0].frame.path).name,
        own[0].frame.line,
    )
    raised = crash.end.raised or crash.printed
    messages = [_first_line(it.message) for it in (printed.crash.raised, *([raised] if raised else []))]
    return is_there and (
        len(set(filter(None, messages))) < 2
        or messages[1].startswith(messages[0])
        or messages[0].startswith(messages[1])
    )


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "").strip()


def _unseen(printed: Sequence[PrintedFailure], failures: Sequence[CrashReport]) -> list[PrintedFailure]:
    """Those at which no debugger stopped."""
    return [it for it in printed if not any(_is_same_failure(it, crash) for crash in failures)]


def _has_no_tests(code: int | None, names: Sequence[str], output: str) -> bool:
    return code == _NO_TESTS_BY_CODE or (not names and bool(_NO_TESTS.search(output)))


async def _failures(run: EvidenceRun, lines: ReadLines) -> tuple[list[CrashReport], RunOutcome]:
    found: list[CrashReport] = []
    end = await run.run_to_end()
    while end.stop is not None and end.how in {"exception", "stopped"} and run.remaining_s:
        if len(found) < _MOST_STOPS:
            found.append(await describe_end(run, end, lines))
        elif run.probe.watched is not None:
            run.probe.watched = None
            await run.session.probe(run.probe)
        run.probe.table.reopen()
        end = await run.run_on()
    return found, end


def _reported_failures(
    found: Sequence[CrashReport],
    names: Sequence[str],
    output: str,
    way: _RunnerFormat,
    printed: Sequence[PrintedFailure] = (),
) -> tuple[CrashReport, ...]:
    """Each once: of those the runner speaks of, what it calls failed or shows the place of."""
    crashes_by_identity: dict[object, CrashReport] = {}
    for crash in found:
        crashes_by_identity[_identity(crash)] = (
            crash if crash.end.raised else crashes_by_identity.get(_identity(crash), crash)
        )
    seen = list(crashes_by_identity.values())
    spoken_of = [it for it in seen if _is_message_printed(it, output)] if way.stops_at_caught else seen
    named = [it for it in spoken_of if _is_named(it, names) or _is_location_printed(it, output)]
    # The runner's own report is more reliable than the last exception that was caught.
    return tuple((named or (() if printed else spoken_of or seen[-1:]))[:MAX_FAILURES])


def _identity(crash: CrashReport) -> object:
    """The same again: seen on its way up, or, in Go, first as a failure and then as a panic."""
    top = crash.frames[:1]
    place = [(it.frame.path, it.frame.line) for it in top]
    return (*place, *((variable.name, variable.value) for it in top for variable in it.variables))


def _is_location_printed(crash: CrashReport, output: str) -> bool:
    """As the runners of Python show the places of a failure: also of one in a fixture or while a file is imported."""
    return any(
        re.search(rf'(?m)\b{re.escape(PurePath(it.frame.path).name)}(?::|", line ){it.frame.line}\b', output)
        for it in crash.frames[:1]
    )


def _is_message_printed(crash: CrashReport, output: str) -> bool:
    if not crash.frames or crash.frames[0].frame.is_library:
        return False
    raised = crash.end.raised
    first_line = raised.message.strip().splitlines()[:1] or [raised.type] if raised else []
    return bool(first_line) and first_line[0] in output


def _is_named(crash: CrashReport, names: Sequence[str]) -> bool:
    """A test that is expected to fail fails as well, and is not among them."""
    functions = {it.frame.name.rpartition(".")[2] for it in crash.frames}
    return any(re.search(rf"\b{re.escape(function)}\b", name) for function in functions for name in names if function)
