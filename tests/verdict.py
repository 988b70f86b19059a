"""Whether a run passed, given what failed beside others and what failed again alone.

A test that fails beside others and passes alone is *unsteady*: a defect in the test or in the product. A run tolerates
three of them, so that one does not stop everybody. One that tests/unsteady.toml does not explain is reported as NEW.
What failed while the machine itself stood still (tests/stalls.py) is nobody's defect: it is named apart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

LIST = Path(__file__).with_name("unsteady.toml")
TOLERATED = 3
# Running more than these again would take longer than it helps: something is broken.
MOST_RETRIED = 12
MOST_RETRIED_AFTER_STALLS = 60


@dataclass(frozen=True, slots=True)
class UnsteadyTest:
    name: str
    since: date
    cause: str

    def __post_init__(self) -> None:
        if not (self.name and self.cause.strip() and isinstance(self.since, date)):
            raise ValueError(f"tests/unsteady.toml: {self.name or 'an entry'} needs a name, a day and a cause")

    def covers(self, name: str) -> bool:
        """A test by its whole name, or a function with all its parameters."""
        return self.name in (name, name.partition("[")[0])


def read_list(path: Path = LIST) -> list[UnsteadyTest]:
    return [UnsteadyTest(**entry) for entry in tomllib.loads(path.read_text()).get("test", [])]


def worth_retrying(failed: Mapping[str, bool]) -> bool:
    stalled = sum(failed.values())
    return bool(failed) and len(failed) - stalled <= MOST_RETRIED and stalled <= MOST_RETRIED_AFTER_STALLS


@dataclass(frozen=True, slots=True)
class Verdict:
    broken: list[str]
    """Failed alone too, or was not run again."""
    known: list[str]
    new: list[str]
    stalled: list[str]
    faults: list[str]
    """What is wrong with the run rather than with a test."""
    strict: bool = False

    @property
    def passed(self) -> bool:
        if self.broken or self.faults:
            return False
        if self.strict:
            return not (self.known or self.new or self.stalled)
        return len(self.known) + len(self.new) <= TOLERATED

    def lines(self, today: date) -> Iterator[str]:
        """For the reader at the very end of a run."""
        yield from self.faults
        yield from _named("failed", self.broken)
        yield from _named("failed while the machine stood still, and passed alone", self.stalled)
        yield from _named("unsteady: failed beside others, and passed alone", self.known)
        yield from _named("NEW unsteady tests: failed beside others, and passed alone", self.new)
        if self.new:
            yield "Fix them, or add them to tests/unsteady.toml with their cause:"
            for name in self.new:
                yield f'\n[[test]]\nname = {_quoted(name)}\nsince = {today}\ncause = ""'
            yield ""
        yield self._last_line()

    def _last_line(self) -> str:
        retried = len(self.known) + len(self.new) + len(self.stalled)
        if self.passed:
            return f"passed, with {retried} at the second attempt" if retried else "passed"
        if self.broken or self.faults:
            return "FAILED"
        if self.strict:
            return f"FAILED: {retried} passed only at the second attempt, and STRICT=1 tolerates none"
        count = len(self.known) + len(self.new)
        return f"FAILED: {count} unsteady tests, and a run tolerates {TOLERATED}"


def _named(what: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{len(names)} {what}:"
        yield from (f"  {name}" for name in names)


def _quoted(name: str) -> str:
    """As TOML: without escapes where the name allows it."""
    if "'" not in name and name.isprintable():
        return f"'{name}'"
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in name) + '"'


def judge(
    failed: Mapping[str, bool],
    not_passed_alone: Collection[str],
    listed: Collection[UnsteadyTest],
    *,
    faults: Collection[str] = (),
    strict: bool = False,
) -> Verdict:
    """`failed` says of each failure beside others whether the machine stood still meanwhile."""
    broken = [name for name in failed if name in not_passed_alone]
    stalled = [name for name, disturbed in failed.items() if disturbed and name not in not_passed_alone]
    unsteady = [name for name, disturbed in failed.items() if not disturbed and name not in not_passed_alone]
    known = [name for name in unsteady if any(entry.covers(name) for entry in listed)]
    new = [name for name in unsteady if name not in known]
    return Verdict(broken, known, new, stalled, list(faults), strict)
