"""history, last, ask, replay and terminals at a real terminal, over a shell that was really wrapped."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.caller import caller_info
from dragoman.cli.columns import align_columns
from dragoman.cli.dispatch import run
from dragoman.cli.terminals.playback import play
from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import PATIENCE, Cli, cli_with_home, eventually
from tests.terminal.tmux_panes import Pane, pane

# It asks the terminal, sets its clipboard and its title, and clears it.
HOSTILE = r"\033]52;c;aGk=\007\033]0;title\007\033[6n\033[c\033]11;?\007\033[2J\033[>q\005\033[21tmarker"
EVERYTHING = ("--output", "--all-workspaces")
# Whatever a terminal would answer, or obey beyond drawing.
ANSWERED = re.compile(rb"\x05|\x1bZ|\x1b[\]PX^_]|\x1b\[[0-9;<=>?]*[cntxyq]|\x1b\[[0-9;?]*\$p")


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as made:
        assert made("up").returncode == 0
        yield made


@pytest.fixture(scope="module")
def shell(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pane]:
    home = tmp_path_factory.mktemp("t")
    (home / ".bashrc").write_text("PS1='$ '\n")
    variables = {"DRAGOMAN_HOME": str(cli.home), "DRAGOMAN_LANG": "en", "HOME": str(home), "HISTFILE": "/dev/null"}
    words = [f"{name}={value}" for name, value in variables.items()]
    # From the root: this checkout may itself lie below the folder that the commands are looked for in.
    with pane(home, "env", "-C", "/", *words, *cli.command("shell", "--", "bash"), columns=90, rows=20) as made:
        made.wait_for("$")
        eventually(lambda: asked(cli, "list_terminals")["terminals"])
        evil = f"printf 'evil {HOSTILE}\\n'; read -rsn 99 -t 0.3; true"  # tmux does answer
        for at, line in enumerate(("cd /tmp", "echo first 中文", "ls /nowhere", evil, "seq 1 3000"), 1):
            made.type(line + "\r")
            eventually(functools.partial(has_run, cli, at))
        yield made


def asked(cli: Cli, tool: str, **arguments: Any) -> Any:
    """Without a process of its own for each look."""
    with ControlClient.open(cli.paths, role="tools", about=caller_info(Path("/"))) as link:
        return link.call("call", {"tool": tool, "arguments": arguments})["data"]


def has_run(cli: Cli, count: int) -> bool:
    return len(asked(cli, "search_commands")["commands"]) == count


@pytest.fixture(scope="module")
def terminal(cli: Cli, shell: Pane) -> str:
    return str(asked(cli, "list_terminals")["terminals"][0]["terminal"])


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@dataclass
class Here:
    """The command line in this process: what it prints is the same, and it starts faster."""

    home: Path
    language: str = "en"

    def __call__(self, *arguments: str, cwd: str = "/") -> Done:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(cwd),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.setenv("DRAGOMAN_HOME", str(self.home))
            patch.setenv("DRAGOMAN_LANG", self.language)
            patch.delenv("DRAGOMAN_SESSION_ID", raising=False)
            status = run(list(arguments))
        out.seek(0)
        return Done(status, out.read(), err.getvalue())


@pytest.fixture(scope="module")
def here(cli: Cli, shell: Pane) -> Here:
    return Here(cli.home)


def lines(done: Done) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def as_json(done: Done) -> Any:
    return json.loads(done.stdout)


def test_history_is_listed_as_shells_list_it_and_filtered(here: Here) -> None:
    everything = lines(here("history"))
    assert [re.split(" {2,}", line)[-1].split(" ")[0] for line in everything] == ["cd", "echo", "ls", "printf", "seq"]
    assert re.match(r"\w+:2  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d     0 +\d\.\ds  /tmp +echo first 中文$", everything[1])
    failed = as_json(here("history", "--all-workspaces", "--failed", "--json"))["commands"]
    assert [it["command"] for it in failed] == ["ls /nowhere"]
    assert len(lines(here("history", "--all-workspaces", "--cwd", ".", cwd="/tmp"))) == 4
    assert len(lines(here("history", "--all-workspaces", "--since", "1h", "-n", "2"))) == 2
    assert lines(here("history", "--all-workspaces", "--since", "2099-01-01")) == []
    assert here("history", "--all-workspaces", "--since", "soon").returncode == 1


def test_columns_have_a_header_and_fit_the_window_of_a_person(cli: Cli, here: Here) -> None:
    for command, title in ((("history", "--all-workspaces"), "COMMAND"), (("terminals",), "RUNNING")):
        header, *rows = in_a_terminal(cli, *command).decode().splitlines()
        assert header.startswith("ID  ")
        assert header.endswith(title)
        assert len(rows) == len(lines(here(*command)))
    rows_of_two = [["ID", "COMMAND"], ["a:1", "echo 中文 and more"], ["b:10", "\x1b[2J"]]
    assert list(align_columns(rows_of_two, 12)) == ["ID    COMMA…", "a:1   echo …", "b:10  \\x1b[…"]
    assert list(align_columns(rows_of_two, None))[1] == "a:1   echo 中文 and more"


def test_a_command_of_several_lines_keeps_them_below_each_other() -> None:
    rows = [["a:1", "for i in 1 2; do\n  echo $i\ndone"], ["b:10", "ls"]]
    assert list(align_columns(rows, None)) == ["a:1   for i in 1 2; do", "        echo $i", "      done", "b:10  ls"]
    assert list(align_columns(rows, 12))[:2] == ["a:1   for i…", "        ech…"]


def test_a_word_of_the_output_finds_its_command(here: Here) -> None:
    hits = eventually(lambda: as_json(here("history", "--all-workspaces", "cannot access", "--json"))["output_hits"])
    assert any("cannot access '/nowhere'" in hit["line"] for hit in hits)


def test_the_last_command_and_all_that_it_printed(here: Here) -> None:
    (line,) = lines(here("last"))
    assert "seq 1 3000" in line
    assert lines(here("last", "--output")) == [str(number) for number in range(1, 3001)]
    failed = lines(here("last", "--failed"))
    assert "ls /nowhere" in failed[0]
    assert "cannot access" in failed[1]
    assert "cannot access" in as_json(here("last", "--failed", "--output", "--json"))["output"]
    assert here("last", "nothing:1").returncode == 1


def test_the_last_command_is_this_workspaces_unless_all_are_asked_for(here: Here, tmp_path: Path) -> None:
    failed = as_json(here("last", "--failed", "--json"))["command"]["command_id"]
    for arguments in (["last"], ["last", "--output"], ["last", "--failed"], ["last", failed, "--output"]):
        text = here(*arguments, cwd=str(tmp_path))
        assert (text.returncode, text.stdout) == (1, ""), arguments
        assert lines(here(*arguments, "--all-workspaces", cwd=str(tmp_path))) == lines(here(*arguments)), arguments
    assert len(lines(here("terminals", cwd=str(tmp_path)))) == len(lines(here("terminals"))) > 0


def test_a_question_is_answered_from_the_record(here: Here) -> None:
    answer = here("ask", "why did the last command fail?")
    assert "ls /nowhere" in answer.stdout
    assert "ls /nowhere" in as_json(here("ask", "why did it fail?", "--json"))["answer"]
    assert here("ask", "what?", "--scope", "nowhere").returncode == 1
    assert here("ask", "what?", "--scope", "this").returncode == 1


def test_nothing_that_a_terminal_printed_reaches_another_as_more_than_letters(cli: Cli, here: Here) -> None:
    evil = as_json(here("history", "--all-workspaces", "evil", "--json"))["commands"][0]["command_id"]
    for arguments in (["history"], ["last", evil, *EVERYTHING], ["ask", "what did printf print?"], ["terminals"]):
        shown = in_a_terminal(cli, *arguments)
        assert b"\x1b" not in shown.replace(b"\x1b[2K", b""), arguments
        assert b"\x07" not in shown
    assert b"marker" in in_a_terminal(cli, "last", evil, *EVERYTHING)


# Replaying and watching.


def in_a_terminal(cli: Cli, *arguments: str, until: Callable[[bytes, Any], bool] | None = None) -> bytes:
    """What a command writes to a terminal of its own, whose settings it leaves as they were."""
    near, far = pty.openpty()
    before = termios.tcgetattr(far)
    process = subprocess.Popen(cli.command(*arguments), env=cli.variables(), stdin=far, stdout=far, stderr=far)
    shown, deadline = b"", time.monotonic() + 30 * PATIENCE
    try:
        while process.poll() is None or select.select([near], [], [], 0)[0]:
            assert time.monotonic() < deadline
            if select.select([near], [], [], 0.05)[0]:
                shown += os.read(near, 65536)
            if until is not None and until(shown, process):
                until = None
        assert termios.tcgetattr(far) == before
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        os.close(near)
        os.close(far)
    return shown


def test_a_replay_draws_and_neither_asks_nor_sets_anything(cli: Cli, terminal: str) -> None:
    shown = in_a_terminal(cli, "replay", terminal, "--speed", "1000")
    assert not ANSWERED.search(shown), ANSWERED.search(shown)
    assert "first 中文".encode() in shown
    assert b"marker" in shown
    assert b"3000\r\n" in shown


def test_the_look_would_notice_what_was_recorded(here: Here, terminal: str) -> None:
    exported = here("terminals", "export", terminal, "--format", "jsonl").stdout.splitlines()
    stream = "".join(json.loads(line).get("text", "") for line in exported[1:])
    assert ANSWERED.search(stream.encode())


def test_ctrl_c_ends_a_replay_and_the_terminal_is_as_it_was(cli: Cli, terminal: str) -> None:
    def interrupt(shown: bytes, process: Any) -> bool:
        if b"$ " in shown:
            process.send_signal(signal.SIGINT)
        return b"$ " in shown

    shown = in_a_terminal(cli, "replay", terminal, "--speed", "0.01", "--idle", "1000", until=interrupt)
    assert b"3000" not in shown
    assert shown.endswith(b"\x1b[?25h\r\n")


def test_pauses_are_kept_shortened_and_sped_up() -> None:
    pieces = [(0, b"a"), (1000, b"b"), (61_000, b"c"), (60_000, b"d")]
    shown, pauses = list[bytes](), list[float]()
    play(iter(pieces), shown.append, pauses.append, speed=2.0, idle_s=10.0)
    assert (shown, pauses) == ([b"a", b"b", b"c", b"d"], [0.5, 5.0])


def test_a_terminal_is_watched_while_it_is_used(cli: Cli, shell: Pane, terminal: str) -> None:
    def look(shown: bytes, process: Any) -> bool:
        if b"3000\r\n" in shown and not typed:
            typed.append("x")
            shell.type(rf"printf 'watched {HOSTILE} %s\n' now" + "\r")
        if b"marker now" in shown:
            process.send_signal(signal.SIGINT)
        return b"marker now" in shown

    typed: list[str] = []
    shown = in_a_terminal(cli, "terminals", "watch", terminal, until=look)
    assert b"marker now" in shown
    assert not ANSWERED.search(shown)


# Recordings.


@pytest.mark.parametrize("format", ["asciicast", "asciicast3", "jsonl", "omnish"])
def test_a_recording_goes_out_and_comes_in(here: Here, terminal: str, tmp_path: Path, format: str) -> None:
    place = tmp_path / "recording"
    assert here("terminals", "export", terminal, "--format", format, "-o", str(place)).returncode == 0
    again = here("terminals", "export", terminal, "--format", format, "-o", str(place))
    brought = here("terminals", "import", str(place))
    name = brought.stdout.split()[2].rstrip(".")
    commands = as_json(here("history", "--all-workspaces", "--terminal", name, "--json"))["commands"]
    assert again.returncode == 1
    assert "ls /nowhere" in [it["command"] for it in commands]
    assert not any(it["verified"] for it in commands)
    (ended,) = [it for it in as_json(here("terminals", "--ended", "--json"))["terminals"] if it["terminal"] == name]
    assert ended["state"] == "ended"


def test_failed_reads_and_writes_are_reported(here: Here, terminal: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "bad").write_text("no recording\n")
    assert here("terminals", "export", terminal, "--format", "omnish").returncode == 1
    assert here("terminals", "export", terminal, "-o", str(tmp_path / "link")).returncode == 1
    assert not target.exists()
    assert "recording" in here("terminals", "import", str(tmp_path / "bad")).stderr
    assert here("replay", "nowhere").returncode == 1


def test_without_a_daemon_the_message_says_how_to_start_one(tmp_path: Path) -> None:
    nobody = Here(tmp_path, "zh")
    for arguments in (["history"], ["last"], ["ask", "x"], ["replay", "x"], ["terminals"], ["terminals", "watch", "x"]):
        done = nobody(*arguments)
        assert done.returncode == 3, arguments
        assert "dragoman up" in done.stderr
