"""Completion scripts, tried in the shells they are for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import (
    completion,
    tool_client,  # noqa: F401  a Tab pays for it too, but its wait is what is timed
)
from dragoman.core.paths import Paths, find_paths
from dragoman.protocols.control import ServerConnection, Welcome
from tests.daemons import Cli, cli_with_home

BASH_PROBE = """
eval "$SCRIPT"
COMP_WORDS=($LINE "$PREFIX"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_dragoman
printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh completes on a terminal alone, so it gets one: the word begun must be there whole after a Tab.
ZSH_PROBE = """
zmodload zsh/zpty
zpty child 'exec zsh -f -i'
zpty -w child 'PS1= RPS1= ; fpath=($FOLDER $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w child "$LOAD; print READY\\!"
zpty -r child seen '*READY!*'
zpty -w -n child "$LINE"$'\\t'
zpty -r child seen "*$WHOLE*" && print -r -- "${seen: -99}"
zpty -d child
"""
FISH_PROBE = 'printf %s "$SCRIPT" | source; complete -C "$LINE $PREFIX" | cut -f1'
CASES = [
    ("dragoman", "comp", {"completions"}),
    ("dragoman config", "", {"get", "set", "list", "path"}),
    ("dragoman completions", "", {"bash", "zsh", "fish"}),
    ("dragoman wire decode", "", {"omnish", "dap", "luapanda", "gateway"}),
    ("dragoman wire encode omnish --schema", "", {"seed", "v25"}),
    ("dragoman config get", "journal_max_a", {"journal_max_age_days"}),
    ("dragoman config set redact", "", {"true", "false"}),
    ("dragoman client-config", "claude", {"claude-code", "claude-desktop"}),
    ("dragoman adapters install", "l", {"lldb", "lua"}),
    ("dragoman up --workspace", "/usr/incl", {"/usr/include"}),
]


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: script(shell) for shell in ("bash", "zsh", "fish")}


def script(shell: str) -> str:
    command = [sys.executable, "-m", "dragoman.cli.main", "completions", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts ask the program itself for names that it knows."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def shell(arguments: list[str], **variables: str) -> str:
    done = subprocess.run(
        arguments, capture_output=True, text=True, check=False, timeout=60, env=os.environ | variables
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("line", "prefix", "offered"), CASES)
def test_bash_offers_what_may_follow(scripts: dict[str, str], line: str, prefix: str, offered: set[str]) -> None:
    probe = ["bash", "--norc", "-c", BASH_PROBE]
    assert set(shell(probe, SCRIPT=scripts["bash"], LINE=line, PREFIX=prefix).split()) == offered


def test_bash_falls_back_to_the_names_of_files(scripts: dict[str, str]) -> None:
    result = shell(["bash", "--norc", "-c", 'eval "$SCRIPT"; complete -p dragoman'], SCRIPT=scripts["bash"])
    assert "-o default" in result


@pytest.mark.needs("fish")
@pytest.mark.parametrize(("line", "prefix", "offered"), CASES)
def test_fish_offers_what_may_follow(scripts: dict[str, str], line: str, prefix: str, offered: set[str]) -> None:
    probe = ["fish", "--no-config", "-c", FISH_PROBE]
    assert set(shell(probe, SCRIPT=scripts["fish"], LINE=line, PREFIX=prefix).replace("/\n", "\n").split()) >= offered


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(
    ("load", "line", "whole"),
    [
        ('eval "$SCRIPT"', "dragoman wire decode lua", "luapanda"),
        (":", "dragoman wire decode lua", "luapanda"),
        ('eval "$SCRIPT"', "dragoman config get journal_max_a", "journal_max_age_days"),
        ('eval "$SCRIPT"', "dragoman debug /usr/incl", "/usr/include"),
    ],
    ids=["read by source", "found in fpath", "a name that the program knows", "a file"],
)
def test_zsh_completes_from_the_first_tab(
    scripts: dict[str, str], load: str, line: str, whole: str, tmp_path: Path
) -> None:
    if load == ":":
        (tmp_path / "_dragoman").write_text(scripts["zsh"])
    probe = ["zsh", "-f", "-c", ZSH_PROBE]
    seen = shell(probe, SCRIPT=scripts["zsh"], LOAD=load, FOLDER=str(tmp_path), LINE=line, WHOLE=whole)
    assert whole in seen


# Ids, which the daemon knows.


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cli, str]]:
    """A daemon, and the id of the one terminal that it has on record."""
    place = tmp_path_factory.mktemp("c") / "recording"
    place.write_text('{"version": 2, "width": 80, "height": 24, "timestamp": 1700000000}\n[0.1, "o", "hello\\r\\n"]\n')
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        assert cli("up").returncode == 0
        assert cli("terminals", "import", str(place)).returncode == 0
        (only,) = cli.json("terminals", "--ended")["terminals"]
        yield cli, str(only["terminal"])


@pytest.mark.parametrize("line", ["dragoman replay", "dragoman terminals export"])
def test_bash_offers_the_ids_of_terminals(scripts: dict[str, str], recorded: tuple[Cli, str], line: str) -> None:
    cli, id = recorded
    probe = ["bash", "--norc", "-c", BASH_PROBE]
    text = shell(probe, SCRIPT=scripts["bash"], LINE=line, PREFIX=id[:2], DRAGOMAN_HOME=str(cli.home))
    assert text.split() == [id]


@pytest.mark.needs("fish")
def test_fish_offers_the_ids_of_terminals(scripts: dict[str, str], recorded: tuple[Cli, str]) -> None:
    cli, id = recorded
    probe = ["fish", "--no-config", "-c", FISH_PROBE]
    text = shell(probe, SCRIPT=scripts["fish"], LINE="dragoman replay", PREFIX=id[:2], DRAGOMAN_HOME=str(cli.home))
    assert text.split() == [id]


@pytest.mark.needs("zsh")
def test_zsh_completes_the_id_of_a_terminal(scripts: dict[str, str], recorded: tuple[Cli, str], tmp_path: Path) -> None:
    cli, id = recorded
    line = f"dragoman replay {id[:2]}"
    variables = {"LOAD": 'eval "$SCRIPT"', "FOLDER": str(tmp_path), "LINE": line, "WHOLE": id}
    assert id in shell(["zsh", "-f", "-c", ZSH_PROBE], SCRIPT=scripts["zsh"], DRAGOMAN_HOME=str(cli.home), **variables)


@contextmanager
def silent_daemon(paths: Paths, *, greets: bool) -> Iterator[None]:
    """One that says nothing at all, or nothing after its greeting."""
    paths.runtime.mkdir(mode=0o700, parents=True)
    connections: list[socket.socket] = []

    def serve() -> None:
        connection, _ = listener.accept()
        connections.append(connection)
        server = ServerConnection()
        while greets and server.hello is None:
            list(server.receive_data(connection.recv(1 << 16)))
        if greets:
            connection.sendall(server.send_welcome(Welcome(version="1", pid=1)))

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(paths.socket))
        listener.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            thread.join()
            for connection in connections:
                connection.close()


@pytest.mark.parametrize("greets", [False, True])
@pytest.mark.parametrize("offered", [completion.terminals, completion.debug_sessions])
def test_a_tab_does_not_wait_for_a_daemon_that_is_silent(offered: Callable[[Any], Any], greets: bool) -> None:
    with silent_daemon(find_paths(), greets=greets):
        began = time.monotonic()
        assert offered(None) == {}
        assert time.monotonic() - began < 2.5


def test_a_shell_that_has_no_script_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "dragoman.cli.main", "completions", "tcsh"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 2
