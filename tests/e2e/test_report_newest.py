"""`dragoman report` without an id, and read in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli.debug.report import ReportContent, as_markdown
from tests.daemons import Cli, cli_with_home, eventually

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("home")) as cli:
        yield cli


def test_without_an_id_the_newest_session_counts_and_no_session_is_an_error(cli: Cli, tmp_path: Path) -> None:
    cli("up")
    none = cli("report")
    assert (none.returncode, "No debug session is recorded" in none.stderr) == (1, True)
    for name in ("older", "newer"):
        (tmp_path / f"{name}.py").write_text("print('done')\n")
        assert cli("debug", f"{name}.py", cwd=tmp_path).returncode == 0
    eventually(lambda: cli("report", cwd=tmp_path).stdout.startswith("# newer.py\n"))
    cli("debug", "older.py", "--trace", "older.py:1", "1 + 1", cwd=tmp_path)
    eventually(lambda: "\n- requested by: shell\n" in cli("report", cwd=tmp_path).stdout.partition("# older.py\n")[2])


def test_dates_and_brackets_are_written_as_they_are_and_marks_are_not_taken_for_markdown() -> None:
    about = {"session": "debug-1", "title": "# a-b (c) *d* ##", "workspace": "", "output": ""}
    entry = {"at_ns": 1, "kind": "started", "by": "shell", "text": "", "body": {}}
    result = as_markdown(ReportContent(about, [entry]))
    assert result.startswith("# \\# a-b (c) \\*d\\* \\##\n")
    assert "- session: debug-1\n- start: 1970-01-01 00:00:00.000 UTC\n" in result
    assert "00:00:00.000 started (shell)\n" in result
