"""Secrets that pass through a session are in no byte of the record: they are taken out before the append."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Cli, eventually
from tests.hostile import STOP, Agent, agent_with, hostile_home
from tests.leaks import leaks, password

pytestmark = pytest.mark.timeout(120)

PROGRAM = f"""import os, sys
for word in sys.argv[1:]:
    print(word, file=sys.stderr)
print("ready")  # {STOP}
"""


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with hostile_home(tmp_path / "h") as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    with agent_with(cli, tmp_path / "project", "python") as agent:
        yield agent


def kept_bytes(cli: Cli) -> bytes:
    files = [file for file in cli.paths.journal_folder.rglob("*") if file.is_file()]
    return b"\0".join(file.read_bytes() for file in files)


def spellings(secret: str) -> set[bytes]:
    """As it is, and as JSON has it; of several lines each."""
    return {
        line.encode() for text in (secret, json.dumps(secret)[1:-1]) for line in text.splitlines() if "--" not in line
    }


def test_whatever_a_session_was_given_and_said_no_secret_is_in_the_files(cli: Cli, agent: Agent) -> None:
    given, asked, named = leaks(1), leaks(2), password(3)
    title, variable = leaks(4)["github"], leaks(5)["aws"]
    (agent.workspace / "given.py").write_text(PROGRAM)
    agent.call("set_breakpoint", file_path="given.py", line_text=STOP)
    program = {
        "name": title,
        "type": "debugpy",
        "request": "launch",
        "program": "${workspaceFolder}/given.py",
        "args": [*given.values()],
    }
    started = agent.call("start_debugging", configuration={**program, "env": {"SERVICE": variable}})
    assert started["status"] == "stopped", str(started)
    for secret in asked.values():
        agent.call("evaluate_expression", expression=f"len({secret!r})")
        agent.call("evaluate_expression", expression=f"len({'x' * 180!r} + {secret!r})")  # where the record cuts
    agent.call("evaluate_expression", expression=f"dict(password={named!r})")
    agent.call("evaluate_expression", expression=f"word = {asked['slack']!r}")
    agent.end()
    cli("down", "--yes")

    kept = kept_bytes(cli)
    assert b"debug.evaluated" in kept
    assert b"<redacted" in kept
    secrets = [*given.values(), *asked.values(), named, title, variable]
    assert [secret for secret in secrets if any(spelled in kept for spelled in spellings(secret))] == []
    halves = [asked[kind][:16].encode() for kind in ("github", "stripe", "anthropic")]
    assert [half for half in halves if half in kept] == []


def test_a_breakpoint_keeps_its_condition_and_the_record_of_it_has_no_secret(cli: Cli, agent: Agent) -> None:
    shaped, named = leaks(6)["gitlab"], password(7)
    place: dict[str, Any] = {"file_path": "values.py", "line_number": 1}
    condition = f"token == {shaped!r} or password == {named!r}"
    agent.call("set_breakpoint", **place, condition=condition, log_message=f"tried {shaped}")
    output = cli("journal", "export").stdout
    assert "breakpoint.set" in output
    assert output.count("<redacted") >= 3
    assert shaped not in output
    assert named not in output
    assert shaped.encode() in kept_bytes(cli)  # in the store: the debugger of the next session is told it as it is


def test_what_an_answer_hides_is_in_no_report_export_search_or_stop(cli: Cli, agent: Agent, tmp_path: Path) -> None:
    secret = password(8)
    (agent.workspace / "named.py").write_text(
        f'import os, sys\ndb_password = os.environ["DB_PASSWORD"]\nsys.stdout.write("password=")\nsys.stdout.flush()\n'
        f"sys.stdout.write(db_password + '\\n')\nprint('ready')  # {STOP}\n"
    )
    agent.call("set_breakpoint", file_path="named.py", line_text=STOP)
    started = agent.call("start_debugging", program="named.py", env={"DB_PASSWORD": secret})
    assert started["status"] == "stopped", str(started)
    asked = ('os.environ["DB_PASSWORD"]', 'os.environ.get("DB_PASSWORD")', "dict(os.environ)", "[db_password]")
    answer = [str(started), *(str(agent.call("evaluate_expression", expression=it)) for it in asked)]
    answer.append(str(agent.call("get_output")))
    answer.append(str(agent.call("stop_history")))
    found = eventually(lambda: agent.call("search_journal", words="debug evaluated")["events"])
    answer.append(str(found))
    (elsewhere := tmp_path / "elsewhere").mkdir()
    other = cli("journal", "search", "evaluated", cwd=elsewhere)
    every = cli("journal", "search", "evaluated", "--all-workspaces", cwd=elsewhere)
    answer += [cli("journal", "export").stdout, cli("report", cwd=agent.workspace).stdout, every.stdout]
    agent.end()
    cli("down", "--yes")
    assert [text for text in answer if secret in text] == []
    assert "debug.evaluated" not in other.stdout
    assert "debug.evaluated" in every.stdout
    assert secret.encode() not in kept_bytes(cli)
