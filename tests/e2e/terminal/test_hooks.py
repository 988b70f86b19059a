"""The hooks in real shells: exact lines, folders and codes; a person's set-up untouched; nothing forged believed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.protocols.omnish.messages import CommandComplete, IoData
from dragoman.shell import launch
from dragoman.terminal.plain_text import to_plain_text
from tests.daemons import eventually
from tests.e2e.terminal.fake_daemon import StandIn, stand_in
from tests.e2e.terminal.held_terminal import WRAPPER, Held, held, short_folder
from tests.e2e.terminal.panes import person

pytestmark = pytest.mark.needs("bash", "zsh", "fish")

SHELLS = ["bash", "zsh", "fish"]
Opened = tuple[Held, StandIn]
PAUSE = b"\x1b\x10"


@contextmanager
def opened(
    shell: str,
    home: Path,
    *options: str,
    rc: str = "",
    wrapper: list[str] = WRAPPER,
    words: Sequence[str] = (),
    prompt: str = "prompt> ",
    **variables: str,
) -> Iterator[Opened]:
    own = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "DRAGOMAN_HOME": str(home / "home"), "DRAGOMAN_LANG": "en"}
    own |= {**person(home), **variables}
    files = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
    with (home / files[shell]).open("a") as file:
        file.write(rc)
    with short_folder() as folder, stand_in(folder / "omnish.sock") as daemon:
        command = [*wrapper, *options, "--", shell, *words]
        with held(command, {**own, "OMNISH_SOCKET": str(daemon.address)}, folder=home) as terminal:
            terminal.until(prompt.encode())
            yield terminal, daemon


def finish(opened: Opened) -> StandIn:
    terminal, daemon = opened
    terminal.type("exit\r")
    terminal.ended()
    eventually(daemon.ends)
    return daemon


@pytest.mark.parametrize("shell", SHELLS)
def test_lines_codes_and_folders_are_reported_exactly(shell: str, tmp_path: Path) -> None:
    several = "for i in 1 2\rsleep 0\rend" if shell == "fish" else "for i in 1 2; do\rsleep 0\rdone"
    with opened(shell, tmp_path) as both:
        terminal, _ = both
        terminal.run("echo 'a;b\\c' \"中 文\"")
        terminal.run("")
        terminal.run("cd /usr")
        terminal.run("sh -c 'exit 3'")
        terminal.run(several)
        daemon = finish(both)
    seen = [(it.command_line, it.exit_code, it.cwd) for it in daemon.records()]
    home = str(tmp_path)
    assert seen[:3] == [("echo 'a;b\\c' \"中 文\"", 0, home), ("cd /usr", 0, home), ("sh -c 'exit 3'", 3, "/usr")]
    line, code, _ = seen[3]
    assert line is not None
    assert "".join(line.split()).replace(";", "") in {"foriin12dosleep0done", "foriin12sleep0end"}
    assert code == 0
    assert seen[4][0] == "exit"
    assert not [it.command_id for it in daemon.records() if it.command_id.endswith(":unverified")]
    assert daemon.boundaries() == [it.command_line for it in daemon.records()]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_change_of_folder_is_reported_at_the_next_prompt(shell: str, tmp_path: Path) -> None:
    with opened(shell, tmp_path) as both:
        terminal, daemon = both
        terminal.run("cd /usr")
        assert eventually(lambda: [it for it in daemon.starts() if it.get("dragoman.folder") == "/usr"])
        terminal.type(PAUSE)
        terminal.until(b"recording paused")
        terminal.run("cd /tmp")
        finish(both)
    assert not [it for it in daemon.starts() if it.get("dragoman.folder") == "/tmp"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_record_has_what_was_shown_without_our_marks(shell: str, tmp_path: Path) -> None:
    with opened(shell, tmp_path) as both:
        both[0].run("echo shown", shown="shown\r\n")
        daemon = finish(both)
        assert b"shown\r\n" in daemon.output()
        assert b"nonce" not in daemon.output().replace(str(tmp_path).encode(), b"")
        assert b"\x1b]133" not in daemon.output()
        assert b"\x1b]133;C" in both[0].screen


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_that_was_not_ended_is_reported_as_it_was_printed(shell: str, tmp_path: Path) -> None:
    """zsh and fish draw a sign behind it and go on in the next row: that is the shell's, not the command's."""
    with opened(shell, tmp_path) as both:
        both[0].run("printf abc; sh -c 'exit 4'", shown="abc")
        assert both[0].screen.count(b"\x1b]133;D;4") == 1
        daemon = finish(both)
    assert daemon.records()[0].exit_code == 4
    assert to_plain_text(daemon.first_output()) == "abc"


def test_marks_stay_behind_where_that_is_asked_for(tmp_path: Path) -> None:
    with opened("bash", tmp_path, "--strip-marks") as (terminal, _):
        terminal.run("true")
        assert b"]133" not in terminal.screen
        assert b"]633" not in terminal.screen


@pytest.mark.parametrize("shell", SHELLS)
def test_no_program_finds_the_nonce(shell: str, tmp_path: Path) -> None:
    """Not in its environment, its shell's, an open pipe or the shell's arguments."""
    (tmp_path / "look.py").write_text(
        "import os, re\n"
        "seen = [open(f'/proc/{p}/{w}', 'rb').read() for p in ('self', os.getppid()) for w in ('environ', 'cmdline')]\n"
        "for fd in range(3, 40):\n"
        "    try:\n"
        "        os.set_blocking(fd, False)\n"
        "        seen.append(os.read(fd, 100))\n"
        "    except OSError:\n"
        "        pass\n"
        "print('FOUND', re.findall(rb'[0-9a-f]{32}', b' '.join(seen)), b''.join(seen[4:]), 'END')\n"
    )
    with opened(shell, tmp_path) as (terminal, _):
        terminal.run(f"{sys.executable} look.py", shown="END")
        assert b"FOUND [] b'' END" in terminal.plain()


@pytest.mark.parametrize("shell", SHELLS)
def test_marks_that_a_file_prints_make_unverified_commands_and_end_no_other(shell: str, tmp_path: Path) -> None:
    marks = ["633;E;rm -rf /;", "133;C;nonce=00", "133;D;0;nonce=00", "633;P;Cwd=/evil", "133;A", "133;B"]
    (tmp_path / "evil").write_text("".join(f"\x1b]{mark}\x07evil\n" for mark in marks) + "after\n")
    with opened(shell, tmp_path) as both:
        both[0].run("cat evil", shown="after")
        daemon = finish(both)
    by_line = {it.command_line: it for it in daemon.records()}
    assert by_line["rm -rf /"].command_id.endswith(":unverified")
    assert not by_line["cat evil"].command_id.endswith(":unverified")
    assert by_line["cat evil"].cwd == str(tmp_path)
    assert daemon.boundaries() == ["cat evil", "exit"]
    ids = [it.record.command_id if isinstance(it, CommandComplete) else "" for it in daemon.messages]
    before = daemon.messages[: ids.index(by_line["cat evil"].command_id)]
    assert b"after" in b"".join(it.data for it in before if isinstance(it, IoData))


_STATUS = "false | true | false"
# What stands in .bashrc; what is run; what is printed then, as without us.
BASH_SET_UPS = {
    "an array of PROMPT_COMMAND": (
        "PROMPT_COMMAND=('s=\"$? ${PIPESTATUS[*]}\"' 't=$?')",
        "echo =$s=$t=",
        "=1 1 0 1=1=",
    ),
    "a string of PROMPT_COMMAND": ("PROMPT_COMMAND='s=\"$? ${PIPESTATUS[*]}\";'", "echo =$s=", "=1 1 0 1="),
    "a DEBUG trap": ("trap 'd=$BASH_COMMAND' DEBUG", 'echo "=$d="', '=echo "=$d="='),
    "PS0": ("PS0='<ps0>'", "echo =0=", "<ps0>=0="),
    "set -u": ("set -u", "echo =${x-unset}=", "=unset="),
    "set -e": ("set -e", "echo =alive=", "=alive="),
    "a status in the prompt": ("PS1='[$?]prompt> '", "true", "[1]prompt> "),
    "a prompt made anew each time": ('P() { PS1="${?}prompt> "; }; PROMPT_COMMAND=P', "true", "1prompt> "),
    "set -a": ("set -a", "env | grep -c __dragoman_nonce=", "0\r\n"),
    "an exported prompt": ("export PS1", "env | grep PS1 | grep -c 'nonce=[0-9a-f]'", "0\r\n"),
    "set -x": ("set -x", "echo =quiet=", "+ echo =quiet=\r\n=quiet="),
}


@pytest.mark.parametrize("what", BASH_SET_UPS)
def test_a_persons_own_bash_works_as_without_us(what: str, tmp_path: Path) -> None:
    rc, line, shown = BASH_SET_UPS[what]
    with opened("bash", tmp_path, rc=rc + "\n") as both:
        terminal = both[0]
        seen = len(terminal.plain())
        terminal.run("true" if what == "set -e" else _STATUS)
        terminal.run(line)
        assert shown in terminal.plain()[seen:].decode()
        assert finish(both).lines()[1:] == [line, "exit"]


ZSH_SET_UPS = {
    "no unset variables": ("setopt no_unset", "echo :${x-unset}:", ":unset:"),
    "an exit at every error": ("setopt err_return err_exit", "echo :alive:", ":alive:"),
    "arrays as in ksh": ("setopt ksh_arrays sh_word_split", "echo :words:", ":words:"),
    "a prompt that is expanded": ("setopt prompt_subst; PS1='[$?]prompt> '", "true", "[1]prompt> "),
    "a prompt made anew each time": ('precmd() { PS1="$? $pipestatus prompt> " }', "true", "1 1 0 1 prompt> "),
    "an exported prompt": ("export PS1", "env | grep -c 'nonce=[0-9a-f]'", "0\r\n"),
    "functions of its own": ("precmd_functions+=(p); p() { s=$? }", "echo :$s:", ":1:"),
}


@pytest.mark.parametrize("what", ZSH_SET_UPS)
def test_a_persons_own_zsh_works_as_without_us(what: str, tmp_path: Path) -> None:
    rc, line, shown = ZSH_SET_UPS[what]
    with opened("zsh", tmp_path, rc=rc + "\n") as both:
        terminal = both[0]
        seen = len(terminal.plain())
        terminal.run("true" if "error" in what else _STATUS)
        terminal.run(line)
        assert shown in terminal.plain()[seen:].decode()
        assert finish(both).lines()[1:] == [line, "exit"]


_FISH_PROMPT = 'echo -n "[$status/$pipestatus/$_x]prompt> "'
FISH_SET_UPS = {
    "a status in the prompt": (f"function fish_prompt; {_FISH_PROMPT}; end", "[1/1 0 1/]prompt> "),
    "a status that a hook kept": (
        f"""function p --on-event fish_prompt; set -g _x "$status $pipestatus"; end
        function fish_prompt; {_FISH_PROMPT}; end""",
        "[1/1 0 1/1 1 0 1]prompt> ",
    ),
    "a prompt of two lines": (f"function fish_prompt; echo two; {_FISH_PROMPT}; end", "two\r\n[0/0/]prompt> "),
}


@pytest.mark.parametrize("what", FISH_SET_UPS)
def test_a_persons_own_fish_works_as_without_us(what: str, tmp_path: Path) -> None:
    rc, shown = FISH_SET_UPS[what]
    with opened("fish", tmp_path, rc=rc + "\n") as both:
        terminal = both[0]
        seen = len(terminal.plain())
        terminal.run(_STATUS)
        assert shown in re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\(B)", "", terminal.plain()[seen:].decode())
        assert finish(both).lines() == [_STATUS, "exit"]


def test_what_bash_keeps_out_of_its_history_does_not_leave(tmp_path: Path) -> None:
    with opened("bash", tmp_path, rc="HISTCONTROL=ignoreboth\n") as both:
        both[0].run("echo one")
        both[0].run("echo one")
        both[0].run(" echo hidden-word", shown="hidden-word\r\n")
        both[0].run("echo two")
        daemon = finish(both)
    assert daemon.lines() == ["echo one", "echo one", "echo two", "exit"]
    assert b"hidden-word" not in daemon.output()
    assert [it["dragoman.private"] for it in daemon.starts() if "dragoman.private" in it] == ["1", "0"]


@pytest.mark.parametrize("ahead", [True, False])
def test_what_bash_is_to_hide_does_not_leave_though_typed_while_another_runs(ahead: bool, tmp_path: Path) -> None:
    with opened("bash", tmp_path, rc="HISTCONTROL=ignoreboth\n") as both:
        first, second = "sleep 0.3; echo one\r", " echo hidden-$((1 + 1))-word\r"
        both[0].type(first + second if ahead else first)
        if not ahead:
            both[0].until(b"133;C")
            both[0].type(second)
        both[0].until(b"hidden-2-word")
        both[0].run("echo two")
        daemon = finish(both)
    assert daemon.lines() == ["sleep 0.3; echo one", "echo two", "exit"]
    assert b"hidden" not in daemon.output() + daemon.typed()


def test_what_was_entered_while_paused_does_not_leave_though_resumed_at_once(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as both:
        both[0].type(PAUSE)
        both[0].until(b"recording paused")
        both[0].type(b"echo hidden-$((1 + 1))-word\r" + PAUSE)
        both[0].until(b"hidden-2-word")
        both[0].run("echo two")
        daemon = finish(both)
    assert daemon.lines() == ["echo two", "exit"]
    assert b"hidden" not in daemon.output()


@pytest.mark.parametrize("rc", ["", "PROMPT_COMMAND='x=1; y=2'; trap 'd=$BASH_COMMAND' DEBUG\n"])
def test_a_bash_without_ps0_reports_its_commands_by_a_trap_beside_a_persons_own(rc: str, tmp_path: Path) -> None:
    """As before version 4.4; the hook is told that this one is as old."""
    hook = Path(launch.HOOKS, "bash.sh").read_text()
    assert "< 404" in hook
    (tmp_path / "bash.sh").write_text(hook.replace("< 404", "< 9999"))
    older = f"import dragoman.shell.launch as it; it.HOOKS = {str(tmp_path)!r}\n"
    run = "import runpy; runpy.run_module('dragoman.shell', run_name='__main__', alter_sys=True)"
    with opened("bash", tmp_path, rc=rc, wrapper=[sys.executable, "-P", "-c", older + run]) as both:
        both[0].run("false | true; false")
        both[0].run("")
        both[0].run('echo "=${d-}="', shown='=echo "=${d-}="=' if rc else "==")
        daemon = finish(both)
    assert [(it.command_line, it.exit_code) for it in daemon.records()] == [
        ("false | true; false", 1),
        ('echo "=${d-}="', 0),
        ("exit", 0),
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_what_other_shells_keep_out_of_their_history_does_not_leave(shell: str, tmp_path: Path) -> None:
    with opened(shell, tmp_path, rc="setopt hist_ignore_space\n" if shell == "zsh" else "") as both:
        both[0].run(" echo hidden-word", shown="hidden-word\r\n")
        both[0].run("echo two")
        daemon = finish(both)
    assert daemon.lines() == ["echo two", "exit"]
    assert b"hidden-word" not in daemon.output()


def test_an_ignored_command_leaves_neither_its_line_nor_its_output(tmp_path: Path) -> None:
    with opened("bash", tmp_path, DRAGOMAN_IGNORE_COMMANDS="vault *,echo secret*") as both:
        both[0].run("echo secret-$((40 + 2))", shown="secret-42")
        both[0].run("sh -c 'exit 2'")
        daemon = finish(both)
    assert daemon.lines() == ["sh -c 'exit 2'", "exit"]
    assert b"secret" not in daemon.output()
    assert [it["dragoman.private"] for it in daemon.starts() if "dragoman.private" in it] == ["1", "0"]


def test_a_private_shell_reports_only_that_it_is_alive(tmp_path: Path) -> None:
    with opened("bash", tmp_path, "--private") as both:
        both[0].run("echo hush")
        daemon = finish(both)
    assert {type(it).__name__ for it in daemon.messages} == {"SessionStart", "SessionEnd"}
    assert daemon.starts()[0]["dragoman.private"] == "1"
    assert "cwd" not in daemon.starts()[0]


@pytest.mark.parametrize(
    ("asks", "kept"),
    [("true", True), ("stty -echo", False), ("stty -icanon", False)],
)
def test_keys_are_kept_only_where_the_terminal_shows_them_and_takes_lines(
    asks: str, kept: bool, tmp_path: Path
) -> None:
    with opened("bash", tmp_path) as both:
        both[0].run(f"{asks}; echo g''o; read -r x; stty echo icanon", shown="go\r\n", then="typed\r")
        both[0].run("echo done", shown="done\r\n")
        daemon = finish(both)
    assert daemon.typed() == (b"typed\r" if kept else b"")


def test_keys_of_a_raw_program_are_kept_where_that_is_asked_for_but_no_password(tmp_path: Path) -> None:
    with opened("bash", tmp_path, DRAGOMAN_RECORD_RAW_INPUT="true") as both:
        both[0].run("stty -icanon -echo; echo g''o; read -r x; stty echo icanon", shown="go\r\n", then="raw\r")
        both[0].run("stty -echo; echo a''sks; read -r x; stty echo", shown="asks\r\n", then="password\r")
        assert finish(both).typed() == b"raw\r"


def test_a_shell_that_marks_itself_is_marked_once(tmp_path: Path) -> None:
    rc = r"""PS1='\[\e]633;A\a\]prompt> \[\e]633;B\a\]'""" + "\n"
    with opened("bash", tmp_path, rc=rc) as both:
        both[0].run("true")
        finish(both)
        assert both[0].screen.count(b";A\x07") == both[0].screen.count(b"prompt> ") == 2
        assert both[1].lines() == ["true", "exit"]


def test_a_login_shell_reads_what_a_login_shell_reads(tmp_path: Path) -> None:
    (tmp_path / ".bash_profile").write_text("export FROM=profile; PS1='prompt> '\n")
    with opened("bash", tmp_path, "--login") as both:
        both[0].run("echo =$FROM=", shown="=profile=")
        assert finish(both).lines() == ["echo =$FROM=", "exit"]


def test_zsh_gets_its_own_folder_back(tmp_path: Path) -> None:
    own = tmp_path / "zdot"
    own.mkdir()
    (own / ".zshrc").write_text("PS1='prompt> '; FROM=zdot\n")
    with opened("zsh", tmp_path, ZDOTDIR=str(own)) as both:
        both[0].run('echo "=$FROM=$ZDOTDIR="', shown=f"=zdot={own}=")
        both[0].run("env | grep -c DRAGOMAN_HOOK", shown="0\r\n")


@pytest.mark.parametrize("shell", [["dash", "-i"], ["bash", "--posix"]], ids=" ".join)
def test_a_shell_without_a_hook_is_guessed_at(shell: list[str], tmp_path: Path) -> None:
    own = {**os.environ, "DRAGOMAN_HOME": str(tmp_path), "HOME": str(tmp_path), "PS1": "plain$ "}
    with short_folder() as folder, stand_in(folder / "omnish.sock") as daemon:
        own["OMNISH_SOCKET"] = str(daemon.address)
        with held([*WRAPPER, "--", *shell], own) as terminal:
            terminal.until(b"plain$ ")
            terminal.run("echo one", shown="one\r\n", prompt="plain$ ")
            terminal.run("echo tq\x7fwo", shown="two\r\n", prompt="plain$ ")
            terminal.type("exit\r")
            assert terminal.ended() == 0
        eventually(daemon.ends)
        assert daemon.lines() == ["echo one", "echo two", "exit"]
        assert all(it.command_id.endswith(":unverified") for it in daemon.records())


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "exec bash"),
        ("bash", "exec -l bash --noprofile"),
        ("bash", "exec sh"),
        ("zsh", "exec zsh"),
        ("fish", "exec fish"),
        ("fish", "exec bash --norc"),
    ],
)
def test_after_exec_commands_are_still_recorded_and_a_line_says_how(shell: str, line: str, tmp_path: Path) -> None:
    with opened(shell, tmp_path, PS1="prompt> ") as both:
        terminal, daemon = both
        seen = len(terminal.screen)
        terminal.run(line)
        terminal.until(b"After `exec`, Dragoman reads commands from the screen", after=seen)
        eventually(lambda: daemon.lines() == [line])
        terminal.run("echo o''ne", shown="one")
        terminal.run_until_quiet(0.1)
        terminal.run("false")
        terminal.run_until_quiet(0.1)
        finish(both)
    assert daemon.lines() == [line, "echo o''ne", "false", "exit"]
    assert [it.command_id.endswith(":unverified") for it in daemon.records()] == [False, True, True, True]
    assert [it.exit_code for it in daemon.records()][:3] == [None, None, None], "nothing is made up"
    assert daemon.starts()[-1].get("dragoman.verifies") is None


@pytest.mark.parametrize("line", ["bash --norc -i", "sh -i"])
def test_a_shell_inside_is_one_command_and_shows_an_exported_prompt_as_without_us(line: str, tmp_path: Path) -> None:
    """No hook runs there, so nothing in it is told apart, and nothing of ours is in its prompt."""
    with opened("bash", tmp_path, rc="export PS1 PS0=\n", PS1="") as both:
        terminal, daemon = both
        seen = len(terminal.screen)
        terminal.run(line)
        terminal.run("echo o''ne", shown="one")
        assert to_plain_text(bytes(terminal.screen[seen:])).split("\n") == [
            line,
            "prompt> echo o''ne",
            "one",
            "prompt> ",
        ]
        assert b"After `exec`" not in terminal.screen
        terminal.run("exit")
        daemon = finish(both)
    assert daemon.lines() == [line, "exit"]
    assert b"\rone\r\n" in daemon.first_output() or b"\none\r\n" in daemon.first_output()


def test_a_program_in_the_shells_place_is_the_command_that_runs(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as both:
        both[0].run("exec sh -c 'echo i''n; read x'", shown="in\r\n", then="typed\r", prompt="typed")
        both[0].ended()
        eventually(both[1].ends)
    assert both[1].lines() == ["exec sh -c 'echo i''n; read x'"]
    assert b"After `exec`" not in both[0].screen


_ANY_PROMPT = "\x1b]133;B\x07"


@pytest.mark.parametrize("command", ["bash --norc", "bash --rcfile own.rc", "zsh -f"])
def test_a_shell_with_words_of_its_own_is_hooked_and_reads_what_those_say(command: str, tmp_path: Path) -> None:
    shell, *words = command.split()
    (tmp_path / "own.rc").write_text("READ=own\n")
    with opened(shell, tmp_path, words=words, rc="READ=theirs\n", prompt=_ANY_PROMPT) as both:
        expected = "own" if "own.rc" in words else ""
        both[0].run('echo "=$READ="', shown=f"={expected}=\r\n", prompt=_ANY_PROMPT)
        daemon = finish(both)
        assert command != "bash --norc" or b"bash-" in both[0].screen
    assert daemon.lines() == ['echo "=$READ="', "exit"]
    assert not [it.command_id for it in daemon.records() if it.command_id.endswith(":unverified")]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_secret_that_was_corrected_while_it_was_typed_is_reported_as_it_was_run(shell: str, tmp_path: Path) -> None:
    """Whole, so that the daemon knows it for one; its corrections would have hidden it."""
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    with opened(shell, tmp_path) as both:
        terminal = both[0]
        seen = len(terminal.screen)
        for keys in (f"echo {secret[:12]}x", "\x7f", secret[12:30] + secret[31:], "\x1b[D" * 9, secret[30]):
            terminal.type(keys)
        terminal.run("", shown=f"{secret}\r\n")
        terminal.until(b"prompt> ", after=seen)
        daemon = finish(both)
    assert daemon.lines()[0] == f"echo {secret}"
    output = daemon.output()
    assert output.count(secret.encode()) == 2, "the line and what it printed"
    assert f"{secret[:12]}x".encode() not in output
    assert secret[12:30].encode() not in output.replace(secret.encode(), b"")


@pytest.mark.parametrize("words", [["--norc"], ["--login", "--noprofile"]])
def test_a_bash_with_norc_does_not_read_the_systems_startup_files_either(words: list[str], tmp_path: Path) -> None:
    """Debian's build reads /etc/bash.bashrc beside any --rcfile; that one turns checkwinsize on or sets a prompt."""
    with opened("bash", tmp_path, words=words, prompt=_ANY_PROMPT, PROMPT_COMMAND="COUNT=x$COUNT") as both:
        both[0].run(
            "echo [$debian_chroot:$(type -t command_not_found_handle)]",
            shown="[:]\r\n",
            prompt=_ANY_PROMPT,
        )
        both[0].run("echo =$COUNT=${PROMPT_COMMAND[0]}=", shown="=xx=COUNT=x$COUNT=\r\n", prompt=_ANY_PROMPT)
        both[0].run("env | grep -c -e HOOK -e bash.sh", shown="0\r\n", prompt=_ANY_PROMPT)
        assert b"bash-" in both[0].screen
        daemon = finish(both)
    assert [it.exit_code for it in daemon.records()] == [0, 0, 1, 1]
    assert not [it.command_id for it in daemon.records() if it.command_id.endswith(":unverified")]


def test_what_a_private_fish_keeps_out_of_its_history_is_kept_out_of_ours(tmp_path: Path) -> None:
    with opened("fish", tmp_path, words=["--private"]) as both:
        both[0].run("echo hush-(math 40 + 2)", shown="hush-42")
        daemon = finish(both)
    assert daemon.lines() == []
    assert b"hush" not in daemon.output()


def test_the_systems_file_is_left_to_bash_which_reads_it_by_itself() -> None:
    """Read by the hook too it would be read twice: what it starts or appends to a variable would be there twice."""
    hook = (Path(launch.__file__).parent / "hooks" / "bash.sh").read_text()
    assert "/etc/bash" not in hook
    assert "__dragoman_files=(~/.bashrc)" in hook
