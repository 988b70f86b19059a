"""Real programs that ask for a password in a wrapped shell: what is typed there leaves for nobody."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from dragoman.io.net.streams import free_port
from tests.daemons import PATIENCE, eventually
from tests.e2e.terminal.fake_daemon import StandIn, stand_in
from tests.e2e.terminal.held_terminal import WRAPPER, Held, held, short_folder
from tests.e2e.terminal.panes import person

pytestmark = [pytest.mark.needs("bash"), pytest.mark.skipif(os.getuid() != 0, reason="only root becomes somebody else")]

TYPED = "kolibri-47-mango"
SSHD = "/usr/sbin/sshd"


@pytest.fixture
def daemon() -> Iterator[StandIn]:
    with short_folder() as folder, stand_in(folder / "omnish.sock") as listening:
        yield listening


@pytest.fixture
def bash(tmp_path: Path, daemon: StandIn) -> Iterator[Held]:
    own = {"PATH": os.environ["PATH"], "LANG": "C", "OMNISH_SOCKET": str(daemon.address), "DRAGOMAN_LANG": "en"}
    with held([*WRAPPER, "--", "bash"], {**own, "DRAGOMAN_HOME": str(tmp_path), **person(tmp_path)}) as terminal:
        terminal.until(b"prompt> ")
        yield terminal


def test_a_password_typed_to_su_sudo_or_ssh_is_not_reported(bash: Held, daemon: StandIn, tmp_path: Path) -> None:
    with _ssh_server(tmp_path) as ssh:
        asking = {
            "runuser -u nobody -- su root": "Password:",
            "runuser -u nobody -- sudo -k true": "assword",
            ssh: "'s password:",
        }
        for line, question in asking.items():
            if shutil.which(line.replace("runuser -u nobody -- ", "").partition(" ")[0]):
                _answer(bash, line, question.encode())
    bash.run("echo all asked", shown="all asked\r\n")
    eventually(lambda: "echo all asked" in daemon.lines())
    assert "runuser -u nobody -- su root" in daemon.lines()
    assert TYPED not in str(daemon.messages)


def test_a_line_that_the_terminal_shows_is_reported(bash: Held, daemon: StandIn) -> None:
    """The control of the other: where keys are echoed they are part of the record."""
    bash.run("read -r x", then=f"{TYPED}\r")
    eventually(lambda: TYPED.encode() in daemon.typed() and TYPED.encode() in daemon.output())


def _answer(bash: Held, line: str, question: bytes) -> None:
    """Some throw away what was typed before they are ready: then it is typed again, as a person would."""
    seen = len(bash.screen)
    bash.type(f"{line}\r")
    bash.until(b"\x1b]133;C", after=seen)
    began = bash.screen.index(b"\x1b]133;C", seen)
    bash.until(question, after=began)
    asked = bash.screen.index(question, began)

    def is_taken() -> bool:
        bash.type(f"{TYPED}\r")
        with suppress(AssertionError):
            bash.until(b"\n", after=asked, within_s=1 / PATIENCE)
        return b"\n" in bash.screen[asked:]

    eventually(is_taken)
    bash.type("\x03")
    bash.until(b"prompt> ", after=asked)


@contextmanager
def _ssh_server(folder: Path) -> Iterator[str]:
    """The command that is asked for a password by it; where there is no server, one that nobody has."""
    if not Path(SSHD).exists() or not Path("/run/sshd").is_dir():
        yield "ssh-is-not-here"
        return
    port, key = free_port(), folder / "host_key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    own = ["-o", "ListenAddress=127.0.0.1", "-o", "PasswordAuthentication=yes", "-h", str(key), "-p", str(port)]
    new = "-o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -o PubkeyAuthentication=no"
    with subprocess.Popen([SSHD, "-D", "-f", "/dev/null", *own]) as server:
        try:
            yield f"ssh {new} -o ConnectionAttempts=20 -p {port} nobody@127.0.0.1"
        finally:
            server.kill()
