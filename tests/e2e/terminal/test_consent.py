"""An agent wants to run a command in a person's terminal: a key pressed there, and nothing else, runs it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dragoman.io.drivers.control_client import ControlClient
from dragoman.shell.overlay.consent import READING_S
from tests.daemons import PATIENCE, Cli, eventually
from tests.e2e.terminal.panes import Pane, wrapped_pane

pytestmark = [pytest.mark.needs("tmux", "bash", "zsh", "fish")]


def terminal_of(opened: Pane, cli: Cli) -> str:
    """The id of the person's terminal, as the daemon has it."""
    opened.type("echo id=$DRAGOMAN_SESSION_ID")
    opened.press("Enter")
    lines = opened.until(lambda lines: any(line.startswith("id=") for line in lines))
    session = next(line for line in lines if line.startswith("id="))[3:]
    return str(eventually(lambda: session if session in cli("terminals", "--json").stdout else ""))


def ask(cli: Cli, terminal: str, command: str, within_s: float = 20) -> str:
    """As an agent: the tool, and all of its answer."""
    about = {"workspace": str(cli.home), "cwd": str(cli.home), "environment": {}}
    arguments = {"terminal": terminal, "command": command, "timeout_s": within_s}
    with ControlClient.open(cli.paths, role="tools", about=about) as link:
        return json.dumps(link.call("call", {"tool": "run_in_terminal", "arguments": arguments}))


@pytest.fixture
def agent() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def press_when_read(opened: Pane, key: str) -> None:
    """A person reads before they press; nothing on the screen tells when that is."""
    read_at_s = time.monotonic() + READING_S * PATIENCE + 0.2
    eventually(lambda: time.monotonic() > read_at_s)
    opened.press(key)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_runs_after_y_and_the_agent_reads_what_it_printed(
    shell: str, agent: ThreadPoolExecutor, cli: Cli, tmp_path: Path
) -> None:
    with wrapped_pane(shell, tmp_path, cli.variables()) as opened:
        answer = agent.submit(ask, cli, terminal_of(opened, cli), "echo by an agent | tr a-z A-Z")
        lines = opened.has("y to run, n to refuse")
        assert "  echo by an agent | tr a-z A-Z" in lines
        assert "BY AN AGENT" not in lines
        press_when_read(opened, "y")
        opened.until(lambda lines: "BY AN AGENT" in lines)
        assert "BY AN AGENT" in answer.result(30)
        assert not any("wants to run here" in line for line in opened.screen())


def test_after_n_nothing_ran_and_the_agent_learns_it(agent: ThreadPoolExecutor, cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane("bash", tmp_path, cli.variables()) as opened:
        terminal = terminal_of(opened, cli)
        before = opened.screen()
        answer = agent.submit(ask, cli, terminal, "touch forbidden")
        opened.has("y to run, n to refuse")
        press_when_read(opened, "n")
        assert opened.lacks("wants to run here") == before
        assert "refused" in answer.result(30)
        assert not (tmp_path / "work" / "forbidden").exists()


def test_while_a_program_runs_the_person_is_not_asked_and_keys_for_it_grant_nothing(
    agent: ThreadPoolExecutor, cli: Cli, tmp_path: Path
) -> None:
    with wrapped_pane("bash", tmp_path, cli.variables()) as opened:
        terminal = terminal_of(opened, cli)
        opened.type("echo begun-$((40 + 2)); cat")
        opened.press("Enter")
        opened.has("begun-42")  # the shell's line is over: what is typed now is shown by the terminal itself
        answer = agent.submit(ask, cli, terminal, "touch forbidden", 1)
        opened.type("y")
        opened.press("Enter")
        opened.until(lambda lines: lines.count("y") == 2)
        assert "no_answer" in answer.result(30)
        assert not any("wants to run here" in line for line in opened.screen())
        assert not (tmp_path / "work" / "forbidden").exists()


def test_what_nobody_answers_is_taken_back_when_the_agent_stops_waiting(
    agent: ThreadPoolExecutor, cli: Cli, tmp_path: Path
) -> None:
    with wrapped_pane("zsh", tmp_path, cli.variables()) as opened:
        answer = agent.submit(ask, cli, terminal_of(opened, cli), "touch forbidden", 2)
        opened.has("y to run, n to refuse")
        opened.lacks("wants to run here")
        assert "no_answer" in answer.result(30)
        opened.type("yes")
        opened.until(lambda lines: lines[-1] == "prompt> yes")
