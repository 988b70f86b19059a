"""`dragoman report`: a session that is over, as a file for a colleague."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dragoman.cli.debug.report import ReportContent, as_html, as_markdown
from tests.daemons import Cli, cli_with_home, eventually

pytestmark = pytest.mark.timeout(120)

PROGRAM = """\
def share(total, people):
    each = total / people
    return each


print("dinner <b>for</b> none")
share(90, 0)
"""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("home")) as cli:
        yield cli


def test_what_was_asked_and_seen_and_how_it_ended_is_in_one_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "dinner.py").write_text(PROGRAM)
    started = cli("debug", "dinner.py", "--break", "dinner.py:2", cwd=tmp_path)
    session = re.findall(r"debug_\w+|debug-\w+", started.stdout)[0]
    cli("debug", "eval", "total - people", cwd=tmp_path)
    cli("debug", "continue", cwd=tmp_path)
    cli("debug", "continue", cwd=tmp_path)

    def is_written() -> bool:
        return "exit code 1" in cli("report", session, cwd=tmp_path).stdout

    eventually(is_written)
    output = cli("report", session, cwd=tmp_path).stdout
    for part in (
        r"dinner\.py",
        "total",
        "`90`",
        "ZeroDivisionError",
        r"evaluated total \- people = 90",
        r"for",
        "share",
    ):
        assert part in output or part.replace("\\", "") in output.replace("\\", ""), part
    page = tmp_path / "dinner.html"
    assert cli("report", session, "-o", str(page), cwd=tmp_path).returncode == 0
    text = page.read_text()
    assert "dinner &lt;b&gt;for&lt;/b&gt; none" in text
    assert not re.search(r"""(src|href)=|<script|url\(""", text)


def test_the_report_of_a_trace_has_its_table(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("total = 0\nstep = 2\nfor n in range(3):\n    total += step\n")
    traced = cli("debug", "sums.py", "--trace", "sums.py:4", "total", "step", cwd=tmp_path)
    rows = ["1 | 0 | 2", "2 | 2 | =", "3 | 4 | ="]
    assert [line for line in traced.stdout.splitlines() if " | " in line][-3:] == rows, traced.stdout
    output = cli("report", cwd=tmp_path).stdout
    assert [line.strip() for line in output.splitlines() if line.strip() in rows] == rows, output
    page = tmp_path / "sums.html"
    assert cli("report", "-o", str(page), cwd=tmp_path).returncode == 0
    assert "\n".join(rows) in page.read_text()


def test_what_is_not_on_record_or_no_format_is_refused(cli: Cli, tmp_path: Path) -> None:
    cli("up")
    unknown, wrong = cli("report", "debug-none"), cli("report", "debug-none", "-o", str(tmp_path / "a.pdf"))
    assert (unknown.returncode, "No debug session" in unknown.stderr) == (1, True)
    assert (wrong.returncode, ".md or .html" in wrong.stderr) == (1, True)


EVIL = "<script>alert(1)</script>`*x*`\n# no heading\x1b[2J"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)


def test_what_a_program_says_is_text_wherever_it_is() -> None:
    seen = [[[EVIL, EVIL, 1, False]], [[EVIL, EVIL, "str"]], [EVIL], 0, [EVIL, EVIL]]
    stop = {"seen": seen}
    body = {"path": EVIL, "line": 1, "function": EVIL, "reason": EVIL, "expression": EVIL, "result": EVIL}
    entries = [
        {"at_ns": 1, "kind": kind, "by": EVIL, "text": EVIL, "body": body, "stop": stop if kind == "stopped" else None}
        for kind in ("started", "stopped", "evaluated", "ended")
    ]
    story = ReportContent({"session": "s", "title": EVIL, "workspace": EVIL, "output": EVIL}, entries)
    tags = _Tags()
    tags.feed(page := as_html(story))
    assert not tags.seen & {"script", "b", "img", "a", "iframe", "svg"}
    assert "\x1b" not in page + as_markdown(story)
    outside_code = [line for line in as_markdown(story).splitlines() if not line.startswith("    ")]
    assert not [line for line in outside_code if re.search(r"(?<!\\)<script", re.sub(r"(`+).*?\1", "", line))]
    assert not [line for line in outside_code if line.startswith("# no heading")]


def kept_stops(cli: Cli) -> list[bytes]:
    """As they lie in the record."""
    found: list[bytes] = []
    for file in cli.home.rglob("events-*.db"):
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            found += [row[0] for row in database.execute("select seen from store_stops")]
    return found


def files_with(cli: Cli, blob: bytes) -> list[Path]:
    return [it for it in cli.home.rglob("*") if it.is_file() and blob in it.read_bytes()]


@pytest.mark.parametrize("scope", [["--session", "{session}"], ["--before", "2999-01-01"], ["--all"]])
def test_stops_that_are_forgotten_are_erased_from_the_disk(cli: Cli, tmp_path: Path, scope: list[str]) -> None:
    (tmp_path / "jam.py").write_text("jam = 'marmalade'\nprint(jam)\n")
    started = cli("debug", "jam.py", "--break", "jam.py:2", cwd=tmp_path)
    session = re.findall(r"debug-\w+", started.stdout)[0]
    blob = eventually(lambda: next((it for it in kept_stops(cli) if b"marmalade" in zlib.decompress(it)), None))
    assert files_with(cli, blob)
    cli("debug", "stop", cwd=tmp_path)
    words = [it.format(session=session) for it in scope]
    assert cli("forget", *words, "--yes").returncode == 0
    assert not [it for it in kept_stops(cli) if b"marmalade" in zlib.decompress(it)]
    assert files_with(cli, blob) == []
