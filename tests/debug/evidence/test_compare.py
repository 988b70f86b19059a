"""`compare_runs`: two inputs, two commits; where they part, and that nothing of the other commit is left behind."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.run import RunOutcome
from dragoman.debug.evidence.trace import RecordedTrace, first_difference
from dragoman.debug.evidence.tracepoints import Cell, TraceLimits, Tracepoint, TraceTable
from dragoman.debug.evidence.worktree import workspace_at
from dragoman.debug.model import Binding, ProgramEnd
from tests.debug.evidence.evidence_tools import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PARSE = """\
import sys

def parse(text):
    total = 0
    for word in text.split(","):
        number = int(word)
        total += number
    return total

print(parse(sys.argv[1] if len(sys.argv) > 1 else "1,2,3"))
"""
POINT = {"line_text": "total += ", "expressions": ["number", "total"]}


def trace_of(values: Sequence[str], exit_code: int = 0, output: str = "") -> RecordedTrace:
    table = TraceTable(TraceLimits())
    for value in values:
        table.add(0, 1, [Cell("same"), Cell(value)])
    end = RunOutcome("exited", ended=ProgramEnd(exit_code=exit_code), output=output)
    return RecordedTrace(
        (Tracepoint(path="/a.py", line=1, expressions=("s", "v")),), (Binding(verified=True),), table, end
    )


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        (["1", "2", "3"], ["1", "2", "4"], 3),
        (["1", "2"], ["1"], 2),
        (["1"], ["1", "2"], 2),
        (["<A at 0x7f0012345678>"], ["<A at 0x7f00ffffffff>"], None),
        (["1"], ["1"], None),
        ([], [], None),
    ],
)
def test_the_first_row_that_differs_is_found(one: list[str], other: list[str], at: int | None) -> None:
    found = first_difference(trace_of(one), trace_of(other))
    row = found and (found.one or found.other)
    assert (row.number if row else None) == at
    if found and found.one and found.other:
        assert found.cells == [1]
        assert [it.number for it in found.before] == [1, 2]


def test_runs_that_only_end_differently_differ() -> None:
    for other in (trace_of(["1"], exit_code=1), trace_of(["1"], output="more\n")):
        found = first_difference(trace_of(["1"]), other)
        assert found is not None
        assert (found.one, found.other, len(found.before)) == (None, None, 1)


async def test_two_inputs_part_at_the_first_value_that_differs(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("parse.py", PARSE)
        one = await agent.call(
            "compare_runs", program="parse.py", points=[POINT], args=["4,5,6"], against={"args": ["4,5,x"]}
        )
        two = await agent.call("compare_runs", program="parse.py", points=[POINT], args=["1,2,3"], against={"args": []})
    assert (one["verdict"], one["hit"], one["place"]) == ("different", 3, "parse.py:7")
    assert one["one"] == {"number": "6", "total": "9"}
    assert "other" not in one.data
    assert one["other_ended"]["exception"]["type"] == "ValueError"
    assert one["before"][-1] == {"number": "5", "total": "4"}
    assert (two["verdict"], two["hits"]) == ("same", [3, 3])


def git(folder: Path, *words: str) -> str:
    name = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> Path:
    """Two commits; the first adds up, the second forgets the first number. Its hook must not run."""
    project = folder / "repo" / "project"
    project.mkdir(parents=True)
    (project / "parse.py").write_text(PARSE)
    git(project.parent, "init", "-q")
    git(project.parent, "add", "project")
    git(project.parent, "commit", "-q", "-m", "one")
    (project / "parse.py").write_text(PARSE.replace("total = 0", "total = -1"))
    git(project.parent, "commit", "-q", "-a", "-m", "two")
    hook = project.parent / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {folder}/hooked\n")
    hook.chmod(0o755)
    return project


async def test_a_commit_is_compared_in_a_tree_of_its_own_that_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, trees = repository(tmp_path), tmp_path / "trees"
    trees.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(trees))
    arguments: dict[str, Any] = {"program": str(project / "parse.py"), "points": [POINT]}
    async with agent_in(project) as agent:
        found = await agent.call("compare_runs", **arguments, against={"commit": "HEAD~1"})
        # The program is there at both commits, the line is not.
        (project / "parse.py").write_text(PARSE + "# only here\n")
        point = {"line_text": "only here", "expressions": ["1"]}
        failed = await agent.call("compare_runs", **{**arguments, "points": [point]}, against={"commit": "HEAD"})
    assert (found["verdict"], found["hit"]) == ("different", 1)
    assert (found["one"], found["other"]) == ({"total": "-1"}, {"total": "0"})
    assert failed["code"] == "no_such_line"
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert list(trees.iterdir()) == []
    assert "hooked" not in {it.name for it in trees.parent.iterdir()}


@pytest.mark.parametrize("commit", ["nope", "--help", "HEAD:project"])
async def test_what_is_not_a_commit_makes_no_tree(tmp_path: Path, commit: str) -> None:
    project = repository(tmp_path)
    with pytest.raises(DragomanError) as caught:
        async with workspace_at(commit, project, dict(os.environ)):
            pass
    assert caught.value.code == "no_such_commit"
    assert len(git(project, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [{"session_id": "debug-1", "against": {"args": ["x"]}}, {"program": "parse.py", "against": {}}]
)
async def test_what_cannot_be_compared_is_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    async with agent_in(tmp_path) as agent:
        agent.write("parse.py", PARSE)
        answer = await agent.call("compare_runs", points=[{**POINT, "file_path": "parse.py"}], **arguments)
    assert answer["code"] == "bad_arguments"
