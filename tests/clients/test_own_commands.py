"""A client's own `mcp add` comes first, is verified, and its failure does not block setup."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from dragoman.clients.catalog import BY_ID
from dragoman.clients.descriptions import outcome_messages
from dragoman.clients.machine import Machine, ServerCommand
from tests.clients.conftest import InstallScript
from tests.clients.samples import desired_entry_for, writer
from tests.support.faulty_system import FaultySystem

CLAUDE = BY_ID["claude-code"]
RECORD = "import json; open(HERE + '/argv', 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
# What the real program writes: our values, and an empty environment that we never asked for.
ADD = """
entry = {"type": "stdio", "command": sys.argv[7], "args": sys.argv[8:], "env": {}}
json.dump({"numStartups": 3, "mcpServers": {"dragoman": entry}}, open(HERE + "/home/.claude.json", "w"))
"""


def calls(machine: Machine) -> list[list[str]]:
    record = machine.home.parent / "argv"
    return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []


def test_the_clients_own_command_is_used_where_it_is_found(machine: Machine, install: InstallScript) -> None:
    install("claude", RECORD + ADD)
    done = writer(machine).write(desired_entry_for(CLAUDE, machine))
    assert calls(machine) == [["mcp", "add", "-s", "user", "dragoman", "--", "/opt/tools/dragoman", "mcp"]]
    assert (done.change, done.own_failure, done.backup) == ("added", None, None)
    assert json.loads(done.path.read_text())["numStartups"] == 3
    assert "Done with `claude mcp add" in "\n".join(map(str, outcome_messages(done)))


def test_what_it_added_counts_as_ours_the_second_time(machine: Machine, install: InstallScript) -> None:
    install("claude", RECORD + ADD)
    writer(machine).write(desired_entry_for(CLAUDE, machine))
    assert writer(machine).write(desired_entry_for(CLAUDE, machine)).change == "unchanged"
    assert len(calls(machine)) == 1


def test_an_entry_that_is_there_is_changed_by_us_because_it_would_refuse(
    machine: Machine, install: InstallScript
) -> None:
    install("claude", RECORD + ADD)
    writer(machine).write(desired_entry_for(CLAUDE, machine, ServerCommand("/old/dragoman")))
    assert writer(machine).write(desired_entry_for(CLAUDE, machine)).change == "updated"
    entry = json.loads((machine.home / ".claude.json").read_text())["mcpServers"]["dragoman"]
    assert (entry["command"], entry["env"]) == ("/opt/tools/dragoman", {})
    assert len(calls(machine)) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('noise'); sys.exit('error: config is locked')", "status 1: error: config is locked"),
        ("sys.exit(3)", "status 3"),
        ("", "reported success, but the entry is missing"),
        ("import time; time.sleep(600)", "did not exit within 0.5 seconds"),
    ],
)
def test_when_it_does_not_work_the_file_is_edited_and_the_reason_given(
    machine: Machine, install: InstallScript, body: str, reason: str
) -> None:
    install("claude", body)
    done = writer(machine, deadline_s=0.5).write(desired_entry_for(CLAUDE, machine))
    assert done.change == "added"
    assert reason in str(done.own_failure)
    assert reason in "\n".join(map(str, outcome_messages(done)))
    assert json.loads(done.path.read_text())["mcpServers"]["dragoman"]["command"] == "/opt/tools/dragoman"


def test_a_program_that_cannot_be_started_is_not_an_obstacle(machine: Machine, install: InstallScript) -> None:
    install("claude", "").write_text("#!/no/such/interpreter\n")
    done = writer(machine).write(desired_entry_for(CLAUDE, machine))
    assert "did not start" in str(done.own_failure)
    assert done.path.exists()
    refused = FaultySystem(1)
    done.path.unlink()
    assert "did not start" in str(writer(machine, refused).write(desired_entry_for(CLAUDE, machine)).own_failure)


def test_at_the_deadline_its_children_end_with_it(machine: Machine, install: InstallScript) -> None:
    install(
        "claude",
        "import subprocess, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(HERE + '/child', 'w').write(str(child.pid))\ntime.sleep(600)",
    )
    writer(machine, deadline_s=2).write(desired_entry_for(CLAUDE, machine))
    assert_gone(int((machine.home.parent / "child").read_text()))


def assert_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        os.sched_yield()
    pytest.fail(f"process {pid} lives")


def test_it_is_not_asked_about_a_file_that_cannot_be_understood(machine: Machine, install: InstallScript) -> None:
    install("claude", RECORD + ADD)
    (machine.home / ".claude.json").write_text("{ broken")
    with pytest.raises(Exception, match="is unchanged"):
        writer(machine).write(desired_entry_for(CLAUDE, machine))
    assert calls(machine) == []


def test_codex_and_gemini_and_vs_code_are_asked_too(machine: Machine, install: InstallScript) -> None:
    for client in (BY_ID["codex"], BY_ID["gemini"], BY_ID["vscode"]):
        install(client.program, RECORD + "sys.exit(1)")
        assert writer(machine).write(desired_entry_for(client, machine)).own_failure is not None
    assert [call[0] for call in calls(machine)] == ["mcp", "mcp", "--add-mcp"]
