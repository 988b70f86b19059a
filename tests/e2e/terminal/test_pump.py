"""The pump between two terminals: nothing lost, nothing left behind, whatever ends it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dragoman.core.settings.loader import RESERVED_VARIABLES
from dragoman.protocols.omnish.messages import IoData, SessionStart
from tests.daemons import eventually
from tests.e2e.terminal.fake_daemon import StandIn, stand_in
from tests.e2e.terminal.held_terminal import WRAPPER, Held, held, short_folder
from tests.e2e.terminal.panes import person

pytestmark = pytest.mark.needs("bash")

_COLOURED = "%07d 中文 \x1b[38;5;%dmcolour\x1b[0m\r\n".encode()


@pytest.fixture
def daemon() -> Iterator[StandIn]:
    with short_folder() as folder, stand_in(folder / "omnish.sock") as standing:
        yield standing


@pytest.fixture
def variables(tmp_path: Path, daemon: StandIn) -> dict[str, str]:
    own = {**os.environ, "OMNISH_SOCKET": str(daemon.address), "DRAGOMAN_HOME": str(tmp_path / "home")}
    own |= {"DRAGOMAN_LANG": "en", **person(tmp_path)}
    return {name: value for name, value in own.items() if not name.endswith("_SESSION_ID")}


@pytest.fixture
def bash(variables: dict[str, str]) -> Iterator[Held]:
    with held([*WRAPPER, "--", "bash"], variables) as terminal:
        terminal.until(b"prompt> ")
        yield terminal


def test_the_exit_code_of_the_shell_is_the_wrappers_and_the_last_command_is_recorded(
    bash: Held, daemon: StandIn
) -> None:
    bash.type("exit 7\r")
    assert bash.ended() == 7
    eventually(daemon.ends)
    assert daemon.ends() == [7]
    assert [(it.command_line, it.exit_code) for it in daemon.records()] == [("exit 7", 7)]
    assert bash.attributes() == bash.before


def test_a_signal_that_ends_the_shell_ends_the_wrapper_too(bash: Held, daemon: StandIn) -> None:
    bash.type("kill -9 $$\r")
    assert bash.ended() == -signal.SIGKILL
    assert bash.attributes() == bash.before
    assert eventually(daemon.ends) == [137]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_wrapper_that_is_ended_leaves_the_terminal_as_it_was_and_no_process(bash: Held, number: int) -> None:
    family = psutil.Process(bash.pid).children(recursive=True)
    assert bash.is_raw
    os.kill(bash.pid, number)
    assert bash.ended() == -number
    eventually(lambda: bash.attributes() == bash.before)
    eventually(lambda: not [it for it in family if it.is_running() and it.status() != psutil.STATUS_ZOMBIE])


_MODES = (1, 9, 1000, 1002, 1003, 1004, 1006, 2004)
_FILLS = "".join(f"\\e[?{mode}h" for mode in (1049, *_MODES)) + "\\e=\\e[?25l\\e[?7l\\e[4h\\e[3;9r\\e[5 q"


@pytest.mark.parametrize("program", [f"printf '{_FILLS}go'; read -r", "vim -u NONE -N", "less -f /etc/passwd"])
def test_a_wrapper_that_is_killed_in_a_full_screen_leaves_no_mode_behind(program: str, bash: Held) -> None:
    if program.startswith("vim") and shutil.which("vim") is None:
        program = "less -f /etc/passwd"
    seen = len(bash.screen)
    bash.type(program + "\r")
    bash.until(b"\x1b[?1049h", after=seen)
    guard = next(it for it in psutil.Process(bash.pid).children() if "dragoman-guard" in it.cmdline())
    bash.run_until_quiet()
    os.kill(bash.pid, signal.SIGKILL)
    bash.ended()
    eventually(lambda: bash.attributes() == bash.before)
    eventually(lambda: not guard.is_running() or guard.status() == psutil.STATUS_ZOMBIE)
    bash.run_until_quiet()
    state = dict(re.findall(rb"\x1b\[\?(\d+)([hl])", bytes(bash.screen)))
    left = {mode: set_ for mode, set_ in state.items() if (set_ == b"h") != (mode in (b"7", b"25"))}
    assert not left, left
    after = bytes(bash.screen).rpartition(b"\x1b[?1049l")[2]
    assert all(reset in after for reset in (b"\x1b>", b"\x1b[r", b"\x1b[4l", b"\x1b[0 q", b"\x1b[0m"))


@pytest.mark.parametrize("line", ["echo go", "echo go; sleep 100", "echo go; yes", "echo go; kill -STOP $$"])
def test_a_closed_window_takes_the_wrapper_and_its_shell_with_it_at_once(line: str, bash: Held) -> None:
    """Before the patience with a shell that ignores it is over."""
    bash.type(line + "\r")
    bash.until(b"go\r\n", after=len(bash.screen))
    family = psutil.Process(bash.pid).children(recursive=True)
    bash.close_window()
    assert bash.exit_code(within_s=1.5) == -signal.SIGHUP
    eventually(
        lambda: not [it for it in family if it.is_running() and it.status() != psutil.STATUS_ZOMBIE], within_s=1.5
    )


def test_a_window_that_is_closed_while_the_wrapper_is_stopped_ends_it_as_any_other_does(
    variables: dict[str, str],
) -> None:
    """Stopped with its shell until the terminal is gone: there is nothing left to make raw again."""
    until_closed = "import select, dragoman.shell.pump as p\npoll = select.poll()\npoll.register(0, 0)\n"
    run = "import runpy; runpy.run_module('dragoman.shell', run_name='__main__', alter_sys=True)"
    code = f"{until_closed}p.suspend_self = lambda: print(end='stopped', flush=True) or poll.poll(10_000)\n{run}"
    with held([sys.executable, "-P", "-c", code, "--", "bash"], variables) as terminal:
        terminal.until(b"prompt> ")
        terminal.type("kill -STOP $$\r")
        terminal.until(b"stopped")
        terminal.close_window()
        assert terminal.exit_code(within_s=5) == -signal.SIGHUP


@pytest.mark.parametrize("line", ["trap '' HUP", "trap '' HUP; yes"])
def test_a_closed_window_ends_the_wrapper_whatever_its_shell_does(line: str, bash: Held, daemon: StandIn) -> None:
    bash.type(line + "\r")
    bash.until(b"y\r\n" * 9 if "yes" in line else b"prompt> ", after=len(bash.screen))
    family = psutil.Process(bash.pid).children(recursive=True)
    bash.close_window()
    assert bash.exit_code(within_s=8) == -signal.SIGHUP
    eventually(daemon.ends)
    for left in family:  # a shell that ignores it lives on, as in a terminal without us
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()


def test_a_fault_of_ours_costs_the_recording_and_not_the_shell(variables: dict[str, str], daemon: StandIn) -> None:
    broken = "import dragoman.shell.recording.recorder as r\nr.ShellRecorder.handle_keys = lambda *a, **k: 1 / 0\n"
    run = "import runpy; runpy.run_module('dragoman.shell', run_name='__main__', alter_sys=True)"
    with held([sys.executable, "-P", "-c", broken + run, "--", "bash"], variables) as terminal:
        terminal.until(b"prompt> ")
        terminal.run("echo still $((40 + 2))", shown="still 42")
        terminal.type("exit 3\r")
        assert terminal.ended() == 3
        assert b"ended the recording of this shell early: ZeroDivisionError" in terminal.screen
        assert terminal.attributes() == terminal.before


def test_everything_is_shown_and_recorded_to_the_last_byte(
    variables: dict[str, str], daemon: StandIn, tmp_path: Path
) -> None:
    text = b"".join(
        b"%07d \xe4\xb8\xad\xe6\x96\x87 \x1b[38;5;%dmcolour\x1b[0m\r\n" % (it, it % 256) for it in range(60_000)
    )
    (tmp_path / "text").write_bytes(text)
    with held([*WRAPPER, "--", "sh", "-c", f"stty -opost; cat {tmp_path / 'text'}"], variables) as terminal:
        assert terminal.ended(within_s=20) == 0
        assert hashlib.sha256(terminal.screen).digest() == hashlib.sha256(text).digest()
    eventually(daemon.ends)
    assert hashlib.sha256(daemon.output()).digest() == hashlib.sha256(text).digest()
    assert not [it for it in daemon.starts() if "dragoman.gap" in it]


def test_a_process_left_in_the_background_does_not_keep_the_terminal(bash: Held) -> None:
    bash.run("set +m; (trap '' HUP; exec sleep 30) & child=$!")
    bash.type("echo last words; exit 4\r")
    assert bash.ended() == 4
    assert b"last words" in bash.screen
    for left in [it for it in psutil.process_iter(["cmdline"]) if it.info["cmdline"] == ["sleep", "30"]]:
        left.kill()


def test_a_wrapper_that_nobody_could_continue_is_not_stopped(bash: Held) -> None:
    os.kill(bash.pid, signal.SIGTSTP)
    # Nobody could continue the leader of a session, so the kernel lets it run: it is raw again, and answers.
    bash.run("echo on $((1 + 1))", shown="on 2")
    assert bash.is_raw


@pytest.mark.parametrize("how", ["suspend", "a signal"])
def test_a_suspended_wrapper_gives_the_terminal_back_and_fg_brings_it_back(how: str, variables: dict[str, str]) -> None:
    with held(["bash", "--norc", "-i"], {**variables, "PS1": "outer> "}) as terminal:
        terminal.until(b"outer> ")
        terminal.type(" ".join([*WRAPPER, "--", "bash"]) + "\r")
        terminal.until(b"prompt> ")
        if how == "suspend":
            terminal.type("suspend\r")
        else:
            (wrapper,) = psutil.Process(terminal.pid).children()
            wrapper.send_signal(signal.SIGTSTP)
        terminal.until(b"Stopped")
        seen = len(terminal.screen)
        terminal.type("echo in the outer $((20 + 1))\r")
        terminal.until(b"in the outer 21", after=seen)
        terminal.type("fg\r")
        seen = len(terminal.screen)
        terminal.type("echo inside $((20 + 2))\r")
        terminal.until(b"inside 22", after=seen)
        terminal.type("exit 5\r")
        terminal.until(b"outer> ", after=len(terminal.screen))
        terminal.type("echo code $?\r")
        terminal.until(b"code 5")


def test_a_resized_terminal_resizes_the_one_inside(bash: Held) -> None:
    bash.run("trap 'stty size' WINCH")
    bash.resize(33, 99)
    bash.until(b"33 99")


def test_without_a_terminal_the_shell_runs_as_if_nobody_were_there(variables: dict[str, str], daemon: StandIn) -> None:
    piped = subprocess.run(
        [*WRAPPER, "--", "sh", "-c", "cat; exit 6"], input=b"a\x00b", env=variables, capture_output=True, check=False
    )
    assert (piped.returncode, piped.stdout, piped.stderr) == (6, b"a\x00b", b"")
    assert daemon.messages == []


def test_a_program_that_is_not_there_is_reported_and_is_127(variables: dict[str, str], tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.touch()
    with held([*WRAPPER, "--", "no-such-shell"], {**variables, "DRAGOMAN_BEGAN": str(begun)}) as terminal:
        assert terminal.ended() == 127
        assert b"no-such-shell: No such file" in terminal.screen
    assert begun.exists()


def test_a_nested_wrapper_notifies_its_parent(bash: Held, daemon: StandIn) -> None:
    bash.run("echo outer=$DRAGOMAN_SESSION_ID=$OMNISH_SESSION_ID", shown="outer=")
    bash.run(" ".join([*WRAPPER, "--", "bash"]))
    bash.until(b"This terminal is already recorded")
    bash.run("echo inner")
    bash.run("exit")
    bash.type("exit\r")
    assert bash.ended() == 0
    eventually(lambda: len(daemon.ends()) == 2)
    starts = [it for it in daemon.messages if type(it).__name__ == "SessionStart"]
    ids = {it.session_id: it.parent_session_id for it in starts}  # type: ignore[attr-defined]
    (outer,) = [id for id, parent in ids.items() if parent is None]
    assert set(ids.values()) == {None, outer}
    assert f"outer={outer}={outer}".encode() in bash.screen
    assert daemon.lines().count("echo inner") == 1
    assert not [it.command_id for it in daemon.records() if it.command_id.endswith(":unverified")]


@pytest.mark.parametrize("how", ["private", "paused", "killed"])
def test_what_a_nested_wrapper_keeps_to_itself_the_outer_one_does_not_record(
    how: str, bash: Held, daemon: StandIn
) -> None:
    bash.run(" ".join([*WRAPPER, *(["--private"] if how == "private" else []), "--", "bash"]))
    if how == "paused":
        bash.type(b"\x1b\x10")
        bash.until(b"recording paused")
    bash.run("echo hidden-$((1 + 1))-word", shown="hidden-2-word")
    bash.run("kill -9 $PPID" if how == "killed" else "exit")
    bash.run("echo outer-$((1 + 1))-word", shown="outer-2-word")
    bash.type("exit\r")
    assert bash.ended() == 0
    eventually(lambda: len(daemon.ends()) == (1 if how == "killed" else 2))
    (outer,) = {it.session_id for it in daemon.all(SessionStart) if it.parent_session_id is None}
    shown = b"".join(it.data for it in daemon.all(IoData) if it.session_id == outer)
    assert b"hidden" not in (shown if how == "killed" else daemon.output() + daemon.typed())
    assert b"outer-2-word" in shown
    lines = [it.command_line or "" for it in daemon.records() if it.session_id == outer]
    assert [line.rpartition(" -- ")[2] for line in lines] == ["bash", "echo outer-$((1 + 1))-word", "exit"]
    assert b"Recorded=" not in bash.screen
    assert how != "private" or b"recorded already" not in bash.screen
    assert b"Nothing is recorded" not in bash.screen


@pytest.mark.needs("tmux")
def test_what_a_private_wrapper_shows_in_a_tmux_inside_this_one_is_not_recorded(bash: Held, daemon: StandIn) -> None:
    """Also once it has ended: what it showed is drawn again with the next window."""
    inner = shlex.join([*WRAPPER, "--private", "--", "bash"])
    socket = f"dragoman-test-{os.getpid()}-private"
    after = len(bash.screen)
    bash.type(f"tmux -L {socket} -f /dev/null new {shlex.quote(inner)}\r")
    bash.until(b"prompt> ", after=after + 80)
    after = len(bash.screen)
    bash.type("echo hidden-$((1 + 1))-word\r")
    bash.until(b"hidden-2-word", after=after)
    after = len(bash.screen)
    bash.type("exit\r")
    bash.until(b"[exited]", after=after)
    bash.run("echo outer-$((1 + 1))-word", shown="outer-2-word")
    bash.type("exit\r")
    assert bash.ended() == 0
    eventually(lambda: len(daemon.ends()) == 2)
    assert b"hidden" not in daemon.output() + daemon.typed()
    assert b"outer-2-word" in daemon.output()
    assert [(line or "").partition(" ")[0] for line in daemon.lines()] == ["tmux", "echo", "exit"]


def test_a_window_of_another_program_silences_nothing(bash: Held, daemon: StandIn) -> None:
    """It has this terminal's variables and neither tmux nor screen around it."""
    script = "import pty, sys; pty.spawn(sys.argv[1:])"
    bash.run(
        shlex.join([sys.executable, "-c", script, *WRAPPER, "--private", "--", "true"]) + "; echo still-$((1 + 1))"
    )
    bash.type("exit\r")
    assert bash.ended() == 0
    eventually(lambda: len(daemon.ends()) == 2)
    assert b"still-2" in daemon.output()


def test_what_a_wrapped_shell_exports_to_its_programs_is_not_an_unknown_setting(bash: Held) -> None:
    bash.run("echo =${!DRAGOMAN_*}=", shown="=DRAGOMAN_")
    text = bash.plain().decode().rpartition("=DRAGOMAN_")[2].partition("=")[0]
    names = set(f"DRAGOMAN_{text}".split())
    assert {"DRAGOMAN_SESSION_ID", "DRAGOMAN_INSIDE"} <= names <= RESERVED_VARIABLES


def test_no_nonce_is_on_the_screen(bash: Held) -> None:
    bash.run("true")
    assert b"133;A" in bash.screen
    assert b"nonce=" not in bash.screen
