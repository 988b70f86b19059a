"""`dragoman client-config` and `dragoman setup`, as they are typed."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli.dispatch import run
from dragoman.cli.installation.mcp_clients import client_config
from dragoman.cli.output import ExitCode
from dragoman.clients.catalog import BY_ID, CLIENTS
from dragoman.clients.descriptions import snippet_messages
from dragoman.clients.entries import HttpEndpoint, desired_stdio_entry
from dragoman.clients.machine import Machine
from dragoman.core.paths import find_paths
from dragoman.core.settings.loader import load_settings
from tests.clients.samples import COMMAND

Output = pytest.CaptureFixture[str]
MOVING = (
    "DRAGOMAN_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CLINE_MCP_SETTINGS_PATH",
    "DISPLAY",
    "WAYLAND_DISPLAY",
)
SECRET = '{"mcpServers": {"gh": {"command": "npx", "env": {"KEY": "sk-1"}}}}'


@pytest.fixture
def here(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The commands ask the process where they are; this puts the process on the test's machine."""
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("PATH", machine.environment["PATH"])
    for name in MOVING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(machine.project)
    return machine


def endpoint(client: str) -> HttpEndpoint:
    assert client in {"", "cursor", "codex"}
    return HttpEndpoint("http://127.0.0.1:4711/mcp", "s3cret")


def cursor_file(machine: Machine, text: str = SECRET) -> Path:
    path = machine.home / ".cursor/mcp.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_printing_separates_the_snippet_from_the_sentences(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "cursor"]) == ExitCode.OK
    out, err = capsys.readouterr()
    entry = json.loads(out)["mcpServers"]["dragoman"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["mcp"]
    assert str(here.home / ".cursor/mcp.json") in err
    assert not (here.home / ".cursor").exists()


def test_printing_for_http_shows_a_placeholder_and_where_the_token_is(here: Machine, capsys: Output) -> None:
    assert client_config("cursor", http=True, endpoint=endpoint) == ExitCode.OK
    out, err = capsys.readouterr()
    assert json.loads(out)["mcpServers"]["dragoman"]["url"] == "http://127.0.0.1:4711/mcp"
    assert "s3cret" not in out + err
    assert "dragoman token show mcp cursor" in err


def test_without_a_daemon_even_the_address_is_a_placeholder(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "cursor", "--http"]) == ExitCode.OK
    assert "http://127.0.0.1:PORT/mcp" in capsys.readouterr().out


def test_writing_for_http_needs_the_daemon(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "cursor", "--http", "--write"]) == ExitCode.NOT_RUNNING
    assert not (here.home / ".cursor").exists()


def test_writing_for_http_puts_the_token_into_the_file_and_not_on_the_screen(here: Machine, capsys: Output) -> None:
    path = cursor_file(here)
    assert client_config("cursor", http=True, write=True, endpoint=endpoint) == ExitCode.OK
    assert json.loads(path.read_text())["mcpServers"]["dragoman"]["headers"] == {"Authorization": "Bearer s3cret"}
    out, err = capsys.readouterr()
    assert "s3cret" not in out + err


def test_codex_gets_the_name_of_the_variable_it_reads(here: Machine, capsys: Output) -> None:
    assert client_config("codex", http=True, write=True, endpoint=endpoint) == ExitCode.OK
    assert "export DRAGOMAN_TOKEN=$(dragoman token show mcp codex)" in capsys.readouterr().out
    assert "s3cret" not in (here.home / ".codex/config.toml").read_text()


def test_writing_twice_says_that_there_was_nothing_to_do(here: Machine, capsys: Output) -> None:
    cursor_file(here)
    assert run(["client-config", "cursor", "--write"]) == ExitCode.OK
    first = capsys.readouterr().out
    assert "added to" in first
    assert "bak-" in first
    assert "Restart Cursor" in first
    assert run(["client-config", "cursor", "--write"]) == ExitCode.OK
    second = capsys.readouterr().out
    assert "already in" in second
    assert "Restart" not in second


def test_a_projects_file_is_written_in_the_project(here: Machine) -> None:
    assert run(["client-config", "claude-code", "--write", "--project"]) == ExitCode.OK
    written = json.loads((here.project / ".mcp.json").read_text())
    assert written == {"mcpServers": {"dragoman": {"type": "stdio", "command": "dragoman", "args": ["mcp"]}}}


def test_copying_names_what_did_it(here: Machine, capsys: Output, tmp_path: Path) -> None:
    script = tmp_path / "bin/pbcopy"
    script.write_text(
        f"#!{sys.executable}\nimport sys; open({str(tmp_path / 'copied')!r}, 'w').write(sys.stdin.read())"
    )
    script.chmod(0o755)
    assert run(["client-config", "zed", "--copy"]) == ExitCode.OK
    assert "Copied (pbcopy)." in capsys.readouterr().out
    assert "context_servers" in json.loads((tmp_path / "copied").read_text())


def test_copying_without_a_clipboard_says_what_else_works(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "zed", "--copy"]) == ExitCode.FAILED
    assert "client-config zed --print" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags", [["--stdio", "--http"], ["--print", "--write"], ["--copy", "--write"], ["--json", "--write"]]
)
def test_contradicting_flags_are_a_mistake_of_the_caller(here: Machine, capsys: Output, flags: list[str]) -> None:
    assert run(["client-config", "cursor", *flags]) == ExitCode.USAGE
    assert "cursor" not in capsys.readouterr().out


def test_an_unknown_client_fails_with_the_known_ones(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "emacs"]) == ExitCode.FAILED
    assert "claude-code" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["--write", "--copy"])
def test_doing_something_needs_to_know_for_which_client(here: Machine, capsys: Output, action: str) -> None:
    cursor_file(here)
    assert run(["client-config", action]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert (out, "Missing MCP client." in err, "cursor" in err) == ("", True, True)


def test_without_a_client_all_are_listed_with_those_that_are_here(here: Machine, capsys: Output) -> None:
    cursor_file(here)
    assert run(["client-config"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CLIENTS)
    assert [line.split()[1] for line in lines if line.startswith("✓")] == ["cursor"]


@pytest.mark.requirement("foundation:templates:offered")
def test_json_lists_every_template_for_an_editor(here: Machine, capsys: Output) -> None:
    assert run(["client-config", "--json"]) == ExitCode.OK
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [client.id for client in CLIENTS]
    assert all(row["stdio"]["text"] and row["stdio"]["entry"] for row in rows)
    assert run(["client-config", "cursor", "--json"]) == ExitCode.OK
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["cursor"]


def test_under_wsl_a_client_on_windows_is_thought_of(machine: Machine) -> None:
    wsl = Machine(machine.system, machine.home, machine.environment, machine.project, wsl=True)
    desired = desired_stdio_entry(BY_ID["claude-desktop"], wsl, COMMAND)
    assert "%APPDATA%\\Claude" in "\n".join(map(str, snippet_messages(desired, wsl)))
    assert "%APPDATA%" not in "\n".join(map(str, snippet_messages(desired, machine)))


def test_setup_without_a_terminal_shows_and_changes_nothing(here: Machine, capsys: Output) -> None:
    path = cursor_file(here)
    assert run(["setup"]) == ExitCode.DECLINED
    out = capsys.readouterr().out
    assert '"dragoman"' in out
    assert "sk-1" not in out
    assert "--yes" in out
    assert path.read_text() == SECRET


def test_setup_without_a_terminal_offers_nothing_if_there_is_nothing_to_change(here: Machine, capsys: Output) -> None:
    cursor_file(here)
    run(["setup", "--yes"])
    capsys.readouterr()
    assert run(["setup"]) == ExitCode.OK
    assert "--yes" not in capsys.readouterr().out


def test_setup_connects_what_is_here_and_undo_gives_it_back(here: Machine, capsys: Output) -> None:
    path = cursor_file(here)
    (here.home / ".codex").mkdir()
    assert run(["setup", "--yes"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "Then ask your agent" in out
    assert "sk-1" not in out
    assert "dragoman" in json.loads(path.read_text())["mcpServers"]
    assert "[mcp_servers.dragoman]" in (here.home / ".codex/config.toml").read_text()
    assert not (here.home / ".gemini").exists()
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert path.read_text() == SECRET
    assert (here.home / ".codex/config.toml").read_text() == ""
    assert "ask your agent" not in capsys.readouterr().out
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert "Dragoman is not configured in any client." in capsys.readouterr().out


def test_setup_continues_after_a_client_that_cannot_be_changed(here: Machine, capsys: Output) -> None:
    broken = cursor_file(here, "{ broken")
    (here.home / ".gemini").mkdir()
    assert run(["setup", "--yes"]) == ExitCode.FAILED
    assert "line 1, column 3" in capsys.readouterr().err
    assert broken.read_text() == "{ broken"
    assert "dragoman" in (here.home / ".gemini/settings.json").read_text()


def test_undo_passes_over_broken_files_that_never_named_us(here: Machine, capsys: Output) -> None:
    cursor_file(here, "{ broken")
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert "Dragoman is not configured in any client." in capsys.readouterr().out


def test_setup_on_a_machine_without_clients_says_so(here: Machine, capsys: Output) -> None:
    assert run(["setup", "--yes"]) == ExitCode.OK
    assert "No MCP client found" in capsys.readouterr().out


def test_setup_speaks_chinese_to_those_who_read_it(
    here: Machine, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", "zh")
    cursor_file(here)
    run(["setup"])
    assert "不是终端" in capsys.readouterr().out


def answered(arguments: list[str], answers: list[str]) -> int:
    """What the command leaves with, on a terminal where each question is answered once it can be read: what was typed
    before is taken for no answer."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            [sys.executable, "-m", "dragoman.cli.main", *arguments],
            stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        try:
            for answer in answers:
                shown = b""
                while not shown.endswith(b"[y/N] "):
                    assert select.select([terminal], [], [], 40)[0], shown
                    shown += terminal.read(1024)
                os.write(ours, answer.encode())
            return process.wait(40)
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("answers", "connected"), [("y\nn\n", [True, False]), ("n\ny\n", [False, True]), ("\n\n", [False, False])]
)
def test_on_a_terminal_every_client_is_asked_about(here: Machine, answers: str, connected: list[bool]) -> None:
    """With a real terminal in between: what a person types is what counts."""
    cursor, gemini = cursor_file(here), here.home / ".gemini/settings.json"
    gemini.parent.mkdir()
    gemini.write_text("{}")
    skill_and_tools = ["n\n", "n\n"] if any(connected) else []
    returncode = answered(["setup"], [*answers.splitlines(keepends=True), *skill_and_tools])
    assert returncode == (ExitCode.OK if any(connected) else ExitCode.DECLINED)
    assert ["dragoman" in path.read_text() for path in (cursor, gemini)] == connected


@pytest.mark.parametrize(
    ("answer", "chosen"), [("y\n", ["default", "terminal", "canvas", "editor"]), ("n\n", ["default"])]
)
def test_the_tools_are_asked_about_once(here: Machine, answer: str, chosen: list[str]) -> None:
    cursor_file(here)
    assert answered(["setup"], ["y\n", "n\n", answer]) == ExitCode.OK
    assert load_settings(find_paths()).tools == chosen
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert answered(["setup"], ["y\n", "n\n"]) == ExitCode.OK


def test_the_tools_can_be_chosen_without_a_question(here: Machine) -> None:
    cursor_file(here)
    assert run(["setup", "--yes", "--tools", "all"]) == ExitCode.OK
    assert load_settings(find_paths()).tools == ["all"]
