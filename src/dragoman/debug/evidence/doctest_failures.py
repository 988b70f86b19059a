"""Failed examples of doctest, as it and pytest print them: the debugger has nothing to stop at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MOST = 5
_MOST_CHARACTERS = 600

# python -m doctest, and what `doctest.testmod()` prints.
_PLAIN = re.compile(
    r'^File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<name>\S+)\n'
    r"Failed example:\n(?P<example>(?:    .*\n)+)(?P<outcome>(?:(?!\*{5,}|File \").*\n?)*)",
    re.MULTILINE,
)
# pytest numbers the source up to the example. The place follows.
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
