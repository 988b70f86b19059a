"""A command that an agent wants to run, over real shells: it runs after a key, or leaves no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.protocols.omnish.messages import Request, Response, Sessions
from dragoman.shell.overlay.consent import READING_S
from tests.e2e.overlay.wrapped import wrapped

pytestmark = [pytest.mark.needs("bash", "zsh")]


def wanted(command: str) -> Request:
    return Request("r1", "s", command, Sessions(["an agent"]))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_y_runs_the_command_that_was_shown(shell: str, tmp_path: Path) -> None:
    with wrapped(shell, tmp_path, []) as session:
        session.say(wanted("echo 中文 'a b'\necho second"))
        session.until(lambda: "an agent wants to run here:" in session.shown)
        assert "  echo second" in session.shown
        assert session.cursor[0] == 0
        session.calm(READING_S + 0.05)
        session.type("y")
        session.until(lambda: "second" in session.shown)
        assert "wants to run" not in "".join(session.shown)
        assert any(line.startswith("中") and line.endswith("a b") for line in session.shown)
        assert [each.content for each in session.sent if isinstance(each, Response)] == ["accepted"]


def test_n_removes_it_without_a_trace(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        before = session.plain
        session.say(wanted("touch forbidden"))
        session.until(lambda: "y to run, n to refuse" in session.shown)
        session.calm(READING_S + 0.05)
        session.type("n")
        session.calm()
        assert session.plain == before
        assert session.sent == [Response("r1", "refused", False, True)]
        assert not (tmp_path / "work" / "forbidden").exists()
