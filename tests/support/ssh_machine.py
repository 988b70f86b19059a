"""Another machine, as far as one machine can be two: a real sshd on a loopback port, with a home of its own there.

It runs as the user of the tests, with its own configuration, host key and authorized keys. What is installed on the far
side is this checkout. A folder for PATH holds an `ssh` that reads the configuration of this machine instead of a
person's own.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.daemons import Cli, eventually

SSHD = "/usr/sbin/sshd"
NAME = "build1"
PROXY = Path(__file__).with_name("link_proxy.py")
_BIN = Path(sys.executable).parent

_SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
AcceptEnv *
SetEnv {set_home}DRAGOMAN_HOME="{home}" DRAGOMAN_PORT=0
"""
_CLIENT = """
Include {folder}/links/*
Host stranger
  HostKeyAlias stranger
Host {name}* stranger
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  HashKnownHosts no
  HostKeyAlias {name}
  SendEnv *
Host nokey
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile /nonexistent
  IdentityAgent none
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  HostKeyAlias {name}
"""
# Read by the login shell: it prints, sets what only a login sets, and finds Dragoman.
_PROFILE = """
echo "Welcome to {name}"
export FROM_LOGIN=yes
export PATH="{bin}:$PATH"
cd "$HOME"
"""
_BARE_PROFILE = """
export PATH="{python}:/usr/bin:/bin"
export PIP_NO_INDEX=1
cd "$HOME"
"""


@dataclass(frozen=True)
class OtherUser:
    """A user of this machine, and a folder with a `dragoman` that this user can run."""

    name: str
    bin: Path


class OtherUserCli(Cli):
    """The command line of another user, started by root."""

    user: OtherUser

    def command(self, *arguments: str) -> list[str]:
        return ["runuser", "-u", self.user.name, "--", str(self.user.bin / "dragoman"), *arguments]


@dataclass(frozen=True)
class SshMachine:
    folder: Path
    port: int
    is_bare: bool = False
    """Whether it has Python, no Dragoman, and no index of packages. Its user's home then has a space in its name."""
    user: OtherUser | None = None

    @property
    def name(self) -> str:
        return f"ssh:{NAME}"

    @property
    def home(self) -> Path:
        """The DRAGOMAN_HOME there."""
        return self.folder / "h"

    @property
    def far(self) -> Path:
        """The home folder of the user there."""
        return self.folder / ("far home" if self.is_bare else "far")

    @property
    def project(self) -> Path:
        return self.far / "shop"

    @property
    def there(self) -> Cli:
        """The command line on the other machine itself."""
        variables = {"HOME": str(self.far), "DRAGOMAN_PORT": "0"}
        if self.user is None:
            return Cli(self.home, variables)
        cli = OtherUserCli(self.home, {**variables, "USER": self.user.name, "LOGNAME": self.user.name})
        cli.user = self.user
        return cli

    def link(self, name: str, *options: str) -> str:
        """The target that goes through `link_proxy.py` with these options, such as a delay or a control file."""
        command = shlex.join([sys.executable, "-S", "-E", str(PROXY), *options, "connect", "127.0.0.1", str(self.port)])
        (self.folder / "links" / name).write_text(f"Host {NAME}-{name}\n  ProxyCommand {command}\n")
        return f"{self.name}-{name}"

    def variables(self, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
        """For a near side whose `ssh` knows this machine."""
        return {"PATH": f"{self.folder / 'bin'}:{environment['PATH']}"}


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _make_key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=20)
    return path.with_suffix(".pub").read_text()


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as sock:
        return sock.recv(4) == b"SSH-"
    return False


@contextlib.contextmanager
def ssh_machine(folder: Path, user: OtherUser | None = None, *, is_bare: bool = False) -> Iterator[SshMachine]:
    """`folder` must be one that the other user can read, if there is one."""
    machine = SshMachine(folder, _free_port(), is_bare, user)
    for part in (machine.project, folder / "bin", folder / "links"):
        part.mkdir(parents=True)
    values = {
        "port": machine.port,
        "folder": folder,
        "far": machine.far,
        "home": machine.home,
        "name": NAME,
        "user": user.name if user else getpass.getuser(),
        "bin": user.bin if user else _BIN,
        "set_home": "" if user else f'HOME="{machine.far}" ',
        "python": Path(sys.base_prefix) / "bin",
    }
    host_key = _make_key(folder / "host_key")
    (folder / "authorized_keys").write_text(_make_key(folder / "key"))
    (folder / "known_hosts").write_text(f"{NAME} {host_key}")
    (folder / "sshd_config").write_text(_SERVER.format(**values))
    (folder / "ssh_config").write_text(_CLIENT.format(**values))
    (machine.far / ".profile").write_text((_BARE_PROFILE if is_bare else _PROFILE).format(**values))
    ssh = folder / "bin" / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config "$@"\n')
    ssh.chmod(0o755)
    if user:
        machine.home.mkdir()
        for place in (machine.home, machine.far, *machine.far.rglob("*")):
            shutil.chown(place, user.name, user.name)
    if os.getuid() == 0:  # where sshd separates its privileges
        Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stdout=log, stderr=log)
    try:
        eventually(lambda: _answers(machine.port))
        yield machine
    finally:
        machine.there.kill()
        server.terminate()
        server.wait(10)
